"""Examples in the documents run in a folder of their own, so that the files they write do not stay."""

import pytest


@pytest.fixture(autouse=True)
def _run_examples_elsewhere(request, tmp_path, monkeypatch):
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)

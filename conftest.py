"""How the tests are run: examples of documents in a folder of their own, and what takes long first."""

from pathlib import Path

import pytest

LONG = Path(__file__).parent / "tests" / "long"
# Parts that share a browser, a served model or a cluster, which one process shall start once: it gets all of the part.
TOGETHER = ("tests/browser/", "tests/engine/")
# What takes long begins first, so that no process is left alone with it at the end. The rest stays in random order.
FIRST = (
    *TOGETHER, "tests/web/test_server.py", "tests/cli/test_process.py", "tests/docs/", "tests/statistical/",
    "tests/store/test_ingest_resume.py", "README.md", "tests/cli/", "tests/report/", "tests/mixed/", "tests/models/",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _run_examples_elsewhere(request, tmp_path, monkeypatch):
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)


def pytest_ignore_collect(collection_path, config):
    """Leave out what takes minutes, unless it is asked for by name: ``make test-long``."""
    return True if collection_path == LONG and not any("tests/long" in arg for arg in config.args) else None


def pytest_collection_modifyitems(items):
    """Put what takes long first."""
    items.sort(
        key=lambda item: next((at for at, begin in enumerate(FIRST) if item.nodeid.startswith(begin)), len(FIRST))
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hand out whole files, as ``--dist loadfile`` does, but for the parts that stay together, and in our order."""
    from xdist.scheduler import LoadFileScheduling

    if config.getoption("dist") != "loadfile":
        return None

    class ByPart(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return next((part for part in TOGETHER if nodeid.startswith(part)), super()._split_scope(nodeid))

    config.option.loadscopereorder = False  # by number of tests, which says little about time
    return ByPart(config, log)

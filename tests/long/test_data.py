"""An ingest killed before every change of the file system, and model files with every byte changed."""

import pytest

from tests.models.test_persistence import change_bytes, content, model
from tests.store.test_ingest_resume import inputs, kill_and_go_on, kill_at


def test_an_ingest_killed_before_any_change_goes_on_and_ends_with_the_same_store(inputs, tmp_path, kill_at):
    kill_and_go_on(inputs, tmp_path, kill_at, step=1)


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_a_file_with_any_byte_changed_is_refused_or_was_not_harmed(mask, content, model, path):
    change_bytes(range(len(content)), mask, content, model, path)

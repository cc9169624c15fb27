"""User weights between the passes of a fit, in files."""

import numpy as np
import pytest

from plurank import DataError
from plurank.mixed.users import WeightFiles


@pytest.fixture
def files(tmp_path):
    return WeightFiles(tmp_path / "fit")


def write(files, value):
    """Write a version of two groups; give its number."""
    files.folder.mkdir(exist_ok=True)
    version = files.new_version()
    for group in range(2):
        files.write("theta", group, version, np.full((3, 2), value + group))
    files.settle(version)
    return version


def test_every_version_is_read_as_it_was_written(files):
    first, second = write(files, 0.0), write(files, 10.0)
    assert files.read("theta", 1, first).tolist() == [[1.0, 1.0]] * 3
    assert files.read("theta", 0, second).tolist() == [[10.0, 10.0]] * 3
    assert not list(files.folder.rglob("*.part"))


def test_what_is_forgotten_is_gone_from_disk_unless_a_checkpoint_needs_it(files):
    first, second = write(files, 0.0), write(files, 1.0)
    files.keep(first)
    for version in (first, second):
        files.forget(version)
    assert files.read("theta", 0, first).sum() == 0.0
    with pytest.raises(DataError, match=r"is missing or damaged .*; the fit cannot go on\. Fit again\."):
        files.read("theta", 0, second)
    assert len(list(files.folder.iterdir())) == 1


def test_keeping_a_later_version_forgets_the_one_kept_before(files):
    first, second = write(files, 0.0), write(files, 1.0)
    for version in (first, second, second):
        files.keep(version)
    assert [files.read("theta", group, second)[0, 0] for group in range(2)] == [1.0, 2.0]
    assert len(list(files.folder.iterdir())) == 1


def test_a_folder_with_something_of_others_stays(files):
    write(files, 0.0)
    note = files.folder / "note.txt"
    note.write_text("mine")
    files.remove()
    assert [path.name for path in files.folder.iterdir()] == ["note.txt"]
    note.unlink()
    files.remove()
    assert not files.folder.exists()

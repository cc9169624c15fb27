"""Paths: what can be none is refused with a sentence, wherever one is taken."""

import os
from pathlib import Path

import numpy as np
import pytest

import plurank
from plurank import (
    Comparisons,
    DataError,
    ParameterError,
    SingleRanking,
)
from plurank.io import as_path


@pytest.mark.parametrize("wrong", [None, 5, b"votes.csv", ["votes.csv"], np.zeros(2)])
def test_what_is_no_path_is_refused(wrong):
    with pytest.raises(ParameterError, match="expected the path of a file, got"):
        as_path(wrong)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "half \ud800", "~nobody-of-this-name/votes.csv"])
def test_a_name_that_no_file_can_have_is_refused(name):
    with pytest.raises(DataError, match=r"cannot be a file \(.+\)\. Use another name\.") as error:
        as_path(name)
    assert len(str(error.value)) < 250
    str(error.value).encode()


def test_a_link_that_leads_to_itself_is_refused(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(DataError, match="Use another name"):
        as_path(loop)


def test_a_path_may_lead_to_nothing_yet_and_home_is_spelled_out():
    assert as_path("no/such/file.csv") == Path("no/such/file.csv")
    assert as_path("~/votes.csv") == Path(os.path.expanduser("~")) / "votes.csv"


@pytest.mark.parametrize("wrong", [None, "a\0b", "x" * 5000])
@pytest.mark.parametrize(
    "use",
    [
        plurank.load,
        plurank.open_store,
        plurank.read_comparisons,
        plurank.read_feedback,
        plurank.read_rankings,
        plurank.read_ratings,
        lambda path: plurank.ingest("votes.csv", path),
        lambda path: plurank.ingest([path], "store"),
        lambda path: plurank.save_figure(None, path),
        lambda path: SingleRanking().fit(Comparisons.from_arrays([1], ["a"], ["b"])).save(path),
    ],
)
def test_every_function_that_takes_a_path_refuses_what_is_none(use, wrong):
    with pytest.raises((ParameterError, DataError), match=r"the path of a (file|store)|cannot be a (file|store)"):
        use(wrong)

"""Intervals in more fits and of more people, and the demo with another seed."""

import json

import pytest

from tests.cli.conftest import run
from tests.statistical.test_mixed_ranking import check_intervals


@pytest.mark.parametrize("n_comparisons", [20, 150])
@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_intervals_of_ninety_percent_hold_the_truth_about_that_often_in_thirty_fits(mixing, n_comparisons):
    check_intervals(mixing, n_comparisons, n_fits=30, step=5)


@pytest.mark.parametrize("seed", [1, 2])
def test_demo_works_for_another_seed(run, seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert json.loads(run("demo", "--seed", seed, "--json").stdout)["ranking_error"] < 0.05

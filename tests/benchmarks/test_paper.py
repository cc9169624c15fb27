"""The paper's experiments: what they fill in, what they refuse, and when they fail."""

import sys

import numpy as np
import polars as pl
import pytest

import plurank
from benchmarks.movielens import read_ratings
from benchmarks.paper import figure3, figure4, figure5, table2


class FindsTwo:
    """Knows two rankings, whatever it is asked for."""

    def __init__(self, k):
        self.k = k

    def fit(self, _):
        if self.k > 2:
            raise plurank.NotIdentifiableError("two")
        self.rankings_ = np.array([[0, 1], [1, 0]])[: self.k]
        return self


def test_the_most_popular_ranking_stands_for_those_not_found(monkeypatch):
    monkeypatch.setitem(figure3.METHODS, "RP (the paper)", lambda k, _: FindsTwo(k))
    found = figure3.find("RP (the paper)", None, 0)
    assert found.tolist() == [[0, 1], [1, 0], *[[0, 1]] * 8]


def write_errors(folder, **errors):
    """Write results of Figure 3: 300 users for ours, 30,000 for the others."""
    names = {"rp": "RP", "printed": "RP as printed", "fjs": "FJS", "whitened": "whitened", "ours": "MixedRanking"}
    rows = [
        {"rankings": "movies", "method": names[key], "n_users": 300 if key == "ours" else 30_000, "error": error}
        for key, error in errors.items()
    ]
    (folder / "paper").mkdir()
    pl.DataFrame(rows).write_csv(folder / "paper/figure3.csv")


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ({"rp": 0.01, "printed": 0.3, "fjs": 0.3, "whitened": 0.03, "ours": 0.02}, None),
        ({"printed": 0.3, "fjs": 0.01, "whitened": 0.03, "ours": 0.02}, "FJS with 30,000 users"),
        ({"printed": 0.02, "fjs": 0.3, "whitened": 0.001, "ours": 0.02}, "RP as printed with 30,000 users"),
        ({"printed": 0.3, "fjs": 0.3, "whitened": 0.031, "ours": 0.02}, "whitened with 30,000 .* at most 0.03"),
        ({"rp": 0.016, "printed": 0.3, "fjs": 0.3, "ours": 0.02}, "RP with 30,000 users: expected at most 0.0150"),
        ({"rp": 0.012, "printed": 0.3, "fjs": 0.011, "ours": 0.001}, "RP with 30,000 users: expected at most 0.0110"),
    ],
)
def test_figure_3_fails_where_it_does_not_show_what_it_must(tmp_path, monkeypatch, errors, said):
    monkeypatch.setattr(figure3, "RESULTS", tmp_path)
    write_errors(tmp_path, **errors)
    if said is None:
        figure3.check_bounds()
    else:
        with pytest.raises(SystemExit, match=said):
            figure3.check_bounds()


def test_table_2_fails_where_stars_are_worse_than_they_have_to_be():
    row = {"row": "ours", "method": "MixedRanking", "trained_on": "top 100", "n_rankings": 10, "rmse": 0.838}
    table2.check_bounds([row])
    with pytest.raises(SystemExit, match=r"expected at most 0.838, got 0.839"):
        table2.check_bounds([{**row, "rmse": 0.839}])
    table2.check_bounds([{**row, "rmse": 0.839, "n_rankings": 15}])


@pytest.mark.parametrize("module", [figure4, figure5, table2])
def test_to_measure_data_are_asked_for_with_a_sentence(module, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmark"])
    with pytest.raises(SystemExit):
        module.main()
    assert "to measure, say --data FOLDER" in capsys.readouterr().err


def test_a_folder_without_ratings_is_named(tmp_path):
    with pytest.raises(SystemExit, match=r"has no train.csv.gz and no probe.csv.gz"):
        read_ratings(tmp_path)

"""plurank fetch."""

import json

import polars as pl
import pytest

from plurank import datasets
from tests.data.dataset_files import made_up_entries


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A folder where all made-up files are already."""
    folder = tmp_path / "cache"
    folder.mkdir()
    for name, entry in made_up_entries(folder).items():
        monkeypatch.setitem(datasets.ENTRIES, name, entry)
    return folder


def test_fetch_writes_comparisons(run, cache, tmp_path):
    result = run("fetch", "sushi-a", "--titles", "--folder", cache, "-o", tmp_path / "sushi.csv")
    assert "6 comparisons of 2 users and 3 items" in result.stdout
    assert pl.read_csv(tmp_path / "sushi.csv").row(0) == (0, "sushi2", "sushi0")


def test_fetch_without_a_name_lists_the_sets(run):
    text = run("fetch").stdout
    assert all(name in text for name in datasets.ENTRIES)
    assert [row["name"] for row in json.loads(run("fetch", "--json").stdout)] == list(datasets.ENTRIES)


def test_fetch_prints_json(run, cache, tmp_path):
    found = json.loads(run("fetch", "vtaiwan", "--folder", cache, "-o", tmp_path / "v.parquet", "--json").stdout)
    assert found["n_users"] == 2
    assert found["licence"] == "CC BY 4.0"


def test_fetch_needs_a_file_to_write_and_a_known_name(refuse, cache, tmp_path):
    assert "-o votes.parquet" in refuse("fetch", "sushi-a")
    assert "Expected one of" in refuse("fetch", "sushi", "-o", tmp_path / "x.csv")

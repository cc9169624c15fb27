"""Cases of the comparisons with packages that use covariates or features."""

import numpy as np
import polars as pl
import pytest

import plurank
from benchmarks import item_features
from benchmarks.covariates import VOTES, ask, limit
from benchmarks.peers.covariates.case import read_case, write_case
from benchmarks.peers.covariates.latent_classes import make_case


@pytest.fixture(scope="module")
def said():
    rng = np.random.default_rng(0)
    users, items = np.repeat(np.arange(30), 8), np.tile(np.arange(8), 30)
    return plurank.Ratings.from_arrays(users, items, rng.integers(1, 6, 240))


def pairs_of(comparisons):
    return sorted(zip(comparisons.user_of_each().tolist(), comparisons.winners, comparisons.losers, strict=True))


def test_a_case_tells_the_votes_that_were_asked_and_hides_the_answers(said, tmp_path):
    rng = np.random.default_rng(1)
    asked, test = ask(said, rng)
    people = pl.DataFrame({"user": np.arange(30), "age": np.arange(30) + 20})
    case, left = make_case(limit(said.to_comparisons(), 5, rng), asked, test, people, rng)
    write_case(tmp_path / "case", case)
    again = read_case(tmp_path / "case")
    for n in VOTES[1:]:
        told = again.asked.filter(pl.col("place") < n).select(pl.col("user").cast(int), "winner", "loser")
        assert sorted(told.rows()) == pairs_of(asked[n])
    assert again.train.group_by("user").len()["len"].max() == 5
    assert 0.3 < left.mean() < 0.7
    won = np.where(left, again.questions["left"], again.questions["right"])
    np.testing.assert_array_equal(won, test.winners)


def test_models_learn_nothing_of_items_held_out(said):
    votes = said.to_comparisons()
    held = np.isin(np.arange(8), [1, 5])
    made = item_features.make_fold(item_features.Source(votes, pl.DataFrame()), held, 0)
    inner, train, test = made.inner
    assert not (inner & held).any()
    assert held[np.stack([made.test.winners, made.test.losers])].any(axis=0).all()
    for part, unknown in ((made.train, held), (train, held | inner)):
        assert not unknown[np.stack([part.winners, part.losers])].any()
        assert len(item_features.keep_items(part, ~unknown).items) == 8 - unknown.sum()
    assert inner[np.stack([test.winners, test.losers])].any(axis=0).all()
    assert not held[np.stack([test.winners, test.losers])].any()

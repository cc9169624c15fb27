"""Whether several rankings rest on a handful of people."""

import numpy as np
import pytest

import plurank
from plurank.metrics.predictions import CHANCE, check_influence


def judges(seed, n_odd, n_judges=60, n_answers=40, n_items=20, n_camp=0):
    """Judges of one ranking, of whom the first few have it upside down, and a camp of others a ranking of its own."""
    rng = np.random.default_rng(seed)
    one, other = rng.standard_normal((2, n_items)) * 1.2
    users = np.repeat(np.arange(n_judges), n_answers)
    left = rng.integers(0, n_items, len(users))
    right = (left + rng.integers(1, n_items, len(users))) % n_items
    scores = np.tile(one, (n_judges, 1))
    scores[:n_odd] *= -1.0
    scores[n_odd : n_odd + n_camp] = other
    ahead = scores[users, left] - scores[users, right]
    wins = rng.random(len(users)) < 1.0 / (1.0 + np.exp(-ahead))
    return plurank.Comparisons.from_arrays(users, np.where(wins, left, right), np.where(wins, right, left))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_two_odd_judges_are_flagged(seed, mixing):
    model = plurank.MixedRanking(2, mixing=mixing, random_state=0).fit(judges(seed, 2))
    assert model.influence.flagged
    assert "60 people" in model.influence.sentence


@pytest.mark.parametrize("mixing", ["probability", "utility"])
@pytest.mark.parametrize("n_camp", [0, 20])
def test_neither_one_ranking_nor_a_camp_raises_an_alarm(mixing, n_camp):
    model = plurank.MixedRanking(2, mixing=mixing, random_state=0).fit(judges(0, 0, n_camp=n_camp))
    assert not model.influence.flagged
    assert "does not rest" in model.influence.sentence


def test_a_gain_of_everybody_is_not_flagged_and_that_of_two_is():
    counts, users = np.full(50, 20.0), np.arange(50)
    everybody = plurank.Influence.of(np.full(50, 2.0), counts, users)
    assert not everybody.flagged
    assert everybody.gain == pytest.approx(0.1)
    assert everybody.gain_error == pytest.approx(0.0, abs=1e-12)
    two = np.zeros(50)
    two[[3, 7]] = 20.0
    found = plurank.Influence.of(two, counts, users)
    assert found.flagged
    assert set(found.users) == {3, 7}
    assert found.gain_without == 0.0
    small = plurank.Influence.of(two / 10, counts, users)  # 0.1 per comparison may be chance
    assert not small.flagged


def test_people_whom_one_ranking_predicts_worse_than_guessing_are_flagged_where_nobody_is_like_them():
    counts, users, gains = np.full(50, 20.0), np.arange(50), np.zeros(50)
    losses = np.full(50, -5.0)
    losses[9] = np.log(50 / CHANCE) + 1.0
    found = plurank.Influence.of(gains, counts, users, losses)
    assert found.flagged
    assert found.users == (9,)
    assert "1 of 50 people answers against all others" in found.sentence
    losses[20] = 0.8 * losses[9]  # somebody is nearly as contrary: the end of a camp
    assert not plurank.Influence.of(gains, counts, users, losses).flagged


def test_few_people_are_not_judged():
    assert plurank.Influence.of(np.ones(9), np.ones(9), np.arange(9)) is None


def test_influence_survives_plain_values_and_files(tmp_path):
    model = plurank.MixedRanking(2, mixing="probability", random_state=0).fit(judges(0, 2))
    model.save(tmp_path / "model.plurank")
    assert plurank.load(tmp_path / "model.plurank").influence == model.influence
    good = model.influence.to_dict()
    check_influence(good)
    check_influence(None)
    absurd = (
        {"n_users": -5},
        {"gain": 1e308},
        {"gain": float("nan")},
        {"users": [None]},
        {"users": "ann"},
        {"gain": "much"},
    )
    for bad in ({}, 7, *({**good, **change} for change in absurd)):
        with pytest.raises(ValueError, match="influence"):
            check_influence(bad)


def test_a_selection_judges_the_gain_it_measured():
    found = plurank.select_rankings(judges(1, 0, n_camp=25), [1, 2], "probability", random_state=0)
    assert found.n_rankings == 2
    assert not found.influence.flagged
    alone = plurank.select_rankings(judges(1, 0), [1, 2], "probability", random_state=0)
    assert alone.influence is None

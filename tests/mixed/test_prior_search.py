"""Priors are chosen by what predicts comparisons held out inside the training data."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from plurank import Comparisons, simulate
from plurank.mixed import prior_search as choosing
from plurank.mixed.prior_search import (
    RANGES,
    STEP,
    USUAL_CONCENTRATION,
    USUAL_ERROR,
    Fits,
    _between,
    _gain,
    _is_worse,
    _move,
    _move_on_ridge,
    _place,
    _settle_on_ridge,
    _splits,
    choose_priors,
    rescale,
)
from plurank.mixed.priors import Priors, mean_of
from plurank.mixed.users import Users
from tests.oracles.small_data import draw_comparisons


@pytest.fixture(scope="module")
def strict_data():
    return simulate(60, 6, 2, 30, concentration=0.0, random_state=2, mean_weights=[0.5, 0.5]).comparisons


def choose(comparisons, priors, *free, mixing="probability"):
    return choose_priors(Users(comparisons), priors, mixing, free, rng=np.random.default_rng(0)).priors


def test_priors_that_are_not_free_stay(strict_data):
    priors = Priors.vague(2)
    assert choose(strict_data, priors) is priors
    moved = choose(strict_data, priors, "score_scale")
    assert moved.concentration == priors.concentration
    assert moved.score_scale != priors.score_scale
    moved = choose(strict_data, priors, "concentration")
    assert moved.score_scale == priors.score_scale


def test_where_nothing_is_free_nothing_is_tried(strict_data, rng):
    users = Users(strict_data)
    for n_rankings, rated in ((2, False), (1, True)):
        chosen = choose_priors(users, Priors.vague(n_rankings), "probability", (), rated=rated, rng=rng)
        assert chosen.quality is None
    assert choose_priors(users, Priors.vague(2), "probability", (), rated=True, rng=rng).quality is not None


def test_a_single_ranking_has_no_concentration_to_choose(strict_data):
    priors = Priors.vague(1)
    assert choose(strict_data, priors, "concentration") is priors
    assert choose(strict_data, priors, "concentration", "score_scale").concentration == priors.concentration


def test_too_little_data_give_the_priors_back(rng):
    priors = Priors.vague(2)
    found = choose(draw_comparisons(rng, n_users=4, most=3), priors, "concentration", "score_scale")
    assert found == replace(priors, mean=found.mean, concentration_error=USUAL_ERROR)


def test_strict_choices_of_users_with_one_ranking_each_ask_for_a_large_spread_and_a_small_concentration(strict_data):
    chosen = choose(strict_data, Priors.vague(2), "concentration", "score_scale")
    assert chosen.score_scale > 1.0
    assert chosen.concentration < 1.0


def test_priors_with_which_a_fit_from_nothing_predicts_worse_are_not_taken(strict_data, monkeypatch):
    good, bad = Priors.vague(2, 0.3, 3.0), Priors.vague(2, 300.0, 0.03)
    splits = _splits(strict_data, 2, "probability", False, np.random.default_rng(0))
    assert _is_worse(bad, Fits(splits, good, "probability"))
    assert not _is_worse(good, Fits(splits, bad, "probability"))
    assert not _is_worse(good, Fits(splits, good, "probability"))
    first = Priors.vague(2)
    assert choose(strict_data, first, "concentration", "score_scale") != first
    monkeypatch.setattr(choosing, "_is_worse", lambda *_: True)
    again = choose(strict_data, first, "concentration", "score_scale")
    assert (again.concentration, again.score_scale) == (first.concentration, first.score_scale)
    assert again.concentration_error == USUAL_ERROR


def test_no_priors_are_tried_twice_and_what_is_clear_is_tried_on_one_split(strict_data, monkeypatch):
    fitted = []

    def fit(split, priors, mixing, n_passes, memory=None):
        fitted.append((id(split.train), n_passes, priors.concentration, priors.score_scale))
        return real(split, priors, mixing, n_passes, memory)

    real = choosing._fit
    monkeypatch.setattr(choosing, "_fit", fit)
    splits = _splits(strict_data, 2, "probability", False, np.random.default_rng(0))
    first = Priors.vague(2, 0.3, 3.0)
    fits = Fits(splits, first, "probability")
    clearly_worse = replace(first, concentration=100.0, score_scale=0.1)
    gains = [fits.gain(clearly_worse, first) for _ in range(2)]
    assert gains[0] == gains[1]
    assert gains[0][0] < 0
    assert len(fitted) == 2, "both priors, on the first split alone"
    assert fits.gain(clearly_worse, first, from_all=True)[0] < 0
    assert len(set(fitted)) == len(fitted) == 2 * len(splits)


def test_rescaled_scores_keep_what_rankings_share_and_how_much_people_differ(rng):
    scores = rng.standard_normal((6, 3))
    rescaled = rescale(scores, 3.0, 15.0)
    np.testing.assert_allclose(rescaled.mean(axis=1), scores.mean(axis=1))
    # the variance of scores mixed with Dirichlet weights is that of an item's scores over the concentration plus 1
    np.testing.assert_allclose(rescaled.var(axis=1) / 16.0, scores.var(axis=1) / 4.0)


@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_the_priors_stay_within_their_ranges(strict_data, mixing):
    chosen = choose(strict_data, Priors.vague(2, 0.05, 30.0), "concentration", "score_scale", mixing=mixing)
    for name, (low, high) in RANGES.items():
        assert low <= getattr(chosen, name) <= high


def test_the_same_seed_chooses_the_same_priors(strict_data):
    once, again = (choose(strict_data, Priors.vague(2), "score_scale", mixing="utility") for _ in range(2))
    assert (once.score_scale, once.concentration) == (again.score_scale, again.concentration)


def test_progress_is_told_while_choosing(strict_data):
    told = []
    choose_priors(
        Users(strict_data),
        Priors.vague(2),
        "probability",
        ("score_scale",),
        rng=np.random.default_rng(0),
        on_progress=lambda stage, done: told.append((stage, done)),
    )
    assert told
    assert all(stage and 0 <= done <= 1 for stage, done in told)


def test_mean_weights_sum_to_one_and_leave_no_ranking_out():
    mean = mean_of(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]))
    assert mean.sum() == pytest.approx(1.0)
    assert (mean > 0).all()
    np.testing.assert_allclose(mean, [0.75, 0.25, 0.0], atol=1e-3)


@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_careful_rankings_are_worth_more_than_careless_ratings(mixing):
    rng = np.random.default_rng(0)
    taste = 2.0 * rng.standard_normal((2, 10))
    liking = taste[rng.integers(2, size=400)]
    worths = []
    for noise in (0.1, 4.0):
        seen = liking + noise * rng.standard_normal(liking.shape)
        users, items = (index.ravel() for index in np.indices(seen.shape))
        ranked = pl.DataFrame({"user": users, "item": items, "rank": (-seen).argsort().argsort().ravel() + 1})
        c = Comparisons.from_rankings(ranked)
        chosen = choose_priors(
            Users(c),
            Priors.vague(2),
            mixing,
            ("concentration", "score_scale"),
            rated=True,
            rng=np.random.default_rng(0),
        ).priors
        worths.append(chosen.rating_weight)
    assert worths[0] > worths[1]


@pytest.mark.parametrize(("n_users", "many", "moves"), [(20, 100_000, False), (400, 100_000, True), (20, 100, True)])
def test_priors_stay_where_few_ratings_tell_little_of_each_score(n_users, many, moves, monkeypatch):
    monkeypatch.setattr("plurank.mixed.prior_search.MANY_OBSERVATIONS", many)
    rng = np.random.default_rng(0)
    seen = 3.0 * rng.standard_normal((2, 10))[rng.integers(2, size=n_users)] + rng.standard_normal((n_users, 10))
    users, items = (index.ravel() for index in np.indices(seen.shape))
    c = Comparisons.from_ratings(pl.DataFrame({"user": users, "item": items, "rating": seen.ravel()}))
    priors = Priors.vague(2)
    found = choose_priors(Users(c), priors, "utility", ("score_scale",), rated=True, rng=np.random.default_rng(0))
    assert (found.priors.score_scale != priors.score_scale) == moves
    assert found.quality is not None, "what they predict is told all the same"


def test_comparisons_asked_one_by_one_have_no_worth_to_choose(strict_data):
    assert choose(strict_data, Priors.vague(2), "concentration", "score_scale").rating_weight == 1.0


@pytest.mark.parametrize(("top", "moved"), [(0.3, 0.3), (-0.45, -0.45), (0.0, 0.0), (0.9, 0.5), (-4.0, -0.5)])
def test_priors_move_to_the_top_of_the_parabola_through_their_neighbours_by_half_a_step_at_most(top, moved):
    priors = Priors.vague(2, concentration=1.0)
    gains = {_place(_move(priors, {"score_scale": 1.0}, sign)): top**2 - (sign - top) ** 2 for sign in (-1.0, 1.0)}
    found = _between(priors, gains)
    assert found.concentration == 1.0, "whose neighbours were not tried"
    assert found.score_scale == pytest.approx(STEP**moved)


def test_priors_stay_where_neighbours_do_not_bend_down():
    priors = Priors.vague(2, concentration=1.0)
    gains = {_place(_move(priors, {"score_scale": 1.0}, sign)): sign for sign in (-1.0, 1.0)}
    assert _between(priors, gains) is priors


def test_a_move_along_the_ridge_changes_the_concentration_by_twice_as_many_steps():
    priors = Priors.vague(2, concentration=1.0)
    for sign in (-1.0, 1.0):
        moved = _move(priors, {"concentration": 2.0, "score_scale": 1.0}, sign)
        assert moved.concentration == pytest.approx(10.0**sign)
        assert moved.score_scale == pytest.approx(10.0 ** (0.5 * sign))
    assert _move(priors, {"concentration": 7.0}, 1.0) is None


def test_the_gain_of_a_prior_has_the_error_that_drawing_people_again_has(rng):
    users, counts = rng.integers(40, size=500), rng.choice([0.5, 1.0, 2.0], 500)
    gains = 0.1 + rng.standard_normal(40)[users] + rng.standard_normal(500)
    mean, error = _gain(
        gains,
        [
            SimpleNamespace(counts=counts[:200], users=users[:200]),
            SimpleNamespace(counts=counts[200:], users=users[200:]),
        ],
    )
    sums, mass = np.bincount(users, counts * gains, 40), np.bincount(users, counts, 40)
    again = rng.integers(40, size=(4000, 40))
    drawn = sums[again].sum(axis=1) / mass[again].sum(axis=1)
    assert mean == pytest.approx(sums.sum() / mass.sum())
    # 4,000 draws: the deviation strays by 1 %, and is linear in what is drawn to a few per cent
    assert error == pytest.approx(drawn.std(), rel=0.1)


class FitsWithPeak:
    """Fits whose held-out log-likelihood is a parabola in the logarithm of the concentration."""

    def __init__(self, peak, curvature, n_held_out):
        self.peak, self.curvature, self.passes = peak, curvature, 6
        self.splits = [SimpleNamespace(counts=np.ones(n_held_out))]

    def begin_at(self, priors, moved):
        pass

    def gain(self, moved, priors, from_all):
        fall = [0.5 * self.curvature * np.log(p.concentration / self.peak) ** 2 for p in (moved, priors)]
        return fall[1] - fall[0], 0.0


@pytest.mark.parametrize(("peak", "curvature"), [(0.4, 0.02), (5.0, 0.1), (2.0, 0.001)])
def test_the_concentration_on_the_ridge_is_the_mode_of_its_posterior_with_that_standard_error(peak, curvature):
    first = Priors.vague(3, 2.5, 1.0)
    found = _settle_on_ridge(FitsWithPeak(peak, curvature, 1000), first, with_scale=True)
    precision = 1000 * curvature, USUAL_ERROR**-2
    mode = np.average(np.log([peak, 3 * USUAL_CONCENTRATION]), weights=precision)
    assert np.log(found.concentration) == pytest.approx(mode, abs=1e-6)
    assert found.concentration_error == pytest.approx(sum(precision) ** -0.5)
    # utilities vary between users as much as before
    spread = [p.score_scale**2 / (p.concentration + 1.0) for p in (first, found)]
    assert spread[0] == pytest.approx(spread[1])


def test_a_scale_that_is_given_stays_where_it_is_on_the_ridge():
    found = _settle_on_ridge(FitsWithPeak(1.0, 0.1, 1000), Priors.vague(3, 2.5, 0.7), with_scale=False)
    assert found.score_scale == 0.7
    assert found.concentration < 2.5


def test_the_ridge_ends_where_the_ranges_do():
    low, high = RANGES["concentration"]
    for peak, end in ((1e-9, low), (1e9, high)):
        found = _settle_on_ridge(FitsWithPeak(peak, 1.0, 1000), Priors.vague(3, 2.5, 1.0), with_scale=False)
        assert low <= found.concentration <= high
        assert found.concentration == pytest.approx(end, rel=0.8)
        assert found.concentration_error == USUAL_ERROR
    assert _move_on_ridge(Priors.vague(2, 1.0, 30.0), 100.0, with_scale=True) is None

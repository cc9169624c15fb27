"""MixedRanking on simulated people with a known truth: fixed seeds, and beside each bound why it holds."""

import numpy as np
import pytest

from plurank import (
    MixedRanking,
    TopicRanking,
    align,
    ranking_error,
    simulate,
)
from tests.oracles.simulated_scores import simulate_scores
from tests.oracles.small_data import flipped

EVEN = [0.4, 0.35, 0.25]


@pytest.mark.parametrize("component", ["bradley-terry", "mallows", "strict"])
def test_three_hundred_people_are_enough_for_three_rankings_of_thirty_items(component):
    # 30,000 comparisons show each of 435 pairs 69 times, 17 of them by the rarest ranking, without noise: only items
    # that lie next to each other there are mistaken, a third of its 29 such pairs at worst, 0.02 of all pairs.
    # Measured for these seeds: 0.
    for seed in range(2):
        s = simulate(300, 30, 3, 100, random_state=seed, mean_weights=EVEN)
        model = MixedRanking(
            3, component, mixing="probability", concentration=0.1, score_scale=1.0, random_state=0
        ).fit(s.comparisons)
        assert ranking_error(model.rankings_, s.rankings) <= 0.02
        assert model.converged_


def test_rankings_are_recovered_with_priors_chosen_on_held_out_comparisons():
    s = simulate(300, 30, 3, 100, random_state=1, mean_weights=EVEN)
    model = MixedRanking(3, mixing="probability", random_state=0).fit(s.comparisons)
    # measured: 0
    assert ranking_error(model.rankings_, s.rankings) <= 0.02
    # the simulation's weights have concentration 0.1, and are wide apart
    assert model.concentration_ < 3


def test_strict_rankings_recover_the_papers_model():
    s = simulate(300, 30, 3, 100, random_state=0, mean_weights=EVEN)
    model = MixedRanking(3, "strict", mixing="probability", concentration=0.1, score_scale=1.0, random_state=0).fit(
        s.comparisons
    )
    order = align(model.rankings_, s.rankings)
    assert ranking_error(model.rankings_, s.rankings) == 0
    # nobody flipped anything: half a comparison in 30,000 is the least the model allows
    assert model.flip_probability_ < 1e-3
    # two thirds of 100 comparisons tell one ranking from the others, and most people follow one ranking nearly alone,
    # with weights of 0 and 1 that stray by next to nothing: 0.05 is what evenly mixed people would stray by
    assert np.abs(model.user_weights_[:, order] - s.user_weights).mean() < 0.05


@pytest.mark.parametrize("rate", [0.05, 0.15])
def test_strict_rankings_find_the_planted_share_of_flips(rate):
    s = simulate(300, 15, 3, 100, random_state=0, mean_weights=EVEN)
    c = flipped(s.comparisons, rate, np.random.default_rng(0))
    model = MixedRanking(3, "strict", mixing="probability", concentration=0.1, score_scale=1.0, random_state=0).fit(c)
    assert ranking_error(model.rankings_, s.rankings) < 0.02
    # weights explain some flips: the estimate stays a little below
    assert 0.7 * rate < model.flip_probability_ < 1.1 * rate


@pytest.mark.parametrize("seed", range(3))
def test_scores_predict_noisy_choices_better_than_strict_rankings(seed):
    # near items are chosen nearly by chance and far ones nearly always, which one flip probability cannot say. A choice
    # costs 0.05 to 0.07 less (measured: 0.056, 0.073, 0.059), a hundred times what 3,600 test comparisons stray by
    # when two models are compared on the same ones.
    t = simulate_scores(300, 15, 3, 60, "probability", seed, score_scale=1.5, shared=0.5, concentration=0.5)
    train, test = t.comparisons.split(0.2, random_state=0)
    scored = MixedRanking(3, mixing="probability", concentration=0.5, score_scale=1.0, random_state=0).fit(train)
    assert scored.score(test) > TopicRanking(3, random_state=0).fit(train).score(test) + 0.02


@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_held_out_choices_are_predicted_almost_as_well_as_by_the_truth(mixing):
    t = simulate_scores(300, 12, 2, 80, mixing, 0, score_scale=1.5, shared=0.5, concentration=1.0)
    train, test = t.comparisons.split(0.2, random_state=0)
    model = MixedRanking(2, mixing=mixing, concentration=1.0, score_scale=1.5, random_state=0).fit(train)
    assert test.users.tolist() == list(range(300))
    truth = np.log(t.probabilities(test.user_of_each(), test.winners, test.losers)).mean()
    # 64 comparisons teach a user one free weight, and 19,200 teach 24 scores: (1 / 64 + 24 / 19,200) / 2 = 0.008
    assert model.score(test) > truth - 0.02


# how often 90 % intervals hold the truth


def covered(mixing, n_comparisons, seed, step):
    """Shares of true places of rankings, of true weights and of true places for every so many users within bounds."""
    t = simulate_scores(200, 10, 2, n_comparisons, mixing, seed)
    model = MixedRanking(2, mixing=mixing, concentration=1.0, score_scale=1.0, random_state=0).fit(t.comparisons)
    order = align(model.rankings_, t.rankings)
    places = np.argsort(t.rankings, axis=1) + 1
    boards = [holds(model.leaderboard(int(at) + 1).sort("item"), places[k]) for k, at in enumerate(order)]
    some = range(0, 200, step)
    weights = [holds(model.weight_intervals(u)[order.tolist()], t.user_weights[u], slack=1e-3) for u in some]
    own = np.argsort(np.argsort(-t.tastes(), axis=1), axis=1) + 1
    users = [holds(model.rank(u).sort("item"), own[u]) for u in some]
    return [np.mean(part) for part in (boards, weights, users)]


def holds(frame, truth, slack=0.0):
    return (frame["lower"].to_numpy() - slack <= truth) & (truth <= frame["upper"].to_numpy() + slack)


@pytest.mark.parametrize("n_comparisons", [20, 150])
@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_intervals_of_ninety_percent_hold_the_truth_about_that_often(mixing, n_comparisons):
    check_intervals(mixing, n_comparisons, n_fits=10, step=20)


def check_intervals(mixing, n_comparisons, n_fits, step):
    found = [covered(mixing, n_comparisons, seed, step) for seed in range(n_fits)]
    places, weights, users = np.mean(found, axis=0)
    # 10 fits, each right or wrong as a whole, stray by sqrt(0.9 * 0.1 / 10) = 0.09 at most: 0.75 is 1.6 of these below.
    # Measured, every fifth user (20 comparisons each, 150 each): by probability 0.956, 0.875, by utility 0.949, 0.858.
    assert 0.75 < weights < 0.99
    # places are whole numbers: an interval of one place that is right nearly always cannot get narrower, so there is no
    # upper bound. Measured: by probability 0.970, 0.995, by utility 0.945, 0.980; for users 0.97 to 0.99.
    assert places > 0.75
    assert users > 0.75

"""Rankings that few follow are found by those whom the others do not explain."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln

from plurank import ranking_error, simulate
from plurank.metrics.rankings import places_of
from plurank.mixed import init as start_module
from plurank.mixed import init as swap_module
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.init import (
    UNEXPLAINED_DEVIATIONS,
    find_unexplained,
    init_rankings,
    most_redundant,
    swap_rankings,
)
from plurank.mixed.init import (
    Refined as Trial,
)
from plurank.mixed.priors import Priors
from plurank.mixed.users import Users

PRIORS = Priors.vague(3, concentration=0.5, score_scale=3.0)


@pytest.fixture(scope="module")
def camps():
    """Two camps, and four people of a third."""
    mean = np.array([0.6, 0.39, 0.01])
    return simulate(400, 12, 3, 60, concentration=0.01, random_state=2, mean_weights=mean)


def scores_of(rankings):
    return 2.0 - 4.0 * places_of(rankings) / (rankings.shape[1] - 1)


def doubled(camps):
    """The first two rankings, the first of them twice."""
    return BradleyTerry(scores_of(camps.rankings[[0, 1, 0]]))


def weighed(camps, component):
    users = Users(camps.comparisons).begin(PRIORS.mean)
    users.update_memberships(component, PRIORS.counts, 20)
    users.accept()
    return users


@pytest.mark.parametrize("weight", [None, 2.0])
def test_unexplained_are_those_whose_comparisons_are_unlikely_beside_draws_of_their_own_model(camps, weight, rng):
    c = camps.comparisons
    c = c if weight is None else replace(c, weights=np.full(len(c), weight))
    component = doubled(camps)
    users = weighed(camps, component)
    users.comparisons = c
    rows = c.user_of_each()
    p = component.probabilities(users.weights, users.user_concentration, rows, c.winners, c.losers)
    drawn = rng.random((500, len(p))) < p
    counts = 1.0 if weight is None else weight
    logs = np.array([np.bincount(rows, counts * np.log(np.where(row, p, 1.0 - p))) for row in drawn])
    seen = np.bincount(rows, counts * np.log(p))
    far = (seen - logs.mean(axis=0)) / (logs.std(axis=0) / np.sqrt(counts))  # n that count twice are 2 n observations
    odd = find_unexplained(users.source, users.weights, users.user_concentration, component)
    clear = np.abs(far + UNEXPLAINED_DEVIATIONS) > 0.5  # draws have errors
    np.testing.assert_array_equal(odd[clear], far[clear] < -UNEXPLAINED_DEVIATIONS)
    np.testing.assert_array_equal(odd, camps.user_weights[:, 2] > 0.9)


def test_nobody_is_unexplained_by_the_true_rankings(camps):
    true = BradleyTerry(scores_of(camps.rankings))
    users = weighed(camps, true)
    assert not find_unexplained(users.source, users.weights, users.user_concentration, true).any()


def test_of_two_that_are_alike_the_less_followed_is_missed_least():
    scores = np.array([[2.0, 2.1, -2.0], [0.0, 0.0, 0.0], [-2.0, -2.1, 2.0]])
    assert most_redundant(scores, np.array([0.3, 0.6, 0.1])) == (0, 1)
    assert most_redundant(scores + np.array([5.0, 0.0, 0.0]), np.array([0.6, 0.3, 0.1])) == (
        1,
        0,
    )  # scores count from anywhere


def test_a_ranking_hardly_anybody_follows_is_missed_least_where_none_are_alike():
    scores = np.array([[2.0, 0.0, -2.0], [0.0, 2.0, 0.0], [-2.0, -2.0, 2.0]])
    assert most_redundant(scores, np.array([0.5, 0.499, 0.001]))[0] == 2


@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_a_ranking_that_is_there_twice_makes_room_for_one_that_is_missing(camps, mixing):
    begun = BradleyTerry(doubled(camps).scores, mixing)
    assert ranking_error(begun.rankings, camps.rankings) > 0.1
    found, mean = swap_rankings(camps.comparisons, begun, PRIORS.mean, PRIORS)
    assert ranking_error(found.rankings, camps.rankings) < 0.035  # the third from 240 comparisons: all is not to be had
    np.testing.assert_allclose(np.sort(mean), np.sort(camps.user_weights.mean(axis=0)), atol=0.03)


def test_rankings_that_explain_everybody_stay_as_they_are(camps):
    true = BradleyTerry(scores_of(camps.rankings))
    found, mean = swap_rankings(camps.comparisons, true, PRIORS.mean, PRIORS)
    assert found is true
    np.testing.assert_allclose(mean, camps.user_weights.mean(axis=0), atol=0.03)


def test_the_constant_of_the_dirichlet_is_that_of_laplace():
    counts = np.array([5.0, 20.0, 300.0])
    np.testing.assert_allclose(swap_module._log_gamma(counts) + 0.5 * np.log(2.0 * np.pi), gammaln(counts), rtol=0.01)


@pytest.mark.parametrize(("swapped", "is_kept"), [(-2.0, False), (-1.0, False), (-0.5, True)])
def test_a_swap_is_kept_only_where_the_posterior_is_higher(camps, swapped, is_kept, monkeypatch):
    refined = iter([0.0, swapped, -1.0])  # the odd users alone, with the swap, without it
    once = iter([np.arange(400) < 5, np.zeros(400, dtype=bool)])

    def refine(users, component, priors):
        users.update_memberships(component, priors.counts, 1)
        users.accept()
        return Trial(component, next(refined))

    monkeypatch.setattr(swap_module, "_refine_to_compare", refine)
    monkeypatch.setattr(swap_module, "find_unexplained", lambda *_: next(once))
    before = doubled(camps)
    component, _ = swap_rankings(camps.comparisons, before, PRIORS.mean, PRIORS)
    assert np.array_equal(component.scores, before.scores) != is_kept


def test_no_camp_is_given_up_for_somebody_who_follows_nothing(rng):
    camps = simulate(200, 12, 2, 60, concentration=0.01, random_state=3, mean_weights=[0.5, 0.5])
    c = camps.comparisons
    winners, losers = c.winners.copy(), c.losers.copy()
    tossed = slice(c.offsets[0], c.offsets[1])  # one person tosses coins
    flipped = rng.random(60) < 0.5
    winners[tossed], losers[tossed] = (
        np.where(flipped, losers[tossed], winners[tossed]),
        np.where(flipped, winners[tossed], losers[tossed]),
    )
    mixed_up = replace(c, winners=winners, losers=losers)
    priors = Priors.vague(2, concentration=0.5, score_scale=3.0)
    found, _ = swap_rankings(mixed_up, BradleyTerry(scores_of(camps.rankings)), priors.mean, priors)
    assert ranking_error(found.rankings, camps.rankings) < 0.02


def test_a_start_from_few_people_has_the_ranking_that_none_of_them_follow(camps, monkeypatch):
    monkeypatch.setattr(start_module, "INIT_SAMPLE", 2_000)
    monkeypatch.setattr("plurank.data.split.ENOUGH_USERS", 1)
    monkeypatch.setattr("plurank.data.split.ENOUGH_PER_SCORE", 1)
    begun = init_rankings(Users(camps.comparisons), 3, "probability", "best", PRIORS, rng=np.random.default_rng(5))
    assert ranking_error(begun.component.rankings, camps.rankings) < 0.05

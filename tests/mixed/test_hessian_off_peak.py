"""How sure scores are that nobody ever contradicts."""

import numpy as np
import pytest
from scipy.special import expit

from plurank import Comparisons, MixedRanking, simulate
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.priors import ScorePrior
from plurank.mixed.refine import hessian_off_peak
from plurank.mixed.users import Users

ONE = np.ones((1, 1))


def one_pair(lead, n, score_scale):
    """One person who always prefers item 0 to item 1, and scores with a lead; what is added for each item."""
    c = Comparisons.from_arrays([0] * n, [0] * n, [1] * n)
    component = BradleyTerry(np.array([[lead / 2], [-lead / 2]]))
    prior = ScorePrior(score_scale, score_scale)
    return hessian_off_peak(Users(c, ONE), component, ONE, prior)[:, 0, 0], prior


@pytest.mark.parametrize(("lead", "n", "score_scale"), [(6.0, 30, 10.0), (4.0, 20, 5.0)])
def test_it_is_near_the_mean_curvature_over_the_width_that_goes_with_it(lead, n, score_scale, rng):
    more, prior = one_pair(lead, n, score_scale)
    peak = n * expit(lead) * expit(-lead)
    error = float((more[0] + peak + 1.0 / (2.0 * score_scale**2)) ** -0.5)
    leads = lead + np.sqrt(2.0) * error * rng.standard_normal(200_000)
    assert more[0] == pytest.approx(more[1])
    # the logistic shrunk is near the logistic averaged, not equal to it, and the rounds end near the fixed point
    assert more[0] + peak == pytest.approx(n * (expit(leads) * expit(-leads)).mean(), rel=0.4)
    assert prior.errors(np.full((2, 1, 1), peak) + more[:, None, None])[0][0, 0] == pytest.approx(error)


def test_nothing_is_added_where_scores_are_known_well():
    assert (one_pair(1.0, 1000, 1.0)[0] == 0.0).all()


def test_places_that_nobody_contradicts_are_certain():
    people = simulate(200, 8, 2, 40, 1.0, 0, mean_weights=[0.5, 0.5])
    model = MixedRanking(2, mixing="probability", random_state=0).fit(people.comparisons)
    for k in (1, 2):
        board = model.leaderboard(k)
        assert (board["upper"] - board["lower"]).max() <= 1
        assert (board["upper"] - board["lower"]).mean() < 0.5


def test_places_that_hardly_anybody_spoke_of_stay_open():
    c = Comparisons.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [1, 2, 3, 1, 2, 3])
    board = MixedRanking(1, concentration=1.0, score_scale=10.0, random_state=0).fit(c).leaderboard()
    assert (board["upper"] > board["lower"]).all()

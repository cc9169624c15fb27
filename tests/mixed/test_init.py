"""Starts for the refinement: every way gives scores and weights, and the best of them is kept."""

from operator import itemgetter

import numpy as np
import pytest

from plurank import DataError, NotIdentifiableError, simulate
from plurank.mixed.init import WAYS, init_rankings, scores_of_weights
from plurank.mixed.priors import Priors
from plurank.mixed.users import Users
from tests.oracles.small_data import build

both_mixings = pytest.mark.parametrize("mixing", ["probability", "utility"])


@pytest.fixture(scope="module")
def simulated():
    return simulate(120, 8, 2, 25, random_state=3, mean_weights=[0.5, 0.5])


def log_posterior(c, init, priors):
    found = Users(c).begin(init.mean_weights).update_memberships(init.component, priors.counts, 50)
    return found.log_posterior + priors.scores.evaluate(init.component.scores)[0]


@both_mixings
def test_the_best_start_is_the_best_of_all_single_ways(mixing, simulated):
    c, priors = simulated.comparisons, Priors.vague(2)
    singles = []
    for n, name in enumerate(WAYS):
        rng = np.random.default_rng(7)
        rng.spawn(n)  # so that the way is given the generator that it has among the others
        init = init_rankings(Users(c), 2, mixing, name, priors, rng=rng)
        assert init.component.scores.shape == (8, 2)
        assert init.component.mixing == mixing
        assert init.mean_weights.sum() == pytest.approx(1.0)
        singles.append((log_posterior(c, init, priors), init))
    best = init_rankings(Users(c), 2, mixing, "best", priors, rng=np.random.default_rng(7))
    np.testing.assert_array_equal(best.component.scores, max(singles, key=itemgetter(0))[1].component.scores)


def test_the_same_seed_starts_the_same_way(simulated):
    once, again = (
        init_rankings(Users(simulated.comparisons), 2, "utility", "best", Priors.vague(2), rng=np.random.default_rng(1))
        for _ in range(2)
    )
    np.testing.assert_array_equal(once.component.scores, again.component.scores)
    np.testing.assert_array_equal(once.mean_weights, again.mean_weights)


def test_where_pairs_cannot_tell_rankings_apart_the_best_start_is_another(rng):
    lonely = build(np.arange(40), rng.integers(0, 2, 40), 2 + rng.integers(0, 2, 40), None, np.arange(4))
    with pytest.raises(DataError, match="no user has two or more comparisons"):
        init_rankings(Users(lonely), 2, "probability", "pairs", Priors.vague(2), rng=np.random.default_rng(0))
    init = init_rankings(Users(lonely), 2, "probability", "best", Priors.vague(2), rng=np.random.default_rng(0))
    assert np.isfinite(init.component.scores).all()


def test_a_single_ranking_has_a_start(simulated):
    init = init_rankings(
        Users(simulated.comparisons), 1, "probability", "best", Priors.vague(1), rng=np.random.default_rng(0)
    )
    np.testing.assert_allclose(init.mean_weights, 1.0)


@both_mixings
def test_scores_of_weights_favour_what_the_users_of_a_ranking_prefer(mixing, simulated):
    scores = scores_of_weights(simulated.comparisons, 0.9 * simulated.user_weights + 0.05, mixing)
    for k, ranking in enumerate(simulated.rankings):
        assert scores[ranking[0], k] > scores[ranking[-1], k]


def test_progress_is_told_for_every_way(simulated):
    told = []
    init_rankings(
        Users(simulated.comparisons),
        2,
        "probability",
        "best",
        Priors.vague(2),
        rng=np.random.default_rng(0),
        on_progress=lambda stage, done: told.append((stage, done)),
    )
    assert len(told) == 3
    assert all(stage and 0 <= done < 1 for stage, done in told)


def test_a_way_that_fails_is_left_out(monkeypatch, rng):
    users = Users(simulate(50, 5, 2, 20, random_state=0).comparisons)
    tried = []

    def follow(name, way):
        def find(*given):
            if name == "items":
                raise NotIdentifiableError("too few")
            tried.append(way(*given))
            return tried[-1]

        return find

    for name, way in list(WAYS.items()):
        monkeypatch.setitem(WAYS, name, follow(name, way))
    begun = init_rankings(users, 2, "probability", "best", Priors.vague(2), rng=rng)
    assert len(tried) == 2
    assert np.isfinite(begun.component.scores).all()

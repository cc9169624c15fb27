"""ClusteredRanking keeps the contract, never loses likelihood, and finds planted clusters."""

import numpy as np
import pytest
from scipy.special import expit

import plurank
from plurank import (
    Comparisons,
    align,
    ranking_error,
    simulate,
)
from plurank.baselines.clustered_ranking import ClusteredRanking, Clusters, Mixture
from plurank.baselines.single_ranking import SingleRanking
from tests.contracts.model_contract import ModelContract
from tests.oracles.small_data import draw_comparisons


class TestContract(ModelContract):
    bad_parameters = (
        *({"n_rankings": bad} for bad in (0, -1, 1.5, True, "3", None, np.nan)),
        *({"n_starts": bad} for bad in (0, 1.5, None)),
        *({"prior": bad} for bad in (0, -1, np.nan)),
        *({"max_iter": bad} for bad in (0, 2.5)),
        *({"tol": bad} for bad in (0, np.nan)),
        *({"random_state": bad} for bad in (-1, True)),
    )

    @classmethod
    def make(cls, n_rankings=3, **parameters):
        return ClusteredRanking(n_rankings, **parameters)

    def test_known_users_count_as_new_ones_and_a_seed_gives_the_same_score_twice(self, model, population):
        # the likelihood of a whole new user is a sum over clusters: any seed gives the same
        few = population.block(0, 20)
        new = Comparisons(few.winners, few.losers, few.offsets, few.items, np.arange(20))
        scores = [
            model.score(c, method="left-to-right", random_state=seed) for c, seed in ((few, 1), (new, 1), (new, 2))
        ]
        assert scores[0] == scores[1] == scores[2]


@pytest.fixture(scope="module")
def planted():
    """People of whom each follows one of three rankings alone."""
    return simulate(300, 12, 3, 40, concentration=0.0, random_state=2, mean_weights=[0.5, 0.3, 0.2])


def test_planted_clusters_are_found(planted):
    model = ClusteredRanking(3, random_state=0).fit(planted.comparisons)
    order = align(model.rankings_, planted.rankings)
    assert ranking_error(model.rankings_, planted.rankings) == 0
    # rankings of 12 items disagree on 33 of 66 pairs, give or take: of 40 comparisons 20 tell, so that all are sure
    np.testing.assert_array_equal(model.user_weights_[:, order].round(6), planted.user_weights)
    # shares are counted, with one imagined person in each of three clusters
    np.testing.assert_allclose(model.mean_weights_[order], (planted.user_weights.sum(axis=0) + 1) / 303, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_rankings", [1, 2, 5])
def test_the_log_posterior_never_falls(seed, n_rankings):
    c = draw_comparisons(np.random.default_rng(seed), n_users=40, n_items=6, weighted=seed % 2 == 1)
    model = ClusteredRanking(n_rankings, n_starts=1, random_state=seed, tol=1e-12, max_iter=2000).fit(c)
    assert len(model.log_posterior_) == model.n_iter_ > 2
    assert np.diff(model.log_posterior_).min() >= -1e-9
    assert model.converged_


@pytest.mark.parametrize("with_weights", [False, True])
def test_memberships_are_those_of_a_plain_loop(with_weights, rng):
    c = draw_comparisons(rng, n_users=20, n_items=5, weighted=with_weights)
    clusters = Clusters(rng.standard_normal((5, 3)), np.array([0.5, 0.3, 0.2]))
    members, _ = Mixture.of(c, 0.1).members_of(clusters)
    counts = np.ones(len(c)) if c.weights is None else c.weights
    for u in range(c.n_users):
        joint = clusters.shares.copy()
        for e in range(c.offsets[u], c.offsets[u + 1]):
            joint *= expit(clusters.scores[c.winners[e]] - clusters.scores[c.losers[e]]) ** counts[e]
        np.testing.assert_allclose(members[u], joint / joint.sum())


def test_a_known_users_comparison_is_a_mixture_over_memberships(planted):
    model = ClusteredRanking(3, random_state=0).fit(planted.comparisons)
    c = planted.comparisons
    each = expit(model.scores_[c.winners] - model.scores_[c.losers])
    expected = (model.user_weights_[c.user_of_each()] * each).sum(axis=1)
    np.testing.assert_allclose(model.predict_held_out(c)[0], expected)


def test_whole_new_users_are_as_likely_as_in_a_plain_sum_over_clusters(planted):
    model = ClusteredRanking(3, random_state=0).fit(planted.comparisons.block(0, 200))
    c, total = planted.comparisons.block(200, 300), 0.0
    for u in range(c.n_users):
        own = slice(c.offsets[u], c.offsets[u + 1])
        chances = expit(model.scores_[c.winners[own]] - model.scores_[c.losers[own]])
        total += np.log(model.mean_weights_ @ chances.prod(axis=0))
    assert model.score(c, method="left-to-right") == pytest.approx(total / len(c))


def test_one_cluster_is_one_ranking_for_all(planted):
    one = SingleRanking().fit(planted.comparisons)
    clustered = ClusteredRanking(1, tol=1e-12, random_state=0).fit(planted.comparisons)
    np.testing.assert_allclose(clustered.scores_, one.scores_, atol=1e-4)


def test_clusters_predict_clustered_people_better_than_one_ranking(planted):
    train, test = planted.comparisons.split(random_state=0)
    # a strict order decides each comparison: known whose, nothing is left to chance; measured: -0.001 and -0.552
    assert ClusteredRanking(3, random_state=0).fit(train).score(test) > -0.15
    assert SingleRanking().fit(train).score(test) < -0.4


def test_the_best_start_is_kept(planted):
    values = [
        ClusteredRanking(3, n_starts=n, random_state=0).fit(planted.comparisons).log_posterior_[-1] for n in (1, 4)
    ]
    assert values[1] >= values[0] - 1e-2


def test_stopping_early_is_a_warning(planted):
    with pytest.warns(
        plurank.ConvergenceWarning, match=r"after 2 iterations; the fit is kept\. Try a larger max_iter\."
    ):
        model = ClusteredRanking(3, max_iter=2, random_state=0).fit(planted.comparisons)
    assert not model.converged_

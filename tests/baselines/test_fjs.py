"""FJS keeps the contract, and is exact where the pooled preferences are."""

import numpy as np
import pytest

import plurank
from plurank import is_separable, ranking_error, simulate
from plurank.baselines import fjs
from plurank.baselines.fjs import (
    FJS,
    Marginals,
    find_masses,
    fit_sparsest,
    nearest,
    subset_sums,
)
from plurank.topic.orders import ranking_matrix
from tests.contracts.model_contract import ModelContract


class TestContract(ModelContract):
    """Nothing is random: ``make`` leaves random_state out."""

    bad_parameters = tuple({"n_rankings": bad} for bad in (0, -1, 1.5, True, "3", None, np.nan, 21))

    @classmethod
    def make(cls, n_rankings=3, random_state=None):
        return FJS(n_rankings)

    def test_parameters_can_be_read_and_set(self):
        # random_state is none of them
        model = self.make(2)
        assert model.set_params(n_rankings=5) is model
        assert model.get_params() == {"n_rankings": 5}
        with pytest.raises(ValueError, match="Invalid parameter"):
            model.set_params(no_such_parameter=1)


def draw_separable(rng, n_rankings, n_items):
    """Rankings of which each has a pair that it alone puts in this order."""
    while True:
        rankings = np.stack([rng.permutation(n_items) for _ in range(n_rankings)])
        if is_separable(rankings):
            return rankings


def exact_marginals(rankings, masses):
    lower, higher = (side.astype(np.int32) for side in np.triu_indices(rankings.shape[1], 1))
    values = ranking_matrix(rankings, lower, higher)[0::2] @ masses
    return Marginals(rankings.shape[1], lower, higher, values, np.full(len(lower), 1e-9))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("n_rankings", "n_items"), [(1, 4), (2, 5), (3, 8), (4, 10), (5, 12)])
def test_rankings_and_masses_are_recovered_from_exact_marginals(n_rankings, n_items, seed):
    rng = np.random.default_rng(seed)
    rankings = draw_separable(rng, n_rankings, n_items)
    # sums of masses drawn from a density are different with probability 1
    masses = rng.dirichlet(np.ones(n_rankings))
    found = fit_sparsest(exact_marginals(rankings, masses), n_rankings)
    assert ranking_error(found.rounded.rankings, rankings) == 0
    order = plurank.align(found.rounded.rankings, rankings)
    np.testing.assert_allclose(found.masses[order], masses, atol=1e-6)
    assert (found.rounded.n_intransitive == 0).all()
    assert found.is_stable


@pytest.mark.parametrize("asked", [3, 4, 7])
def test_more_rankings_than_exact_marginals_need_are_refused_with_the_number(asked):
    rankings = draw_separable(np.random.default_rng(0), 2, 6)
    with pytest.raises(
        plurank.NotIdentifiableError, match=rf"^{asked} rankings were asked for, but no more than 2 were"
    ):
        fit_sparsest(exact_marginals(rankings, np.array([0.3, 0.7])), asked)


def test_masses_are_found_smallest_first_and_the_largest_is_what_is_left():
    rankings = draw_separable(np.random.default_rng(1), 3, 8)
    marginals = exact_marginals(rankings, np.array([0.55, 0.15, 0.3]))
    np.testing.assert_allclose(find_masses(marginals, 3, 0.0), [0.15, 0.3, 0.55])
    np.testing.assert_allclose(find_masses(marginals, 2, 0.0), [0.15, 0.85])


def test_subset_sums_are_all_sums_in_order():
    masses = np.array([0.1, 0.25, 0.65])
    sums, sets = subset_sums(masses)
    assert len(sums) == 8
    assert (np.diff(sums) >= 0).all()
    np.testing.assert_allclose(((sets[:, None] >> np.arange(3)) & 1) @ masses, sums)


@pytest.mark.parametrize("n", [1, 2, 3, 50])
def test_the_nearest_sum_is_that_of_a_plain_search(n, rng):
    sums, values = np.sort(rng.random(n)), np.linspace(-0.2, 1.2, 101)
    found = nearest(sums, values)
    np.testing.assert_allclose(np.abs(sums[found] - values), np.abs(sums[:, None] - values).min(axis=0))


def test_many_people_are_enough_for_few_rankings():
    # 1,000,000 comparisons show each of 45 pairs 22,000 times: values stray by 0.003, sums of these masses are at least
    # 0.1 apart
    s = simulate(10_000, 10, 3, 100, random_state=0, mean_weights=[0.6, 0.3, 0.1])
    model = FJS(3).fit(s.comparisons)
    assert ranking_error(model.rankings_, s.rankings) == 0
    np.testing.assert_allclose(model.mean_weights_, s.user_weights.mean(axis=0), atol=0.01)
    # nobody flipped anything
    assert model.flip_probability_ < 1e-3


def test_masses_that_still_move_are_a_warning(monkeypatch):
    s = simulate(200, 12, 4, 50, random_state=0, mean_weights=[0.4, 0.3, 0.2, 0.1])
    monkeypatch.setattr(fjs, "MAX_ROUNDS", 1)
    with pytest.warns(plurank.ConvergenceWarning, match=r"after 1 iteration; the fit is kept"):
        assert not FJS(4).fit(s.comparisons).converged_


def test_too_many_rankings_for_all_their_sums_are_refused(easy):
    with pytest.raises(plurank.ParameterError, match=r"n_rankings must be at most 20, .*got 21\.$"):
        FJS(21).fit(easy.comparisons)

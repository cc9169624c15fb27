"""Strict and Mallows rankings: their laws, and how they learn from expected wins."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank.metrics.rankings import places_of
from plurank.mixed.components import Mallows, win_probability_by_gap
from plurank.topic.orders import PairCounts, Strict, win_probabilities, wins_by_lead
from tests.oracles.small_data import build, draw_comparisons


def every_pair(n_items):
    """Pair counts in which every ordered pair of items occurs."""
    first, second = (side.ravel() for side in np.indices((n_items, n_items)))
    differ = first != second
    return PairCounts.of(build(np.zeros(differ.sum(), int), first[differ], second[differ], None, np.arange(n_items)))


def expected_log_likelihood(component, pairs, wins):
    return float((wins * np.log(component.chances(pairs.winners, pairs.losers))).sum())


def mallows_by_enumeration(phi, n_items):
    """P(item 0 before item d), d = 1, ..., Q - 1, when the reference order is 0, ..., Q - 1, over all permutations."""
    ahead, total = np.zeros(n_items), 0.0
    for order in itertools.permutations(range(n_items)):
        n_swapped = sum(a > b for a, b in itertools.combinations(order, 2))
        total += phi**n_swapped
        for d in range(1, n_items):
            ahead[d] += phi**n_swapped * (order.index(0) < order.index(d))
    return ahead[1:] / total


@pytest.mark.parametrize("n_items", [4, 5])
@pytest.mark.parametrize("phi", [0.05, 0.4, 0.9])
def test_the_mallows_law_is_the_marginal_of_the_mallows_model(phi, n_items):
    law = win_probability_by_gap(phi, n_items)
    np.testing.assert_allclose(law[n_items:], mallows_by_enumeration(phi, n_items), atol=1e-10)
    np.testing.assert_allclose(law + law[::-1], 1.0, atol=1e-12)
    assert law[n_items - 1] == 0.5


@given(phi=st.floats(0.01, 0.99), n_items=st.integers(2, 40))
def test_the_mallows_law_is_the_difference_of_h_and_grows_with_the_lead(phi, n_items):
    n = np.arange(1, n_items + 1)
    h = n / (1.0 - phi**n)
    law = win_probability_by_gap(phi, n_items)
    np.testing.assert_allclose(law[n_items:], np.clip(np.diff(h), 0.5, 1 - 1e-9), atol=1e-9)
    assert (np.diff(law) >= -1e-12).all()


@pytest.mark.parametrize("phi", [1e-6, 1e-3, 0.5, 1 - 1e-6])
def test_the_mallows_law_lies_between_chance_and_certainty_for_many_items(phi):
    law = win_probability_by_gap(phi, 500)
    assert ((law[500:] >= 0.5) & (law[500:] < 1.0)).all()
    assert np.isfinite(np.log(law)).all()


def test_the_strict_law_depends_on_who_is_ahead_alone():
    win_probabilities_by_gap = Strict(np.array([[2, 0, 1], [0, 1, 2]]), 0.1).win_probabilities_by_gap()
    np.testing.assert_allclose(win_probabilities_by_gap, [[0.1, 0.1, 0.5, 0.9, 0.9]] * 2)


def draw_component(kind, n_items, n_rankings, rng):
    rankings = np.stack([rng.permutation(n_items) for _ in range(n_rankings)])
    return Strict(rankings, 0.2) if kind == "strict" else Mallows(rankings, rng.uniform(0.3, 0.9, n_rankings))


both_kinds = pytest.mark.parametrize("kind", ["strict", "mallows"])


def test_places_are_the_inverse_of_rankings(rng):
    rankings = np.stack([rng.permutation(6) for _ in range(3)])
    places = places_of(rankings)
    assert places.dtype == np.int32
    for k, a in np.ndindex(3, 6):
        assert places[rankings[k, a], k] == a


@both_kinds
def test_probabilities_follow_the_law_entry_by_entry(kind, rng):
    component = draw_component(kind, 5, 3, rng)
    pairs, win_probabilities_by_gap = every_pair(5), component.win_probabilities_by_gap()
    theta = rng.dirichlet(np.ones(3), 2)
    rows = np.arange(len(pairs.winners), dtype=np.int32) % 2
    by_ranking, mixed = (
        component.chances(pairs.winners, pairs.losers),
        component.probabilities(theta, np.ones(2), rows, pairs.winners, pairs.losers),
    )
    for w, (i, j) in enumerate(zip(pairs.winners, pairs.losers, strict=True)):
        orders = [order.tolist() for order in component.rankings]
        expected = [win_probabilities_by_gap[k, order.index(j) - order.index(i) + 4] for k, order in enumerate(orders)]
        np.testing.assert_allclose(by_ranking[w], expected)
        assert mixed[w] == pytest.approx(theta[rows[w]] @ expected)


@both_kinds
def test_mean_wins_equal_the_average_over_all_other_items(kind, rng):
    component = draw_component(kind, 6, 2, rng)
    pairs = every_pair(6)
    p = component.chances(pairs.winners, pairs.losers)
    expected = [[p[pairs.winners == i, k].mean() for k in range(2)] for i in range(6)]
    np.testing.assert_allclose(component.mean_wins(), expected, atol=1e-12)


@both_kinds
@given(seed=st.integers(0, 999), weighted=st.booleans())
def test_improving_never_lowers_the_expected_log_likelihood(kind, seed, weighted):
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng, n_items=6, weighted=weighted)
    pairs, component = PairCounts.of(c), draw_component(kind, 6, 2, rng)
    theta = rng.dirichlet(np.ones(2), c.n_users)
    wins = pairs.expected_wins(component.chances(pairs.winners, pairs.losers), theta, np.full(c.n_users, 20.0))
    better = component.improved(pairs, wins)
    assert expected_log_likelihood(better, pairs, wins) >= expected_log_likelihood(component, pairs, wins) - 1e-9
    assert (np.sort(better.rankings, axis=1) == np.arange(6)).all()


@both_kinds
@pytest.mark.parametrize("seed", range(3))
def test_the_search_finds_the_best_of_all_orders_from_nearby(kind, seed):
    rng = np.random.default_rng(seed)
    truth, pairs = draw_component(kind, 6, 1, rng), every_pair(6)
    games = rng.uniform(5.0, 15.0, len(pairs.lower)).repeat(2)
    wins = games[:, None] * truth.chances(pairs.winners, pairs.losers) + rng.uniform(0.0, 1.0, (len(games), 1))
    values = {
        order: expected_log_likelihood(type(truth)(np.array([order]), *own_numbers(truth)), pairs, wins)
        for order in itertools.permutations(range(6))
    }
    near = truth.rankings.copy()
    near[0, [1, 2]] = near[0, [2, 1]]
    near[0, [4, 5]] = near[0, [5, 4]]
    found = type(truth)(near, *own_numbers(truth)).better_orders(pairs, wins)
    assert tuple(found[0].tolist()) == max(values, key=values.get)


def own_numbers(component):
    return (component.flip,) if isinstance(component, Strict) else (component.dispersion,)


@pytest.mark.parametrize("phi", [0.1, 0.5, 0.85])
def test_the_dispersion_comes_back_from_exact_expected_wins(phi, rng):
    truth = Mallows(np.stack([rng.permutation(8), rng.permutation(8)]), np.array([phi, 0.3]))
    pairs = every_pair(8)
    found = Mallows(truth.rankings, np.array([0.6, 0.6])).improved(
        pairs, 10.0 * truth.chances(pairs.winners, pairs.losers)
    )
    np.testing.assert_array_equal(found.rankings, truth.rankings)
    np.testing.assert_allclose(found.dispersion, truth.dispersion, atol=1e-4)


def test_the_dispersion_of_many_items_in_a_strict_order_is_small_and_fits_in_silence():
    truth, pairs = Strict(np.arange(120)[None], 0.0), every_pair(120)
    found = Mallows(truth.rankings, np.array([0.5])).improved(pairs, truth.chances(pairs.winners, pairs.losers))
    assert found.dispersion[0] < 0.01


def test_the_flip_probability_is_the_share_against_the_orders_and_never_zero():
    pairs = every_pair(5)
    truth = Strict(np.arange(5)[None], 0.15)
    assert truth.improved(pairs, truth.chances(pairs.winners, pairs.losers)).flip == pytest.approx(0.15)
    certain = (pairs.winners < pairs.losers)[:, None].astype(float)
    found = truth.improved(pairs, certain)
    assert found.flip == pytest.approx(0.5 / 11.0)


def test_wins_by_lead_sum_what_has_the_same_lead(rng):
    component, pairs = draw_component("mallows", 5, 2, rng), every_pair(5)
    wins = rng.random((len(pairs.winners), 2))
    by_lead = wins_by_lead(component, pairs, wins)
    leads = component.leads(pairs.winners, pairs.losers)
    expected = [[wins[leads[:, k] == d, k].sum() for d in range(-4, 5)] for k in range(2)]
    np.testing.assert_allclose(by_lead, expected)


@both_kinds
def test_places_are_surer_with_more_comparisons(kind, rng):
    component, c = draw_component(kind, 5, 2, rng), draw_comparisons(rng, n_users=40)
    theta = rng.dirichlet(np.ones(2), c.n_users)
    many = type(c)(c.winners, c.losers, c.offsets, c.items, c.users, np.full(len(c), 20.0))
    pairs, user_concentration = PairCounts.of(c), np.full(c.n_users, 20.0)
    better = component.improved(
        pairs, pairs.expected_wins(component.chances(pairs.winners, pairs.losers), theta, user_concentration)
    )
    few, sure = (better.place_errors(PairCounts.of(x), theta, user_concentration) for x in (c, many))
    assert few.shape == (5, 2)
    assert ((few >= 0) & (few <= 4)).all()
    assert sure.mean() < few.mean()


def test_a_comparison_happens_as_rankings_say_or_is_flipped():
    np.testing.assert_allclose(win_probabilities(np.array([0.0, 0.25, 1.0]), 0.1), [0.1, 0.3, 0.9])

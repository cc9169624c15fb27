"""Which pair to ask next: gains against sums by hand, and the best pair found however many there are."""

import itertools

import numpy as np
import pytest
from scipy.special import expit

from plurank.inference import questions
from plurank.inference.likelihood import likelihood_of
from plurank.inference.posterior import Draws
from plurank.inference.questions import choose_questions, information_gain
from plurank.mixed.bradley_terry import BradleyTerry


def gain_by_hand(chances, shares):
    """Mutual information of the answer and the draw: sum of p(y, s) log2 p(y, s) / (p(y) p(s))."""
    total = 0.0
    for answer in (chances, 1.0 - chances):
        marginal = sum(s * a for s, a in zip(shares, answer, strict=True))
        total += sum(s * a * np.log2(a / marginal) for s, a in zip(shares, answer, strict=True) if a > 0)
    return total


def some_law(rng, n_items, mixing="probability", n_rankings=3):
    scores = 2.0 * rng.standard_normal((n_items, n_rankings))
    return likelihood_of(BradleyTerry(scores, mixing), np.ones(n_rankings)), scores


def some_draws(rng, n=200, n_rankings=3):
    return Draws(rng.dirichlet(np.ones(n_rankings), n), rng.dirichlet(np.full(n, 5.0)))


def test_the_gain_is_the_mutual_information_of_answer_and_weights(rng):
    chances, shares = rng.random((20, 7)), rng.dirichlet(np.ones(7))
    chances[0], chances[1, 0], chances[2, 0] = 0.3, 0.0, 1.0
    expected = [gain_by_hand(row, shares) for row in chances]
    np.testing.assert_allclose(information_gain(chances, shares), expected, atol=1e-12)
    assert information_gain(chances, shares)[0] == pytest.approx(0.0, abs=1e-12)


def test_the_rough_gain_is_the_gain_to_second_order_up_to_a_factor(rng):
    chances = np.linspace(0.1, 0.9, 9)[:, None] + 1e-3 * rng.standard_normal((9, 50))
    exact = information_gain(chances, np.full(50, 0.02))
    np.testing.assert_allclose(questions._rough_gain(chances), 2.0 * np.log(2.0) * exact, rtol=0.01)


def test_a_question_that_tells_two_equal_camps_apart_gains_one_bit():
    assert information_gain(np.array([[0.0, 1.0]]), np.array([0.5, 0.5])) == pytest.approx(1.0)


@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_the_first_of_the_questions_has_the_highest_gain_of_all_pairs(mixing, rng):
    law, scores = some_law(rng, 12, mixing)
    draws = some_draws(rng)
    found = choose_questions(law, draws, 12, 3, [])
    gains = {}
    for i, j in itertools.combinations(range(12), 2):
        lead = scores[i] - scores[j]
        chances = expit(draws.weights @ lead) if mixing == "utility" else draws.weights @ expit(lead)
        gains[i, j] = gain_by_hand(chances, draws.shares)
    best = sorted(gains, key=gains.get, reverse=True)[:3]
    pairs = [tuple(sorted(pair)) for pair in zip(found.left.tolist(), found.right.tolist(), strict=True)]
    assert pairs == best
    np.testing.assert_allclose(found.gain, [gains[pair] for pair in best], atol=1e-9)


def test_of_very_many_items_some_pairs_are_looked_at_and_none_twice(rng, monkeypatch):
    monkeypatch.setattr(questions, "MOST_CANDIDATES", 500)
    law, _ = some_law(rng, 300)
    found = choose_questions(law, some_draws(rng), 300, 100, [(0, 1)])
    pairs = {frozenset(pair) for pair in zip(found.left.tolist(), found.right.tolist(), strict=True)}
    assert len(pairs) == 100
    assert all(len(pair) == 2 for pair in pairs)


def test_neither_side_is_favoured():
    left, right = questions._sides(*np.triu_indices(60, 1), 60)
    assert 0.45 < (left < right).mean() < 0.55


def test_pairs_asked_are_left_out_in_either_order(rng):
    law, _ = some_law(rng, 5)
    asked = [(1, 0), (0, 2), (4, 3)]
    found = choose_questions(law, some_draws(rng), 5, 100, asked)
    pairs = {frozenset(pair) for pair in zip(found.left.tolist(), found.right.tolist(), strict=True)}
    assert len(pairs) == len(found.left) == 7
    assert not pairs & {frozenset(pair) for pair in asked}

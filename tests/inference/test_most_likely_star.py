import itertools

import numpy as np
import pytest

from plurank.inference.ordinal import level_likelihoods


def brute_force(star, rated, wins, coins, ties):
    """Log-likelihood of the comparisons that a star implies, one by one."""
    total = 0.0
    for level, win, coin in zip(rated, wins, coins, strict=True):
        if level != star:
            total += np.log(win if level < star else 1.0 - win)
        elif ties == "both":
            total += np.log(win) + np.log(1.0 - win)
        elif ties == "random":
            total += np.log(win if coin < 0.5 else 1.0 - win)
    return total


@pytest.mark.parametrize("ties", ["ignore", "both", "random"])
def test_every_star_has_the_likelihood_of_the_comparisons_it_implies(ties):
    rng = np.random.default_rng(0)
    rows, levels = np.repeat([0, 1, 3], [4, 7, 2]), rng.integers(5, size=13)
    wins, coins = rng.uniform(0.05, 0.95, 13), rng.random(13)
    found = level_likelihoods(rows, levels, wins, coins, 4, 5, ties)
    for row, star in itertools.product(range(4), range(5)):
        own = rows == row
        np.testing.assert_allclose(found[row, star], brute_force(star, levels[own], wins[own], coins[own], ties))


def test_the_papers_example_implies_the_comparisons_it_says():
    # movies A, B, C have 4, 2, 5 stars; D with 3 stars would lose to A and C and win against B
    wins = np.array([0.3, 0.6, 0.2])
    found = level_likelihoods(np.zeros(3, int), np.array([3, 1, 4]), wins, np.zeros(3), 1, 5, "ignore")
    np.testing.assert_allclose(found[0, 2], np.log(0.7 * 0.6 * 0.8))
    np.testing.assert_allclose(found[0, 0], np.log(0.7 * 0.4 * 0.8))


def test_impossible_comparisons_keep_the_likelihood_finite():
    found = level_likelihoods(np.zeros(2, int), np.array([0, 2]), np.array([0.0, 1.0]), np.zeros(2), 1, 3, "both")
    assert np.isfinite(found).all()

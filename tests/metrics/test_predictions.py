"""Scores of predicted probabilities."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank import ParameterError, accuracy, log_likelihood

chances = st.lists(st.floats(0.001, 1.0), min_size=1, max_size=20)


@given(p=chances)
def test_log_likelihood_is_the_mean_logarithm(p):
    assert log_likelihood(p) == pytest.approx(sum(math.log(x) for x in p) / len(p))


@given(p=chances)
def test_accuracy_counts_what_is_above_one_half(p):
    expected = sum(1.0 if x > 0.5 else 0.5 if x == 0.5 else 0.0 for x in p) / len(p)
    assert accuracy(p) == pytest.approx(expected)


@given(p=chances, seed=st.integers(0, 999))
def test_a_weight_of_two_counts_like_two_comparisons(p, seed):
    times = np.random.default_rng(seed).integers(1, 4, len(p))
    over = np.repeat(p, times)
    assert log_likelihood(p, times) == pytest.approx(log_likelihood(over))
    assert accuracy(p, times) == pytest.approx(accuracy(over))


def test_guessing_scores_minus_log_two_and_one_half():
    assert log_likelihood([0.5, 0.5]) == pytest.approx(-math.log(2))
    assert accuracy([0.5, 0.5]) == 0.5


def test_an_impossible_choice_has_likelihood_zero_and_no_warning():
    assert log_likelihood([0.0, 1.0]) == -math.inf


@pytest.mark.parametrize("bad", [[], [1.1], [-0.1], [math.nan], [[0.5]], 0.5])
def test_what_is_no_probability_is_refused(bad):
    for score in (log_likelihood, accuracy):
        with pytest.raises(ParameterError, match=r"between 0 and 1|finite numbers"):
            score(bad)

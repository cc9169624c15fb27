"""The prior of user weights by likelihood."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import digamma
from scipy.stats import beta, dirichlet

from plurank import (
    ParameterError,
    TopicRanking,
    kernels,
    simulate,
)
from plurank.kernels.plain.common import ones_if_empty
from plurank.topic import weights as prior_by_likelihood
from plurank.topic.moments import pair_moments
from plurank.topic.orders import Strict
from plurank.topic.weights import (
    COUNT_RANGE,
    best_counts,
    bound_of,
    expected_logs,
    fit_prior,
    fit_prior_by_likelihood,
)
from tests.oracles.small_data import draw_comparisons, flipped, repeated, weighted

MEAN = np.array([0.5, 0.3, 0.2])
seeds = st.integers(0, 2**32 - 1)


def fit(c, rankings, flip=0.001):
    """From the moments, as TopicRanking does."""
    mean, concentration = fit_prior(pair_moments(c, 0), rankings, flip)
    return fit_prior_by_likelihood(c, rankings, flip, concentration * mean)


def draw_case(seed, n_rankings, is_weighted=False):
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng, weighted=is_weighted)
    rankings = np.stack([rng.permutation(c.n_items) for _ in range(n_rankings)])
    return c, rankings, rng.gamma(1.0, 1.0, n_rankings) + 0.01


@settings(max_examples=15)  # slow where few comparisons leave the concentration open
@given(seed=seeds, n_rankings=st.integers(2, 4), is_weighted=st.booleans())
def test_the_bound_never_falls_and_rounds_end_where_it_stands_still(seed, n_rankings, is_weighted):
    c, rankings, init = draw_case(seed, n_rankings, is_weighted)
    history = fit_prior_by_likelihood(c, rankings, 0.1, init).history
    gains, enough = np.diff(history), prior_by_likelihood.PRIOR_TOLERANCE * c.total_weight
    assert (gains >= -1e-9 * np.abs(history[:-1])).all()
    assert (gains[:-1] >= enough).all()
    assert gains[-1] < enough or len(history) == prior_by_likelihood.PRIOR_ROUNDS


@settings(max_examples=8)  # quadrature is slow
@given(seed=seeds, is_weighted=st.booleans(), is_sure=st.booleans())
def test_the_bound_is_below_the_likelihood_and_meets_it_where_weights_are_known(seed, is_weighted, is_sure):
    c, rankings, prior = draw_case(seed, 2, is_weighted)
    prior *= 10_000.0 / prior.sum() if is_sure else 1.0
    p = Strict(rankings, 0.1).chances(c.winners, c.losers)
    counts = ones_if_empty(c.kernel_weights, len(c))
    init = np.tile(prior, (c.n_users, 1))
    found, values = kernels.infer_dirichlets(c.offsets, p, c.kernel_weights, prior, init, 500, 1e-10)
    exact = np.array([integral(p[a:b], counts[a:b], prior) for a, b in itertools.pairwise(c.offsets)])
    bounds = np.array([bound_of(prior, found[[u]], values[[u]]) for u in range(c.n_users)])
    assert (bounds <= exact + 1e-6).all()
    if is_sure:
        # what the bound leaves out is of the order of a user's comparisons, at most 32, squared, by the concentration
        np.testing.assert_allclose(bounds, exact, atol=0.1)


def integral(p, counts, prior):
    """Log-likelihood of one user's comparisons, likelihoods (n, 2), by quadrature over quantiles of the prior."""

    def likelihood(quantile):
        t = beta.ppf(quantile, *prior)
        return np.exp(counts @ np.log(p @ [t, 1.0 - t]))

    return np.log(quad(likelihood, 0.0, 1.0, epsabs=1e-12, limit=200)[0])


def test_the_counts_maximise_the_density_of_the_logarithms(rng):
    weights = rng.dirichlet([0.5, 2.0, 1.0], 200)
    found = best_counts(np.ones(3), np.log(weights).mean(axis=0))
    loss = minimize(lambda a: -dirichlet.logpdf(weights.T, np.exp(a)).sum(), np.zeros(3), tol=1e-10)
    np.testing.assert_allclose(found, np.exp(loss.x), rtol=1e-3)


def test_the_counts_stay_in_their_range():
    tiny = best_counts(np.ones(2), np.array([-1e9, -1e-9]))
    assert tiny[0] == COUNT_RANGE[0]
    alike = best_counts(np.ones(2), np.log([0.5, 0.5]))
    np.testing.assert_array_equal(alike, COUNT_RANGE[1])


def test_expected_logarithms_are_those_of_dirichlets(rng):
    drawn = np.log(rng.dirichlet([2.0, 3.0], 200_000))
    # logarithms with a standard deviation below 1, 200,000 of them: 0.002 a sigma
    np.testing.assert_allclose(expected_logs(np.array([[2.0, 3.0]]))[0], drawn.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(expected_logs(np.array([[2.0, 3.0]]))[0], digamma([2.0, 3.0]) - digamma(5.0))


@pytest.mark.parametrize("concentration", [0.1, 1.0])
def test_mean_weights_and_concentration_are_near_the_truth(concentration):
    s = simulate(2000, 8, 3, 200, concentration, random_state=0, mean_weights=MEAN)
    found = fit(s.comparisons, s.rankings)
    # a mean over 2,000 users of weights that vary by at most 0.5: 0.011 a sigma at worst
    np.testing.assert_allclose(found.mean, MEAN, atol=0.045)
    # the bound takes a user's tokens for independent, and so people for more decided than they are; the more, the less
    # the comparisons say
    assert found.concentration == pytest.approx(concentration, rel=0.25)


def test_known_flips_do_not_disturb_the_prior():
    s = simulate(2000, 8, 3, 200, 0.5, random_state=0, mean_weights=MEAN)
    c = flipped(s.comparisons, 0.1, np.random.default_rng(0))
    found = fit(c, s.rankings, 0.1)
    np.testing.assert_allclose(found.mean, MEAN, atol=0.045)
    # flips hide tokens, which makes the bound looser: measured 0.34
    assert found.concentration == pytest.approx(0.5, rel=0.5)


def test_weights_of_comparisons_count_like_repetitions(rng):
    s = simulate(60, 5, 2, 8, 1.0, random_state=0)
    times = rng.integers(1, 4, len(s.comparisons))
    once, over = (
        fit_prior_by_likelihood(c, s.rankings, 0.01, np.ones(2))
        for c in (weighted(s.comparisons, times), repeated(s.comparisons, times))
    )
    np.testing.assert_allclose(once.mean, over.mean, rtol=1e-6)
    assert once.concentration == pytest.approx(over.concentration, rel=1e-6)


def test_one_ranking_needs_no_fit():
    s = simulate(20, 5, 1, 8, random_state=0)
    found = fit_prior_by_likelihood(s.comparisons, s.rankings, 0.01, np.full(1, 7.0))
    assert (found.mean.tolist(), found.concentration, found.history) == ([1.0], 7.0, [])


def test_of_many_comparisons_those_of_some_users_are_looked_at(monkeypatch):
    s = simulate(400, 6, 2, 30, 0.5, random_state=0)
    monkeypatch.setattr(prior_by_likelihood, "MOST_CELLS", 2 * len(s.comparisons) // 3)
    every_fourth = s.comparisons.select(s.comparisons.user_of_each() % 4 == 0)
    some = fit_prior_by_likelihood(s.comparisons, s.rankings, 0.01, np.ones(2))
    monkeypatch.undo()
    assert some.history == fit_prior_by_likelihood(every_fourth, s.rankings, 0.01, np.ones(2)).history


@pytest.mark.parametrize("bad", ["", "bound", None, 1])
def test_unknown_ways_to_fit_the_prior_are_refused(bad, easy):
    with pytest.raises(ParameterError, match=r"prior must be 'moments' or 'likelihood', got .*\.$"):
        TopicRanking(3, prior=bad).fit(easy.comparisons)


def test_topic_rankings_take_the_prior_by_likelihood_when_asked(easy):
    model = TopicRanking(3, prior="likelihood", random_state=0).fit(easy.comparisons)
    usual = TopicRanking(3, random_state=0).fit(easy.comparisons)
    np.testing.assert_array_equal(model.rankings_, usual.rankings_)
    assert model.concentration_ != usual.concentration_
    likely = fit_prior_by_likelihood(
        easy.comparisons, model.rankings_, model.flip_probability_, model.concentration_ * model.mean_weights_
    )
    # the flip probability was fitted once more after the prior
    assert likely.concentration == pytest.approx(model.concentration_, rel=0.05)


def test_the_inverse_of_digamma_is_one():
    y = np.concatenate([-np.geomspace(1e4, 1e-3, 60), np.geomspace(1e-3, 12.0, 60)])
    np.testing.assert_allclose(digamma(prior_by_likelihood._inverse_digamma(y)), y, rtol=1e-8, atol=1e-8)

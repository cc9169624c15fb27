"""How likely whole new users are, against sums over all tokens and integrals over all weights."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp
from scipy.stats import beta

from plurank import Comparisons, DataError, kernels
from plurank.inference import likelihood as held_out
from plurank.inference import likelihood as laws
from plurank.inference.likelihood import likelihood_of, mean_log_likelihood, user_seeds
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.components import Mallows
from plurank.topic.orders import Strict
from tests.oracles.simulated_scores import sigmoid
from tests.oracles.small_data import build, draw_comparisons, reordered, repeated, weighted

N_SEEDS = 40
RANKINGS = np.array([[0, 1, 2, 3, 4], [4, 2, 0, 1, 3], [1, 3, 4, 2, 0]])


def sum_over_tokens(p, prior):
    """Log-likelihood of comparisons with likelihoods (n, K): all K^n tokens, each with its Dirichlet-multinomial."""
    n, n_rankings = p.shape
    terms = []
    for tokens in itertools.product(range(n_rankings), repeat=n):
        counts = np.bincount(tokens, minlength=n_rankings)
        chance = (gammaln(prior + counts) - gammaln(prior)).sum() + gammaln(prior.sum()) - gammaln(prior.sum() + n)
        terms.append(chance + np.log(p[np.arange(n), list(tokens)]).sum())
    return logsumexp(terms)


def integral_over_weights(log_likelihood, prior):
    """Log of the mean likelihood over two weights; in quantiles of the prior, whose density is infinite at its ends."""
    return np.log(quad(lambda q: np.exp(log_likelihood(beta.ppf(q, *prior))), 0.0, 1.0, epsabs=1e-12, limit=200)[0])


def estimates(law, c, n_particles):
    """Of every user, for many seeds, (N_SEEDS, M)."""
    return np.stack([law.log_likelihoods(c, user_seeds(c, seed), n_particles) for seed in range(N_SEEDS)])


def assert_close(found, exact):
    """The mean over seeds is within four of its standard errors, and of the shortfall that logarithms of noise have."""
    error, shortfall = found.std(axis=0) / np.sqrt(N_SEEDS), found.var(axis=0)
    # E log(1 + x) is about -var / 2; a whole variance leaves room for skewness
    assert (np.abs(found.mean(axis=0) - exact) < 4.0 * error + shortfall + 1e-12).all()
    # and the noise is small enough for that to say something
    assert error.max() < 0.1


@pytest.fixture
def c():
    return draw_comparisons(np.random.default_rng(3), n_users=8, n_items=5, most=6)


@pytest.mark.parametrize("concentration", [0.2, 1.0, 10.0])
@pytest.mark.parametrize("most_redrawn", [0, 2, 100])
def test_particles_find_the_sum_over_all_tokens_however_few_tokens_are_drawn_again(
    c, concentration, most_redrawn, monkeypatch
):
    monkeypatch.setattr(laws, "MOST_REDRAWN", most_redrawn)
    prior = concentration * np.array([0.5, 0.3, 0.2])
    p = Strict(RANKINGS, 0.1).chances(c.winners, c.losers)
    exact = [sum_over_tokens(p[a:b], prior) for a, b in itertools.pairwise(c.offsets)]
    assert_close(estimates(likelihood_of(Strict(RANKINGS, 0.1), prior), c, 100), exact)


def test_the_mean_likelihood_over_seeds_is_right_also_for_few_particles(c):
    # the likelihood, unlike its logarithm, is estimated without any shortfall
    prior = np.array([0.5, 0.3, 0.2])
    p = Strict(RANKINGS, 0.1).chances(c.winners, c.losers)
    exact = np.array([sum_over_tokens(p[a:b], prior) for a, b in itertools.pairwise(c.offsets)])
    law = likelihood_of(Strict(RANKINGS, 0.1), prior)
    ratios = np.exp([law.log_likelihoods(c, user_seeds(c, seed), 3) - exact for seed in range(2000)])
    assert (np.abs(ratios.mean(axis=0) - 1.0) < 4.0 * ratios.std(axis=0) / np.sqrt(2000) + 1e-9).all()


def test_one_ranking_leaves_nothing_to_chance(c):
    p = Strict(RANKINGS[:1], 0.1).chances(c.winners, c.losers)[:, 0]
    exact = np.add.reduceat(np.log(p), c.offsets[:-1])
    np.testing.assert_allclose(
        estimates(likelihood_of(Strict(RANKINGS[:1], 0.1), np.ones(1)), c, 2), np.tile(exact, (40, 1))
    )


def test_one_comparison_leaves_nothing_to_chance():
    c = build([0], [1], [0], None, np.arange(5))
    prior = np.array([1.0, 0.5, 0.5])
    found = estimates(likelihood_of(Strict(RANKINGS, 0.1), prior), c, 3)
    np.testing.assert_allclose(found, np.log(0.1 * 0.5 + 0.9 * 0.25 + 0.1 * 0.25))  # the last two disagree


def test_a_user_who_said_nothing_is_certain():
    c = Comparisons(*(np.empty(0, np.int32),) * 2, np.zeros(2, np.int64), np.arange(5), np.arange(1))
    blended = BradleyTerry(np.zeros((5, 2)), "utility")
    for law in (likelihood_of(Strict(RANKINGS, 0.1), np.ones(3)), likelihood_of(blended, np.ones(2))):
        assert law.log_likelihoods(c, user_seeds(c, 0), 5).tolist() == [0.0]


def test_the_chances_of_a_comparison_are_those_of_the_component(c):
    scores = np.random.default_rng(0).standard_normal((5, 2))
    p = BradleyTerry(scores).chances(c.winners, c.losers)
    np.testing.assert_allclose(p, sigmoid(scores[c.winners] - scores[c.losers]))
    users = np.zeros(len(c), np.int32)
    for component in (Strict(RANKINGS, 0.2), Mallows(RANKINGS, np.array([0.3, 0.6, 0.9])), BradleyTerry(scores)):
        n_rankings = len(component.rankings)
        p = component.chances(c.winners, c.losers)
        for k, alone in enumerate(np.eye(n_rankings)):
            mixed = component.probabilities(alone[None], np.full(1, np.inf), users, c.winners, c.losers)
            np.testing.assert_allclose(p[:, k], mixed)


@pytest.mark.parametrize("prior", [(0.3, 0.2), (2.0, 3.0)])
def test_blended_scores_are_integrated_as_numerical_quadrature_does(c, prior):
    scores = 2.0 * np.random.default_rng(1).standard_normal((5, 2))
    leads = scores[c.winners] - scores[c.losers]

    def exact(a, b):
        return integral_over_weights(lambda t: -np.logaddexp(0, -leads[a:b] @ [t, 1 - t]).sum(), prior)

    found = estimates(likelihood_of(BradleyTerry(scores, "utility"), np.array(prior)), c, 50)
    assert_close(found, [exact(a, b) for a, b in itertools.pairwise(c.offsets)])


@pytest.mark.parametrize("prior", [(0.3, 0.2), (2.0, 3.0)])
def test_fractional_weights_are_powers_of_the_likelihood(prior):
    c = draw_comparisons(np.random.default_rng(3), n_users=8, n_items=5, weighted=True)
    component = Strict(RANKINGS[:2], 0.1)
    p = component.chances(c.winners, c.losers)

    def exact(a, b):
        return integral_over_weights(lambda t: c.weights[a:b] @ np.log(p[a:b] @ [t, 1 - t]), prior)

    found = estimates(likelihood_of(component, np.array(prior)), c, 50)
    assert_close(found, [exact(a, b) for a, b in itertools.pairwise(c.offsets)])


def test_particles_and_integrals_say_the_same_about_long_users(monkeypatch):
    c = draw_comparisons(np.random.default_rng(3), n_users=6, n_items=5, most=60)
    law = likelihood_of(Strict(RANKINGS, 0.1), np.array([0.5, 0.3, 0.2]))
    by_particles = estimates(law, c, 100)
    monkeypatch.setattr(laws, "MOST_TOKENS", 0)  # users with more are integrated
    by_integral = estimates(law, c, 100)
    noise = np.sqrt((by_particles.var(axis=0) + by_integral.var(axis=0)) / N_SEEDS)
    shortfall = by_particles.var(axis=0) + by_integral.var(axis=0)
    assert (by_particles != by_integral)[:, 1:].any()
    assert (np.abs((by_particles - by_integral).mean(axis=0)) < 4.0 * noise + shortfall + 1e-12).all()


@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_nothing_depends_on_the_order_of_users_or_on_blocks(mixing, monkeypatch, rng):
    c = draw_comparisons(rng, n_users=30)
    law = likelihood_of(BradleyTerry(rng.standard_normal((5, 3)), mixing), np.ones(3))
    whole = held_out._log_likelihoods(law, c, 5, 0)
    order = rng.permutation(30)
    np.testing.assert_allclose(held_out._log_likelihoods(law, reordered(c, order), 5, 0), whole[order], rtol=1e-12)
    monkeypatch.setattr(held_out, "BLOCK_CELLS", 60)
    assert len(list(held_out._blocks(c, 20))) > 5
    np.testing.assert_allclose(held_out._log_likelihoods(law, c, 5, 0), whole, rtol=1e-12)


@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_weight_two_is_the_row_twice(mixing, c, rng):
    times = rng.integers(1, 4, len(c))
    law = likelihood_of(BradleyTerry(rng.standard_normal((5, 3)), mixing), np.ones(3))
    once, over = (held_out._log_likelihoods(law, d, 5, 0) for d in (weighted(c, times), repeated(c, times)))
    np.testing.assert_allclose(once, over, rtol=1e-9)
    one = mean_log_likelihood([law], weighted(c, times), 5, np.random.default_rng(0))
    assert one == pytest.approx(mean_log_likelihood([law], repeated(c, times), 5, np.random.default_rng(0)))


def test_users_with_and_without_fractional_weights_may_come_together(c):
    weights = np.where(c.user_of_each() % 2, 0.5, 2.0)
    law = likelihood_of(Strict(RANKINGS, 0.1), np.ones(3))
    mixed = held_out._log_likelihoods(law, weighted(c, weights), 5, 0)
    whole = held_out._log_likelihoods(law, weighted(c, np.full(len(c), 2.0)), 5, 0)
    half = held_out._log_likelihoods(law, weighted(c, np.full(len(c), 0.5)), 5, 0)
    np.testing.assert_allclose(mixed, np.where(np.arange(c.n_users) % 2, half, whole))


def test_a_ranking_that_nobody_follows_does_no_harm(c):
    for weights in (None, np.full(len(c), 0.5)):
        said = replace(c, weights=weights)
        with_it = estimates(likelihood_of(Strict(RANKINGS, 0.1), np.array([1.0, 1.0, 0.0])), said, 20)
        without = estimates(likelihood_of(Strict(RANKINGS[:2], 0.1), np.ones(2)), said, 20)
        assert_close(with_it, without.mean(axis=0))


def test_several_fits_have_their_mean_likelihood(c):
    laws = [likelihood_of(Strict(RANKINGS[k : k + 1], 0.1), np.ones(1)) for k in range(2)]
    each = [np.add.reduceat(np.log(law.likelihoods(c.winners, c.losers)[:, 0]), c.offsets[:-1]) for law in laws]
    expected = np.log(np.exp(each).mean(axis=0)).sum() / len(c)
    assert mean_log_likelihood(laws, c, 2, np.random.default_rng(0)) == pytest.approx(expected)


def test_no_comparisons_are_refused_with_a_sentence(c):
    with pytest.raises(DataError, match="nothing to score: expected at least one comparison"):
        mean_log_likelihood(
            [likelihood_of(Strict(RANKINGS, 0.1), np.ones(3))], c.block(0, 0), 2, np.random.default_rng(0)
        )


def test_users_who_said_different_things_have_different_seeds(rng):
    c = draw_comparisons(rng, n_users=200, n_items=40, most=9, weighted=True)
    assert len(np.unique(user_seeds(c, 0))) == 200
    assert (user_seeds(c, 0) != user_seeds(c, 1)).all()


def test_more_particles_are_less_noisy(c):
    p = Strict(RANKINGS, 0.1).chances(c.winners, c.losers)
    seeds = np.arange(300, dtype=np.uint64)[:, None] + np.zeros(c.n_users, np.uint64)
    scale = [
        np.std([kernels.read_left_to_right(c.offsets, p, np.ones(3), s, n, 2) for s in seeds], axis=0).mean()
        for n in (4, 64)
    ]
    assert scale[1] < scale[0] / 2  # a quarter is expected

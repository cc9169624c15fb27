"""One Gibbs sweep: equal to its plain twin, and draws from the distributions that the model has."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from plurank import kernels
from plurank.kernels.observed import KINDS, Observed, UserPrior, padded
from plurank.kernels.threads import get_num_threads, set_num_threads
from tests.kernels.sweeps import LINKED, Sweep, simulate_sweep, thresholds
from tests.kernels.twins import agree, both, twin_of

LARGEST_Z = 4.5  # of the 1,000 numbers here one exceeds it by chance with probability 0.007
CODES, NO_CODES = np.zeros(1, np.int32), np.zeros(0, np.int32)
KEY = np.array([2**63 + 11], np.uint64)


def z_scores(draws, expected):
    """How far means over users are from what is expected, in standard errors."""
    return (draws.mean(axis=0) - expected) / (draws.std(axis=0) / np.sqrt(len(draws)))


def moments(x):
    """Every user's coordinates, their squares and products, (M, n)."""
    one, other = np.triu_indices(x.shape[1])
    return np.concatenate([x, x[:, one] * x[:, other]], axis=1)


def silent_users(n_users, prior, n_factors=0):
    """Users without observations: what is drawn of them has its prior distribution."""
    observed = Observed("rated", np.zeros(n_users + 1, np.int64), NO_CODES, NO_CODES)
    n_rankings, n_cuts = prior.counts.shape[-1], len(prior.cut_mean)
    users = np.zeros((n_users, padded(1 + n_rankings + n_factors)))
    users[:, 0], users[:, 1 : 1 + n_rankings] = 1.0, 1.0 / n_rankings
    items, cuts = np.zeros((1, users.shape[1])), np.zeros((n_users, n_cuts))
    return Sweep(observed, items, prior, np.zeros((n_users, n_factors)), KEY, 0, users, cuts, np.empty(0))


def one_rating_each(popularity, levels, cuts, cut_mean, precision):
    """Users with one rating of an item of their own: w ~ N(popularity, 1), between their thresholds."""
    n = len(popularity)
    observed = Observed("rated", np.arange(n + 1), np.arange(n, dtype=np.int32), np.asarray(levels, np.int32))
    items, users = np.zeros((n, 4)), np.tile([1.0, 1.0, 0.0, 0.0], (n, 1))
    items[:, 0] = popularity
    prior = UserPrior(np.ones(1), np.asarray(cut_mean), precision * np.eye(len(cut_mean)))
    return Sweep(observed, items, prior, np.zeros((n, 0)), KEY, 0, users, cuts, np.zeros(n))


def uniforms(key, users, number):
    """Draw number ``number``, from 1, of the streams of users: SplitMix64, started at a mixed key."""
    golden = np.uint64(0x9E3779B97F4A7C15)

    def mix(bits):
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))

    state = mix(key + golden * (users.astype(np.uint64) + np.uint64(1)))
    steps = np.full(len(users), golden) * np.uint64(number)
    return (mix(state + steps) >> np.uint64(11)) * 2.0**-53


def assert_twins_agree(sweep):
    """The log-likelihoods of both, and the states that they leave, are the same up to the error of quantiles, 3e-11."""
    fast, plain = sweep.copied(), sweep.copied()
    agree(kernels.draw_users(*fast), twin_of("draw_users")(*plain), rtol=1e-7, atol=1e-7)
    agree((fast.users, fast.cuts, fast.w), (plain.users, plain.cuts, plain.w), rtol=1e-7, atol=1e-7)
    return fast


@given(
    kind=st.sampled_from(KINDS),
    sizes=st.lists(st.integers(0, 11), max_size=6),
    n_rankings=st.integers(1, 8),
    n_factors=st.integers(0, 5),
    n_cuts=st.integers(0, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_sweep_over_users_equals_its_twin(kind, sizes, n_rankings, n_factors, n_cuts, seed):
    rng = np.random.default_rng(seed)
    assert_twins_agree(simulate_sweep(rng, kind, sizes, n_rankings, n_factors, n_cuts))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_rankings", "n_factors"), [(1, 0), (1, 1), (1, 2), (3, 0), (4, 0), (5, 2), (7, 5)])
def test_sweeps_equal_their_twin_for_one_ranking_and_vectors_of_all_lengths(kind, n_rankings, n_factors, rng):
    sizes = [0, 1, 4, 9, 0, 17]
    sweep = simulate_sweep(rng, kind, sizes, n_rankings, n_factors, 3)
    for number in range(3):
        after = assert_twins_agree(sweep.again(number))
        if n_rankings == 1:
            np.testing.assert_array_equal(after.users[:, 1], sweep.users[:, 1])
        np.testing.assert_allclose(after.users[:, 1 : 1 + n_rankings].sum(axis=1), 1.0, rtol=1e-12)
        np.testing.assert_array_equal(after.users[:, 1 + n_rankings + n_factors :], 0.0)
        sweep = after


@pytest.mark.parametrize("kind", ["rated", "ranked"])
def test_users_whose_items_are_all_on_one_level_equal_their_twin(kind, rng):
    for level, n_cuts in ((0, 0), (0, 3), (2, 3), (3, 3)):
        sweep = simulate_sweep(rng, kind, [6, 1, 0, 8], 2, 1, n_cuts)
        sweep = sweep._replace(observed=sweep.observed._replace(levels=np.full(15, level, np.int32)))
        assert_twins_agree(sweep)


def test_users_with_weights_at_the_edge_and_utilities_far_off_equal_their_twin(rng):
    sweep = simulate_sweep(rng, "rated", [5] * 6, 3, 0, 2, counts=np.array([0.05, 0.3, 2.0]))
    sweep.users[:3, 1:4] = np.eye(3)
    sweep.items[:, 0] += 30.0
    assert_twins_agree(sweep)


@given(
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=6),
    size=st.integers(1, 9),
    seed=st.integers(0, 2**32 - 1),
    by_item=st.booleans(),
)
def test_sums_by_item_and_draws_of_items_equal_their_twins(sizes, size, seed, by_item):
    rng = np.random.default_rng(seed)
    n, n_items = sum(sizes), len(sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    users = np.zeros((5, padded(size)))
    users[:, :size] = rng.standard_normal((5, size))
    columns = rng.permutation(n).astype(np.int32), rng.integers(0, 5, n).astype(np.int32)
    arguments = (starts, *columns, users, rng.standard_normal(n), size)
    fast, plain = kernels.sum_by_item(*arguments), twin_of("sum_by_item")(*arguments)
    agree((np.triu(fast[0]), fast[1]), (np.triu(plain[0]), plain[1]))
    roots = rng.standard_normal((n_items, size, size)) + 3.0 * np.eye(size)
    precision, right = roots @ roots.transpose(0, 2, 1), rng.standard_normal((n_items, size))
    if not by_item:
        precision, right = precision[0], right[0]
    items, _ = both("draw_items", *fast, precision, right, KEY, rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(items[:, size:], 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_draws_of_a_user_depend_on_the_key_and_the_users_number_alone(kind, rng):
    whole = simulate_sweep(rng, kind, rng.integers(0, 12, 60), 3, 2, 4)
    parts, another = whole.copied(), whole.copied().again(1)
    edges = [0, 1, 17, 18, 40, 60]
    logs = [kernels.draw_users(*parts.part(*edge)) for edge in itertools.pairwise(edges)]
    np.testing.assert_array_equal(np.concatenate(logs), kernels.draw_users(*whole))
    kernels.draw_users(*another)
    for name in ("users", "cuts", "w"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name), err_msg=name)
    assert (another.users[:, 1] != whole.users[:, 1]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_draws_do_not_depend_on_the_number_of_threads(kind, rng):
    sweep, before = simulate_sweep(rng, kind, rng.integers(0, 12, 3000), 3, 2, 4), get_num_threads()
    owners = np.repeat(np.arange(3000, dtype=np.int32), np.diff(sweep.observed.offsets))
    order, starts = kernels.group(sweep.observed.codes, len(sweep.items))
    found = []
    try:
        for n_threads in (1, 2, 5):
            set_num_threads(n_threads)
            own = sweep.copied()
            logs = kernels.draw_users(*own)
            sums = kernels.sum_by_item(starts, order.astype(np.int32), owners[order], own.users, own.w, 6)
            items, _ = kernels.draw_items(*sums, np.eye(6), np.zeros(6), KEY)
            found.append((logs, own.users, own.cuts, own.w, *sums, items))
    finally:
        set_num_threads(before)
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["users", "cuts", "w", "items", "factor_means", "key"])
def test_arrays_that_do_not_fit_each_other_are_refused(name, rng):
    sweep = simulate_sweep(rng, "rated", [3, 2], 2, 1, 2)
    wrong = np.zeros((0,) * getattr(sweep, name).ndim, getattr(sweep, name).dtype)
    with pytest.raises(ValueError, match="do not fit each other"):
        kernels.draw_users(*sweep._replace(**{name: wrong}))


def test_draws_without_bounds_are_normal_quantiles_of_the_streams_of_users():
    n = 20_000
    sweep = one_rating_each(np.linspace(-30.0, 30.0, n), np.zeros(n), np.zeros((n, 0)), [], 1.0)
    kernels.draw_users(*sweep)
    # the sixth draw of a user: the step of thresholds takes a vector and one draw, though there are none. The wide
    # interval is mirrored where its middle, 0, is above the mean.
    mean = sweep.items[:, 0]
    expected = special.ndtri(uniforms(KEY, np.arange(n), 6)) * np.where(mean < 0.0, -1.0, 1.0)
    np.testing.assert_allclose(sweep.w - mean, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("level", [0, 1])
def test_the_log_likelihood_of_one_rating_is_that_of_scipy_far_out_as_well(level):
    n = 5000
    sweep = one_rating_each(np.linspace(-30.0, 30.0, n), np.full(n, level), np.zeros((n, 1)), [0.0], 1e6)
    logs = kernels.draw_users(*sweep)
    lead = sweep.items[:, 0] - sweep.cuts[:, 0]
    expected = special.log_ndtr(lead if level else -lead)
    np.testing.assert_allclose(logs, np.stack([expected] * 3, axis=1), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("distance", [-30.0, -3.0, 0.3, 8.0, 30.0])
def test_draws_above_a_threshold_are_within_bounds_and_have_the_truncated_distribution(distance):
    """P(N > w) / P(N > threshold) is uniform; a Kolmogorov-Smirnov test rejects it once in 10,000 times by chance."""
    n = 5000
    sweep = one_rating_each(np.full(n, 100.0 - distance), np.ones(n), np.full((n, 1), 100.0), [100.0], 1e8)
    kernels.draw_users(*sweep)
    assert (sweep.w >= sweep.cuts[:, 0]).all()
    tails = special.log_ndtr(sweep.items[:, 0] - np.stack([sweep.w, sweep.cuts[:, 0]]))
    assert stats.kstest(np.exp(tails[0] - tails[1]), "uniform").pvalue > 1e-4


@pytest.mark.parametrize("offset", [0.0, 30.0, -30.0, 50.0])
def test_utilities_stay_between_their_bounds_however_far_off_these_are(offset, rng):
    for kind in KINDS:
        sweep = simulate_sweep(rng, kind, [7] * 200, 2, 1, 3)
        observed, owners = sweep.observed, np.repeat(np.arange(200), 7)
        sweep.items[:4, 0] += offset
        for number in range(5):
            kernels.draw_users(*sweep.again(number))
        assert np.isfinite(sweep.w).all()
        w = sweep.w.reshape(200, 7)
        if kind == "rated":
            # thresholds are kept as coordinates, up to rounding
            edges = np.pad(thresholds(sweep.cuts), ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
            assert (sweep.w >= edges[owners, observed.levels] - 1e-12).all()
            assert (sweep.w <= edges[owners, observed.levels + 1] + 1e-12).all()
        elif kind == "ranked":
            levels = observed.levels.reshape(200, 7)
            is_better = levels[:, :, None] > levels[:, None, :]
            assert (w[:, :, None] >= w[:, None, :])[is_better].all()
        elif kind != "compared with errors":
            one = np.repeat(np.arange(1400), np.diff(observed.link_offsets))
            other = 7 * owners[one] + np.abs(observed.links) - 1
            assert (np.sign(observed.links) * (sweep.w[one] - sweep.w[other]) >= 0.0).all()


@pytest.mark.parametrize("counts", [[2.0, 1.0, 0.5], [0.1, 0.1, 0.1, 0.1], [0.05, 3.0], [30.0, 20.0, 1.0, 1.0, 0.4]])
@pytest.mark.parametrize("init", ["even", "one-hot"])
def test_weights_of_users_without_observations_have_their_dirichlet_prior(counts, init):
    """Wherever they begin. At first, weights below 1e-16 were rounded to 0 and never left it."""
    counts = np.array(counts)
    sweep = silent_users(8000, UserPrior(counts, np.zeros(0), np.zeros((0, 0))))
    theta = sweep.users[:, 1 : 1 + len(counts)]
    if init == "one-hot":
        theta[:] = np.eye(len(counts))[0]
    for number in range(50):
        kernels.draw_users(*sweep.again(number))
    np.testing.assert_allclose(theta.sum(axis=1), 1.0, rtol=1e-12)
    mean, total = counts / counts.sum(), counts.sum()
    second = (np.outer(counts, counts) + np.diag(counts)) / (total * (total + 1.0))
    expected = np.concatenate([mean, second[np.triu_indices(len(counts))]])
    assert np.abs(z_scores(moments(theta), expected)).max() < LARGEST_Z
    logs = np.log(np.maximum(theta, 1e-300))
    assert np.abs(z_scores(logs, special.digamma(counts) - special.digamma(total))).max() < LARGEST_Z


def test_factors_of_users_without_observations_are_normal_around_their_means(rng):
    sweep = silent_users(20_000, UserPrior(np.ones(2), np.zeros(0), np.zeros((0, 0))), n_factors=3)
    sweep.factor_means[:] = 3.0 * rng.standard_normal(sweep.factor_means.shape)
    kernels.draw_users(*sweep)
    z = sweep.users[:, 3:6] - sweep.factor_means
    expected = np.concatenate([np.zeros(3), np.eye(3)[np.triu_indices(3)]])
    assert np.abs(z_scores(moments(z), expected)).max() < LARGEST_Z
    assert stats.kstest(z.ravel(), "norm").pvalue > 1e-4


@pytest.mark.parametrize("n_cuts", [1, 2, 4])
def test_thresholds_of_users_without_observations_have_their_prior_in_coordinates(n_cuts, rng):
    root = 0.3 * rng.standard_normal((n_cuts, n_cuts)) + np.eye(n_cuts)
    mean = np.array([-1.0, 0.2, -0.3, 0.1])[:n_cuts]
    sweep = silent_users(4000, UserPrior(np.ones(1), mean, root.T @ root))
    for number in range(200):  # steps are accepted about every third time
        kernels.draw_users(*sweep.again(number))
    standard = (sweep.cuts - mean) @ root.T
    expected = np.concatenate([np.zeros(n_cuts), np.eye(n_cuts)[np.triu_indices(n_cuts)]])
    assert np.abs(z_scores(moments(standard), expected)).max() < LARGEST_Z


@pytest.mark.parametrize("by_item", [False, True])
def test_items_have_the_mean_and_the_covariance_of_their_posterior(by_item, rng):
    n_items, size = 20_000, 5
    users = np.zeros((3, 8))
    users[:, :size] = rng.standard_normal((3, size))
    w = rng.standard_normal(3 * n_items)
    owners = np.tile(np.arange(3, dtype=np.int32), n_items)
    starts, positions = 3 * np.arange(n_items + 1), np.arange(3 * n_items, dtype=np.int32)
    products, sums = kernels.sum_by_item(starts, positions, owners, users, w, size)
    roots = np.eye(size) + 0.5 * rng.standard_normal((n_items if by_item else 1, size, size))
    precision, right = roots.transpose(0, 2, 1) @ roots, rng.standard_normal((len(roots), size))
    items, _ = kernels.draw_items(products, sums, *((precision, right) if by_item else (precision[0], right[0])), KEY)
    posterior = precision + users[:, :size].T @ users[:, :size]
    means = np.linalg.solve(posterior, (w.reshape(-1, 3) @ users[:, :size] + right)[..., None])[..., 0]
    factors = np.linalg.cholesky(posterior)  # P = L L^T: L^T (x - mean) is standard normal
    standard = ((items[:, :size] - means)[:, None, :] @ factors)[:, 0, :]
    expected = np.concatenate([np.zeros(size), np.eye(size)[np.triu_indices(size)]])
    assert np.abs(z_scores(moments(standard), expected)).max() < LARGEST_Z
    assert stats.kstest(standard.ravel(), "norm").pvalue > 1e-4


def test_the_marginal_likelihood_of_items_is_that_of_a_gaussian(rng):
    mean, root = rng.standard_normal(3), rng.standard_normal((3, 3))
    precision = root @ root.T + np.eye(3)
    designs = [rng.standard_normal((n, 3)) for n in (4, 0, 9)]
    logs = []
    for utilities in ([rng.standard_normal(len(x)) for x in designs] for _ in range(2)):
        products, sums = np.zeros((3, 3, 4)), np.zeros((3, 4))
        for item, (x, w) in enumerate(zip(designs, utilities, strict=True)):
            products[item, :, :3], sums[item, :3] = np.triu(x.T @ x), x.T @ w
        covariance = np.linalg.inv(precision)
        expected = sum(
            stats.multivariate_normal.logpdf(w, x @ mean, np.eye(len(x)) + x @ covariance @ x.T) + 0.5 * (w @ w)
            for x, w in zip(designs, utilities, strict=True)
            if len(x)
        )
        logs.append((kernels.draw_items(products, sums, precision, precision @ mean, KEY)[1].sum(), expected))
    assert logs[0][0] - logs[1][0] == pytest.approx(logs[0][1] - logs[1][1], rel=1e-10)


@pytest.mark.parametrize("n_sweeps", [1, 12])
@pytest.mark.parametrize("kind", KINDS)
def test_sweeps_leave_the_joint_distribution_of_state_and_data_as_it_was(kind, n_sweeps, rng):
    """As in Geweke's test: if users and data are drawn from the model, so are they after a sweep.

    What changes of a user's moments has mean 0 then; among them are products of the state with the data.
    """
    n_users, n_own = 10_000, 6
    sweep = simulate_sweep(rng, kind, [n_own] * n_users, 3, 2, 3, counts=np.array([0.3, 1.0, 2.0]), scale=2.5)
    observed = sweep.observed
    said = observed.levels
    if kind == "ranked":
        said = said - np.repeat(said[::n_own], n_own) + 1
    elif kind in LINKED:  # wins less losses
        sides = np.repeat(np.arange(len(sweep.w)), np.diff(observed.link_offsets))
        said = np.bincount(sides, np.sign(observed.links), len(sweep.w))
    data, own = said.reshape(n_users, n_own), sweep.items[observed.codes].reshape(n_users, n_own, -1)
    features = np.einsum("ue,uek->uk", data - data.mean(), own)[:, 1:6]

    def measure():
        theta, w = sweep.users[:, 1:4], sweep.w.reshape(n_users, n_own)
        state = np.concatenate([sweep.users[:, 1:6], sweep.cuts], axis=1)
        logs = np.log(np.maximum(theta, 1e-300))
        residuals = w - np.einsum("uek,uk->ue", own, sweep.users)
        parts = [moments(state), logs, features * sweep.users[:, 1:6], moments(w), w * data, moments(residuals)]
        gradient, squares = np.einsum("ue,uek->uk", residuals, own)[:, :6], (residuals**2).sum(axis=1, keepdims=True)
        return np.concatenate([*parts, gradient, squares, sweep.factor_means * sweep.users[:, 4:6]], axis=1)

    before = measure()
    for number in range(n_sweeps):
        kernels.draw_users(*sweep.again(number))
    change = measure() - before
    moved = change.std(axis=0) > 0.0
    still = 0 if kind in ("rated", "compared ratings") else 9  # thresholds, their squares and products: nobody rates
    assert (~moved).sum() == still
    assert np.abs(z_scores(change[:, moved], 0.0)).max() < LARGEST_Z

"""Blocks of users, exposure, chains and whether they agree: the same bits on any number of threads and workers."""

import itertools
import pickle

import numpy as np
import pytest

from plurank import Ratings
from plurank.data.rated import Rankings
from plurank.engine.local import LocalEngine
from plurank.kernels import threads
from plurank.thurstone import blocks
from plurank.thurstone.blocks import BlockData, Scale, cut_blocks
from plurank.thurstone.chains import Length, Moments, match_rankings, run_chain, run_chains
from plurank.thurstone.diagnostics import LARGEST_R_HAT, Convergence, diagnose_draws
from plurank.thurstone.draws import as_thresholds
from plurank.thurstone.exposure import Exposure
from plurank.thurstone.sampler import Chain, Observations, Shape, find_exposure
from tests.oracles.simulated_ratings import simulate_ratings

SHAPE = Shape(2, 1)
N_SWEEPS = 3


class CopyingEngine(LocalEngine):
    """Runs every task on copies that went through pickle, as the workers of a cluster do."""

    def map(self, task, shared, units):
        for unit in units:
            yield pickle.loads(pickle.dumps(task(*pickle.loads(pickle.dumps((shared, unit))))))


@pytest.fixture(scope="module")
def truth():
    return simulate_ratings(60, 8, 0)


@pytest.fixture(scope="module")
def ratings(truth):
    return Ratings.from_frame(truth.frame)


@pytest.fixture(scope="module")
def rankings(truth):
    return Rankings.from_frame(truth.ballots)


def run(source, engine=None, n_sweeps=N_SWEEPS, shape=SHAPE):
    observations = Observations.of(source, engine)
    exposure = find_exposure(observations, np.random.default_rng(1))
    chain = Chain(observations, shape, [7, 0], exposure)
    for _ in range(n_sweeps):
        chain.sweep()
    return chain


def assert_same_chain(one, other):
    np.testing.assert_array_equal(one.vectors, other.vectors)
    np.testing.assert_array_equal(one.cuts, other.cuts)
    for name, value in one.population._asdict().items():
        np.testing.assert_array_equal(value, getattr(other.population, name), err_msg=name)
    assert one.log_likelihoods == other.log_likelihoods


# blocks


def test_blocks_depend_on_the_offsets_alone_and_have_every_user_once(monkeypatch, rng):
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 50)
    offsets = np.append(0, np.cumsum(rng.integers(0, 12, 200)))
    found = cut_blocks(offsets)
    assert found == cut_blocks(offsets.copy())
    assert [block.number for block in found] == list(range(len(found)))
    assert found[0].begin == 0
    assert found[-1].end == 200
    assert all(one.end == other.begin for one, other in itertools.pairwise(found))
    sizes = [offsets[block.end] - offsets[block.begin] for block in found]
    assert max(sizes) <= 50 + 2 * 11  # the edges are those of users


@pytest.mark.parametrize("sizes", [[3], [0, 0, 3], [3, 0, 0], [0, 3, 0, 0, 4, 0]])
def test_users_without_observations_are_in_a_block(monkeypatch, sizes):
    for size in (1, 100):
        monkeypatch.setattr(blocks, "BLOCK_SIZE", size)
        found = cut_blocks(np.append(0, np.cumsum(sizes)))
        assert [user for block in found for user in range(block.begin, block.end)] == list(range(len(sizes)))


def test_a_scale_of_a_few_values_is_kept_as_it_is():
    values, counts = np.arange(10.0), np.arange(1.0, 11.0)
    scale = Scale.of(values, counts)
    np.testing.assert_array_equal(scale.groups, np.arange(10))
    np.testing.assert_array_equal(scale.values, values)
    assert scale.n_cuts == 9


def test_a_finer_scale_is_grouped_into_levels_of_about_equal_counts(rng):
    values, counts = np.sort(rng.normal(size=300)), rng.integers(1, 20, 300).astype(float)
    scale = Scale.of(values, counts)
    assert len(scale.values) == blocks.MOST_LEVELS == scale.n_cuts + 1
    assert (np.diff(scale.groups) >= 0).all()
    assert set(np.diff(scale.groups)) == {0, 1}
    assert scale.counts.sum() == counts.sum()
    assert np.abs(scale.counts - counts.sum() / 10).max() <= 20  # a value more or less
    for group in range(10):
        own = scale.groups == group
        np.testing.assert_allclose(scale.values[group], np.average(values[own], weights=counts[own]))


def test_a_fine_scale_on_which_most_ratings_are_the_same_has_fewer_levels():
    counts = np.array([1.0] * 6 + [10_000.0] + [1.0] * 6)
    scale = Scale.of(np.arange(13.0), counts)
    assert 1 < len(scale.values) < 10
    assert (np.diff(scale.values) > 0).all()
    np.testing.assert_array_equal(np.unique(scale.groups), np.arange(len(scale.values)))


def test_observations_are_listed_by_item(ratings):
    data = BlockData.of(ratings, Scale.of(ratings.values, np.ones(5)))
    starts, positions, owners = data.by_item
    for item in range(ratings.n_items):
        own = slice(starts[item], starts[item + 1])
        assert (ratings.codes[positions[own]] == item).all()
        np.testing.assert_array_equal(owners[own], ratings.user_of_each()[positions[own]])
    assert sorted(positions.tolist()) == list(range(len(ratings)))


def test_first_utilities_are_in_the_order_of_rankings(rankings):
    utilities = BlockData.of(rankings, Scale(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))).first_utilities()
    for begin, end in zip(rankings.offsets[:-1], rankings.offsets[1:], strict=True):
        assert (np.diff(utilities[begin:end]) > 0).all()


# exposure


def test_there_is_no_exposure_where_everybody_rated_everything():
    everything = Ratings.from_frame(simulate_ratings(20, 5, 0, share=2.0).frame)
    assert find_exposure(Observations.of(everything), np.random.default_rng(0)).n == 0


@pytest.mark.parametrize(("users", "items"), [(["a", "b", "b"], ["x", "y", "z"]), (["a", "b", "c"], ["x", "y", "y"])])
def test_there_is_no_exposure_of_a_handful_of_users_or_items(users, items):
    few = Ratings.from_arrays(users, items, [1, 2, 3])
    assert find_exposure(Observations.of(few), np.random.default_rng(0)).n == 0


def test_exposure_is_the_leading_directions_of_who_rated_what():
    said = Ratings.from_frame(simulate_ratings(80, 9, 3, share=0.4).frame)
    observations = Observations.of(said)
    exposure = find_exposure(observations, np.random.default_rng(0))
    own = exposure.of(observations.read(observations.blocks[0]))
    table = np.zeros((said.n_users, said.n_items))
    table[said.user_of_each(), said.codes] = 1.0
    scaled = table / np.sqrt(table.sum(axis=1, keepdims=True)) / np.sqrt(table.sum(axis=0))
    left, _, _ = np.linalg.svd(scaled, full_matrices=False)
    assert exposure.n == 8  # all but the first
    np.testing.assert_allclose(own @ own.T / said.n_users, left[:, 1:] @ left[:, 1:].T, atol=1e-6)


# chains


@pytest.mark.parametrize("kind", ["ratings", "rankings"])
def test_a_chain_is_the_same_on_one_and_on_two_threads(kind, request, monkeypatch):
    source = request.getfixturevalue(kind)
    monkeypatch.setattr(threads, "LEAST_WORK", 100)  # so that everything is cut into many tasks
    before, chains = threads.get_num_threads(), []
    try:
        for n_threads in (1, 2):
            threads.set_num_threads(n_threads)
            chains.append(run(source))
    finally:
        threads.set_num_threads(before)
    assert_same_chain(*chains)


@pytest.mark.parametrize("kind", ["ratings", "rankings"])
def test_a_chain_of_several_blocks_is_the_same_where_tasks_run_on_copies(kind, request, monkeypatch):
    source = request.getfixturevalue(kind)
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 40)
    assert len(cut_blocks(source.offsets)) > 4
    here, elsewhere = run(source), run(source, CopyingEngine())
    assert_same_chain(here, elsewhere)
    assert_same_chain(here, run(source))


def test_several_blocks_give_the_same_numbers_as_one_but_for_rounding(ratings, monkeypatch):
    whole = run(ratings, n_sweeps=1)
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 40)
    parts = run(ratings, n_sweeps=1)
    assert len(parts.states) > len(whole.states) == 1
    np.testing.assert_array_equal(parts.observations.scale.counts, np.bincount(ratings.levels))
    # users draw by numbers of their own; sums that items are drawn from are added in another order
    np.testing.assert_allclose(parts.vectors, whole.vectors)
    np.testing.assert_allclose(parts.population.items, whole.population.items)


@pytest.mark.parametrize("kind", ["ratings", "rankings"])
def test_a_chain_stays_where_users_weights_and_thresholds_can_be(kind, request):
    chain = run(request.getfixturevalue(kind), n_sweeps=5)
    weights = chain.vectors[:, 1:3]
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert (np.diff(as_thresholds(chain.cuts), axis=1) > 0).all()
    assert chain.cuts.shape[1] == (4 if kind == "ratings" else 0)
    assert np.isfinite(chain.population.items).all()
    assert (chain.population.counts > 0).all()
    assert len(chain.log_likelihoods) == 5


def test_a_known_prior_of_items_holds_them_where_it_says(ratings):
    observations = Observations.of(ratings)
    wanted = np.linspace(-1.0, 1.0, ratings.n_items)[:, None] * np.ones(3)
    strength = 1e8
    prior = np.tile(strength * np.eye(3), (ratings.n_items, 1, 1)), strength * wanted
    chain = Chain(observations, Shape(2, 0), [1, 0], Exposure.none(ratings.n_items), prior)
    chain.sweep()
    np.testing.assert_allclose(chain.population.items[:, :3], wanted, atol=1e-2)


def test_lengths_are_half_burn_in_and_as_many_draws_as_there_are_sweeps_for():
    assert Length.of(400, 20) == Length(200, 20, 10)
    assert Length.of(20, 40) == Length(10, 10, 1)
    assert Length.of(1, 5) == Length(1, 1, 1)
    for n_sweeps in range(1, 30):
        length = Length.of(n_sweeps, 7)
        assert length.n_sweeps <= max(n_sweeps, 2)


def test_a_chain_with_factors_begins_where_one_without_is(ratings):
    plain = run(ratings, n_sweeps=20, shape=Shape(2, 0))
    full = Chain(plain.observations, SHAPE, [8, 0], Exposure.none(8))
    full.begin_at(plain)
    np.testing.assert_array_equal(full.vectors[:, :3], plain.vectors)
    np.testing.assert_array_equal(full.cuts, plain.cuts)
    np.testing.assert_array_equal(full.population.items[:, :3], plain.population.items[:, :3])
    np.testing.assert_array_equal(full.population.item_precision[:3, :3], plain.population.item_precision)
    before = plain.vectors.copy()
    full.sweep()
    assert (plain.vectors == before).all()  # nothing is shared
    cold = Chain(plain.observations, SHAPE, [8, 0], Exposure.none(8))
    cold.sweep()
    assert full.log_likelihoods[0] > cold.log_likelihoods[0]


def test_chains_that_begin_where_others_ended_have_half_of_the_burn_in():
    assert Length.of(40, 5).shorten() == Length(10, 5, 4)
    assert Length.of(2, 1).shorten() == Length(1, 1, 1)


def test_a_result_has_the_means_over_the_sweeps_that_are_kept(ratings):
    observations, exposure = Observations.of(ratings), Exposure.none(ratings.n_items)
    length, told = Length(3, 2, 2), []
    result = run_chain(observations, Shape(2, 0), [3, 1], exposure, length, lambda *said: told.append(said))
    assert told[-1] == ("sampling", 1.0)
    assert len(result.draws) == 2
    assert {draw.chain for draw in result.draws} == {1}
    assert result.moments.n == len(result.log_likelihoods) == len(result.pairs) == 4
    chain = Chain(observations, Shape(2, 0), [3, 1], exposure)
    total = 0.0
    for sweep in range(length.n_sweeps):
        chain.sweep()
        total += chain.vectors[:, 1:3].max(axis=1).sum() if sweep >= length.burn_in else 0.0
    assert result.log_likelihoods.tolist() == chain.log_likelihoods[3:]
    np.testing.assert_allclose(result.moments.weights.sum(), 4 * ratings.n_users)
    assert result.moments.weights.max(axis=1).sum() <= total + 1e-9


def test_variances_of_scores_grow_where_parts_or_chains_are_apart(rng):
    def moments(means):
        found = Moments.blank(4, 0, 2)
        draws = np.repeat(means, 20, axis=0)[:, None, None] + rng.standard_normal((20 * len(means), 4, 2))
        for n, scores in enumerate(draws):
            found.scores += scores
            found.products += scores[:, :, None] * scores[:, None, :]
            found.n = n + 1
            if found.n % 20 == 0:
                found.end_part()
        np.testing.assert_allclose(found.parts, draws.reshape(len(means), 20, 4, 2).mean(axis=1))
        return found

    together, apart = moments(np.zeros(5)), moments(np.full(5, 3.0))
    alike = together.merge(moments(np.zeros(5))).variances(2)
    np.testing.assert_allclose(alike.mean(), 1.0, atol=0.25)
    # means 0 and 3: a variance of 9 / 4 around 1.5, and twice that of the mean of two chains, 9 / 2 / 2
    np.testing.assert_allclose(together.merge(apart).variances(2).mean(), 1.0 + 9 / 4 + 2 * 9 / 4, rtol=0.15)


def test_chains_are_in_the_order_of_their_likelihood_with_rankings_alike(ratings):
    shape, exposure = Shape(2, 0), Exposure.none(ratings.n_items)
    results, convergence = run_chains(Observations.of(ratings), shape, [5], exposure, Length(15, 5, 2), 3)
    means = [float(result.log_likelihoods.mean()) for result in results]
    assert means == sorted(means, reverse=True)
    assert (convergence.n_chains, convergence.n_sweeps) == (3, 25)
    reference = results[0].moments.scores
    for other in results[1:]:
        np.testing.assert_array_equal(match_rankings(other.moments.scores, reference), [0, 1])


def test_columns_that_were_permuted_are_found_again(rng):
    scores = rng.standard_normal((20, 5))
    for _ in range(10):
        order = rng.permutation(5)
        found = match_rankings((scores + 0.1 * rng.standard_normal(scores.shape))[:, order], scores)
        np.testing.assert_array_equal(order[found], np.arange(5))


# diagnostics


def test_white_noise_has_converged_and_counts_in_full(rng):
    r_hat, effective = diagnose_draws(rng.standard_normal((4, 1000)))
    assert r_hat == pytest.approx(1.0, abs=0.01)  # its error is of the order of 1 / 1000
    assert 0.8 * 4000 < effective <= 4000


def test_draws_that_depend_on_each_other_count_less(rng):
    values, noise = np.zeros((4, 2000)), rng.standard_normal((4, 2000))
    for n in range(1, 2000):
        values[:, n] = 0.8 * values[:, n - 1] + noise[:, n]
    # the variance of the mean is (1 + 0.8) / (1 - 0.8) = 9 times as large
    assert 8000 / 9 / 1.4 < diagnose_draws(values)[1] < 8000 / 9 * 1.4


def test_chains_that_are_elsewhere_or_drift_disagree(rng):
    noise = rng.standard_normal((2, 500))
    assert diagnose_draws(noise + np.array([[0.0], [3.0]]))[0] > 1.5
    assert diagnose_draws(noise + np.linspace(0, 5, 500))[0] > 1.3
    assert diagnose_draws(noise)[0] < LARGEST_R_HAT


@pytest.mark.parametrize("values", [np.ones((2, 100)), np.zeros((3, 2)), np.zeros((1, 1))])
def test_what_never_changes_or_is_too_short_is_not_said_to_disagree(values):
    assert diagnose_draws(values)[0] == 1.0


def test_the_worst_pair_decides_whether_chains_agree(rng):
    pairs = rng.random((2, 200, 5))
    logs = rng.standard_normal((2, 200))
    assert Convergence.of(logs, pairs, 400).converged
    pairs[1, :, 3] += 2.0
    found = Convergence.of(logs, pairs, 400)
    assert not found.converged
    assert found.pair_r_hat == diagnose_draws(pairs[:, :, 3])[0]
    assert found.to_dict()["n_sweeps"] == 400

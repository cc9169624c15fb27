"""Vectors of items by features of the items: draws have the distributions that they should have."""

import numpy as np
import pytest

from plurank.data.rated import Ratings
from plurank.engine.local import one_blas_thread
from plurank.kernels import threads
from plurank.regression.ridge import FeatureMatrix
from plurank.thurstone import hyperparameters as hyper
from plurank.thurstone.chains import Length, run_chain
from plurank.thurstone.draws import Draw
from plurank.thurstone.exposure import Exposure
from plurank.thurstone.item_regression import ItemPrior, ItemRegression
from plurank.thurstone.sampler import Chain, Observations, Shape
from plurank.thurstone.update import standardise

LARGEST_Z = 4.5  # of 60 numbers one exceeds it by chance with probability 0.0004
N_ITEMS = 60


@pytest.fixture(autouse=True)
def as_in_fits():
    """Fits limit BLAS to one thread; several would only wait for each other."""
    with one_blas_thread():
        yield


def z_scores(draws, expected):
    """How far means of draws (n, ...) are from what is expected, in standard errors."""
    return (draws.mean(axis=0) - expected) / (draws.std(axis=0) / np.sqrt(len(draws)))


def test_mean_precision_and_slopes_are_drawn_from_their_conjugate_posterior(rng):
    features, table = rng.standard_normal((12, 2)), rng.standard_normal((12, 2))
    regression = ItemRegression(FeatureMatrix(features, np.array([0, 1])))
    draws, scales = [], np.array([0.5, 2.0])
    for _ in range(2000):
        regression.precisions = np.array([0.5, 4.0])
        draws.append(regression.draw(table, scales, rng))
    means, precisions, slopes = (np.array(part) for part in zip(*draws, strict=True))
    # the prior as observations of their own: rows that predict 0, with the weights of the prior
    design = np.hstack([np.ones((12, 1)), features])
    more = np.sqrt([hyper.ITEM_COUNT, 0.5, 4.0]) * np.eye(3)
    whole, seen = np.vstack([design, more]), np.vstack([table, np.zeros((3, 2))])
    expected = np.linalg.lstsq(whole, seen, rcond=None)[0]
    rest = seen - whole @ expected
    inverse_scale, degrees = np.diag(scales) + rest.T @ rest, 2 + hyper.ITEM_FREEDOM + 12
    drawn = np.concatenate([means[:, None], slopes], axis=1)
    covariance = np.linalg.inv(whole.T @ whole)[:, :, None, None] * inverse_scale / (degrees - 2 - 1)
    apart = drawn - expected
    products = np.einsum("npd,nqe->npqde", apart, apart)
    assert np.abs(z_scores(drawn, expected)).max() < LARGEST_Z
    assert np.abs(z_scores(products, covariance)).max() < LARGEST_Z
    assert np.abs(z_scores(precisions, degrees * np.linalg.inv(inverse_scale))).max() < LARGEST_Z


def test_scales_and_slopes_have_their_prior_where_vectors_do(rng):
    """Geweke: slopes from the prior and vectors from slopes, in turns with draws, leave scales half-Cauchy."""
    features = FeatureMatrix(rng.standard_normal((4, 3)), np.array([0, 0, 1]))
    regression = ItemRegression(features)
    table, scales = rng.standard_normal((4, 2)), []
    for _ in range(2000):
        mean, precision, slopes = regression.draw(table, np.ones(2), rng)
        root = np.linalg.inv(np.linalg.cholesky(precision))
        table = regression.means(mean, slopes) + rng.standard_normal(table.shape) @ root
        scales.append(regression.precisions**-0.5)
    below = np.array(scales) < [[1.0, 1.0]]  # the median of the prior
    # draws depend on each other: batches of 100 are nearly independent
    batches = below.reshape(20, 100, 2).mean(axis=1)
    assert np.abs((batches.mean(axis=0) - 0.5) / (batches.std(axis=0, ddof=1) / np.sqrt(20))).max() < LARGEST_Z


def test_columns_that_say_nothing_have_small_slopes(rng):
    features = rng.standard_normal((200, 3))
    slopes = np.array([[1.0, -1.0], [0.0, 0.0], [0.0, 0.0]])
    table = features @ slopes + rng.standard_normal((200, 2))
    regression = ItemRegression(FeatureMatrix(features, np.arange(3)))
    drawn = np.array([regression.draw(table, np.ones(2), rng)[2] for _ in range(300)])[100:]
    np.testing.assert_allclose(drawn.mean(axis=0)[0], slopes[0], atol=0.3)  # 4 standard errors of 1 / sqrt(200)
    plain = np.linalg.lstsq(features, table, rcond=None)[0][1:]
    assert np.abs(drawn.mean(axis=0)[1:]).max() < 0.9 * np.abs(plain).max()
    assert (regression.precisions[1:] > regression.precisions[0]).all()


def make_prior(rng, n_rankings=2, n_factors=2, n_columns=3):
    size = 1 + n_rankings + n_factors
    root = rng.standard_normal((size, size))
    precision = root @ root.T + np.eye(size)
    mean, slopes = rng.standard_normal(size), rng.standard_normal((n_columns, size))
    return ItemPrior.of(mean, slopes, precision, n_rankings), (mean, slopes, precision)


def test_new_items_have_the_mean_and_the_spread_of_the_vectors(rng):
    prior, (mean, slopes, precision) = make_prior(rng)
    features = rng.standard_normal(3)
    scores, factors = prior.draw(np.tile(features, (4000, 1)), rng.standard_normal((4000, 5)))
    place = np.array([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1.0]])  # popularity counts twice
    drawn, expected = np.hstack([scores, factors]), place @ (mean + features @ slopes)
    apart = drawn - expected
    products = apart[:, :, None] * apart[:, None, :]
    assert np.abs(z_scores(drawn, expected)).max() < LARGEST_Z
    assert np.abs(z_scores(products, place @ np.linalg.inv(precision) @ place.T)).max() < LARGEST_Z


def test_a_draw_moves_what_it_expects_of_items_along_with_them(rng):
    prior, _ = make_prior(rng)
    features, normals = rng.standard_normal((6, 3)), rng.standard_normal((6, 5))
    scores, factors = prior.draw(features, normals)
    nothing, weights = np.zeros((0, 0)), np.full((4, 2), 0.5)
    draw = Draw(
        scores, factors, weights, rng.standard_normal((4, 2)), np.zeros((4, 0)), np.ones(2), np.zeros(0), nothing,
        np.zeros((0, 2)), item_prior=prior,
    )  # fmt: skip
    for moved in (draw.reorder(np.array([1, 0])), draw.centre(), standardise([draw])[0], draw.pad(4, 0)):
        width = moved.item_prior.score_root.shape[1]
        found = moved.item_prior.draw(features, np.pad(normals, ((0, 0), (0, width - 5))))
        np.testing.assert_allclose(found[0], moved.scores, atol=1e-12)
        np.testing.assert_allclose(found[1], moved.item_factors, atol=1e-12)


@pytest.fixture(scope="module")
def told():
    """Ratings of 60 items whose scores follow the first of two features, and differ by two kinds of users."""
    rng = np.random.default_rng(5)
    features = rng.standard_normal((N_ITEMS, 2))
    scores = np.stack([1.5 * features[:, 0], -1.5 * features[:, 0]], axis=1) + 0.5 * rng.standard_normal((N_ITEMS, 2))
    weights = rng.dirichlet([0.3, 0.3], 150)
    users, items = np.repeat(np.arange(150), 20), np.concatenate([rng.choice(N_ITEMS, 20, False) for _ in range(150)])
    utilities = (weights[users] * scores[items]).sum(axis=1) + rng.standard_normal(len(users))
    said = Ratings.from_arrays(users, items, np.digitize(utilities, [-1.0, 0.0, 1.0]))
    return Observations.of(said), FeatureMatrix(features, np.arange(2))


def test_what_scores_depend_on_is_found_from_ratings(told):
    observations, features = told
    nothing = Exposure.none(N_ITEMS)
    result = run_chain(observations, Shape(2, 0), [0, 0], nothing, Length(120, 10, 5), features=features)
    slopes, errors = result.item_tables.mean(axis=0)[1:], result.item_tables.std(axis=0)[1:]
    # the difference of the rankings, which scales of weights hardly touch in sign
    assert abs(slopes[0, 0] - slopes[0, 1]) > 1.0
    assert (np.abs(slopes[1]) < 0.35).all()
    assert (errors < 0.6).all()
    assert all(draw.item_prior.scores.shape == (3, 2) for draw in result.draws)


def test_a_chain_with_features_is_the_same_on_one_and_on_two_threads(told, monkeypatch):
    observations, features = told
    monkeypatch.setattr(threads, "LEAST_WORK", 100)  # so that everything is cut into many tasks
    before, found = threads.get_num_threads(), []
    try:
        for n_threads in (1, 2):
            threads.set_num_threads(n_threads)
            chain = Chain(observations, Shape(2, 1), [1], Exposure.none(N_ITEMS), items=ItemRegression(features))
            for _ in range(3):
                chain.sweep()
            found.append(chain.population)
    finally:
        threads.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_chain_with_factors_begins_with_the_slopes_of_one_without(told):
    observations, features = told
    plain = Chain(observations, Shape(2, 0), [2], Exposure.none(N_ITEMS), items=ItemRegression(features))
    for _ in range(3):
        plain.sweep()
    full = Chain(observations, Shape(2, 1), [3], Exposure.none(N_ITEMS), items=ItemRegression(features))
    full.begin_at(plain)
    np.testing.assert_array_equal(full.population.item_slopes[:, :3], plain.population.item_slopes)
    assert (full.population.item_slopes[:, 3:] == 0.0).all()
    np.testing.assert_array_equal(full.items.precisions, plain.items.precisions)
    full.sweep()
    assert np.isfinite(full.population.items).all()

"""How the answer changes when the data are changed in ways that should matter little."""

import numpy as np
import pytest

from plurank import TopicRanking, align, ranking_error
from plurank.kernels import threads
from tests.contracts.equality import assert_same_model
from tests.oracles.small_data import relabelled, reordered, repeated, reversed_all, weighted

DETECTIONS = ["whitened", "projections", "printed"]


def fit(c, detection="whitened", **parameters):
    return TopicRanking(3, detection, random_state=0, **parameters).fit(c)


@pytest.fixture(scope="module")
def models(easy):
    return {detection: fit(easy.comparisons, detection) for detection in DETECTIONS}


@pytest.mark.parametrize("detection", DETECTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_relabelling_items_permutes_the_answer(seed, detection, easy, models):
    permutation = np.random.default_rng(seed).permutation(10)
    model, other = models[detection], fit(relabelled(easy.comparisons, permutation), detection)
    expected = permutation[model.rankings_]
    assert ranking_error(other.rankings_, expected) == 0
    order = align(other.rankings_, expected)
    np.testing.assert_allclose(other.user_weights_[:, order], model.user_weights_, atol=1e-3)
    np.testing.assert_allclose(other.mean_weights_[order], model.mean_weights_, atol=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_users_does_not_matter(seed, easy, models):
    order = np.random.default_rng(seed).permutation(800)
    model, other = models["whitened"], fit(reordered(easy.comparisons, order))
    np.testing.assert_array_equal(other.rankings_, model.rankings_)
    np.testing.assert_allclose(other.user_weights_, model.user_weights_[order], atol=1e-6)
    np.testing.assert_allclose(other.mean_weights_, model.mean_weights_, atol=1e-9)
    assert other.concentration_ == pytest.approx(model.concentration_)


@pytest.mark.parametrize("detection", DETECTIONS)
def test_reversing_every_comparison_reverses_every_ranking(detection, easy, models):
    model, other = models[detection], fit(reversed_all(easy.comparisons), detection)
    expected = model.rankings_[:, ::-1]
    assert ranking_error(other.rankings_, expected) == 0
    order = align(other.rankings_, expected)
    np.testing.assert_allclose(other.user_weights_[:, order], model.user_weights_, atol=1e-3)


def test_weight_two_is_the_row_twice(easy):
    times = np.random.default_rng(0).integers(1, 3, len(easy.comparisons))
    once, over = fit(weighted(easy.comparisons, times)), fit(repeated(easy.comparisons, times))
    assert ranking_error(once.rankings_, over.rankings_) == 0
    order = align(once.rankings_, over.rankings_)
    np.testing.assert_allclose(once.user_weights_[:, order], over.user_weights_, atol=1e-4)
    np.testing.assert_allclose(once.mean_weights_[order], over.mean_weights_, atol=1e-4)
    assert once.concentration_ == pytest.approx(over.concentration_, rel=1e-3)
    assert once.flip_probability_ == pytest.approx(over.flip_probability_, abs=1e-5)


@pytest.mark.parametrize("detection", DETECTIONS)
def test_the_number_of_threads_changes_no_bit(detection, easy, monkeypatch):
    monkeypatch.setattr(threads, "LEAST_WORK", 100)  # so that everything is cut into many tasks
    usual = threads.get_num_threads()
    try:
        fits = []
        for n_threads in (1, 4):
            threads.set_num_threads(n_threads)
            fits.append(fit(easy.comparisons, detection))
    finally:
        threads.set_num_threads(usual)
    assert_same_model(*fits)


@pytest.mark.parametrize("detection", DETECTIONS)
def test_a_seed_gives_the_same_answer_twice(detection, easy, models):
    assert_same_model(fit(easy.comparisons, detection), models[detection])

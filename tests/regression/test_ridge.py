"""Scores of items by their features."""

import numpy as np

from plurank.regression.ridge import choose_item_scale, fit_ridge


def simulate(n=300, rest=0.5, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, 3))
    table = np.array([[0.2, -0.1], [1.0, 0.0], [0.0, -1.0], [0.0, 0.0]])
    scores = table[0] + features @ table[1:] + rest * rng.standard_normal((n, 2))
    return features, scores + noise * rng.standard_normal((n, 2)), np.full((n, 2), noise), table


def test_coefficients_and_the_items_own_part_are_recovered():
    features, scores, errors, table = simulate()
    found = fit_ridge(features, scores, errors, 1.0)
    deviations = np.sqrt(np.diagonal(found.covariances, axis1=1, axis2=2)).T
    assert (np.abs(found.table - table) < 4.0 * deviations).all()  # 8 coefficients, 6e-5 each
    np.testing.assert_allclose(found.rest, 0.5, atol=0.1)


def test_without_errors_and_with_a_wide_prior_it_is_least_squares():
    features, scores, errors, _ = simulate()
    found = fit_ridge(features, scores, np.zeros_like(errors), 1e6)
    design = np.hstack([np.ones((len(features), 1)), features])
    np.testing.assert_allclose(found.table, np.linalg.lstsq(design, scores, rcond=None)[0], atol=1e-6)


def test_intervals_of_new_items_hold_their_scores():
    features, scores, errors, table = simulate()
    mean, error = fit_ridge(features, scores, errors, 1.0).predict(features[:50] + 0.1)
    rng = np.random.default_rng(1)
    truth = table[0] + (features[:50] + 0.1) @ table[1:] + 0.5 * rng.standard_normal((50, 2))
    held = (np.abs(truth - mean) < 1.645 * error).mean()
    assert 0.8 < held < 0.98  # 90 %, of 100 with a standard error of 3 %


def test_features_count_where_they_predict_items_held_out():
    features, scores, errors, _ = simulate(60)
    rng = np.random.default_rng(0)
    assert choose_item_scale(features, scores, errors, rng) is not None
    assert choose_item_scale(rng.permutation(features), scores, errors, rng) is None
    assert choose_item_scale(features[:5], scores[:5], errors[:5], rng) is None


def test_without_a_scale_all_items_are_expected_alike():
    features, scores, errors, _ = simulate(60)
    found = fit_ridge(features, scores, errors, None)
    assert (found.table[1:] == 0.0).all()
    mean, _ = found.predict(features)
    np.testing.assert_allclose(mean, mean[:1].repeat(60, axis=0))

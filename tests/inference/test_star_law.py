import numpy as np
import pytest
from scipy.stats import truncnorm

from plurank.inference.ordinal import OrdinalRatings, _expect_likings, fit_stars

THRESHOLDS = np.array([-1.5, -0.5, 0.4, 1.3])


def draw(n_users=400, per_user=60, seed=0, mean=(0.2, 0.9), scale=(0.5, 0.2)):
    """Draw users, utilities and stars from the model, and everybody's line."""
    rng = np.random.default_rng(seed)
    lines = np.asarray(mean) + np.asarray(scale) * rng.standard_normal((n_users, 2))
    users = np.repeat(np.arange(n_users), per_user)
    x = rng.standard_normal(len(users))
    likings = lines[users, 0] + lines[users, 1] * x + rng.standard_normal(len(users))
    return users, x, 1.0 + np.searchsorted(THRESHOLDS, likings), lines


def test_lines_and_thresholds_of_simulated_people_come_out():
    users, x, stars, lines = draw()
    law = fit_stars(users, x, stars, 400)
    # in units of the noise, up to a shift that lines and thresholds share
    slopes = law.lines[:-1, 1] / law.scale
    assert abs(slopes.mean() - lines[:, 1].mean()) < 0.05
    assert np.corrcoef(slopes, lines[:, 1])[0, 1] > 0.6
    assert np.corrcoef(law.lines[:-1, 0], lines[:, 0])[0, 1] > 0.9
    np.testing.assert_allclose(np.diff(law.thresholds), np.diff(THRESHOLDS), atol=0.06)


def test_chances_are_calibrated_on_people_and_items_not_seen():
    users, x, stars, _ = draw(n_users=500, per_user=80)
    seen = np.arange(len(users)) % 2 == 0
    law = fit_stars(users[seen], x[seen], stars[seen], 500)
    chances = law.probabilities(users[~seen], x[~seen])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert (chances >= 0).all()
    for level in range(5):
        happened = stars[~seen] == level + 1
        expected = chances[:, level]
        # 20,000 rows: a standard error of at most 0.0036 overall, 0.012 for the tenth that is likeliest
        assert abs(happened.mean() - expected.mean()) < 0.011
        likely = expected > np.quantile(expected, 0.9)
        assert abs(happened[likely].mean() - expected[likely].mean()) < 0.04


def test_thresholds_stand_where_each_star_is_as_frequent_as_it_was():
    users, x, stars, _ = draw()
    law = fit_stars(users, x, stars, 400)
    chances = law.probabilities(users, x).mean(axis=0)
    np.testing.assert_allclose(chances, np.bincount(stars.astype(int), minlength=6)[1:] / len(stars), atol=2e-3)


def test_somebody_unknown_is_predicted_like_everybody_and_less_surely():
    users, x, stars, _ = draw()
    law = fit_stars(users, x, stars, 400)
    np.testing.assert_allclose(law.lines[-1], law.lines[:-1].mean(axis=0), atol=1e-12)
    unknown = law.probabilities(np.array([-1]), np.array([3.0]))
    typical = np.argmin(np.abs(law.lines[:-1] - law.lines[-1]).sum(axis=1))
    known = law.probabilities(np.array([typical]), np.array([3.0]))
    assert unknown[0].max() < known[0].max()


def test_few_ratings_are_shrunk_to_the_population():
    users, x, stars, _ = draw(n_users=100, per_user=60)
    one = np.concatenate([users, [100]]), np.concatenate([x, [0.0]]), np.concatenate([stars, [1.0]])
    law = fit_stars(*one, 101)
    assert law.lines[-1, 0] - 1.5 < law.lines[100, 0] < law.lines[-1, 0]


@pytest.mark.parametrize("stars", [[3.0], [3.0, 3.0, 3.0]])
def test_a_single_level_is_certain(stars):
    law = fit_stars(np.zeros(len(stars), dtype=int), np.arange(len(stars), dtype=float), np.array(stars), 1)
    np.testing.assert_array_equal(law.probabilities(np.array([0, -1]), np.array([0.0, 5.0])), 1.0)


def test_utilities_that_say_nothing_give_everybody_their_own_mean():
    users = np.repeat([0, 1], 50)
    stars = np.where(np.arange(100) % 5 == 0, 3.0, np.where(users == 0, 1.0, 5.0))
    law = fit_stars(users, np.ones(100), stars, 2)
    means = law.probabilities(np.array([0, 1]), np.ones(2)) @ [1.0, 3.0, 5.0]
    assert means[0] < 2.0
    assert means[1] > 4.0


def test_units_of_utilities_do_not_matter():
    users, x, stars, _ = draw(n_users=50)
    one, other = fit_stars(users, x, stars, 50), fit_stars(users, 100.0 * x - 7.0, stars, 50)
    np.testing.assert_allclose(one.probabilities(users, x), other.probabilities(users, 100.0 * x - 7.0), atol=1e-9)


@pytest.mark.parametrize("utility", [0.1, 0.25])
def test_equal_utilities_have_no_scale_even_where_their_deviation_is_rounded(utility):
    law = fit_stars(np.arange(7), np.full(7, utility), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 2.0]), 7)
    assert law.scale == 1.0


def test_a_star_far_from_what_was_expected_still_lies_in_its_interval():
    likings = _expect_likings(np.array([-9.0, 0.0]), np.array([0.0]), np.array([1, 1]))
    assert likings[0] >= 0.0
    np.testing.assert_allclose(likings[1], np.sqrt(2.0 / np.pi))


def test_hidden_likings_are_the_means_of_truncated_normals(rng):
    middle, codes = rng.standard_normal(20), np.arange(20) % 5
    edges = np.concatenate([[-np.inf], THRESHOLDS, [np.inf]])
    expected = truncnorm.mean(edges[codes] - middle, edges[codes + 1] - middle, loc=middle)
    np.testing.assert_allclose(_expect_likings(middle, THRESHOLDS, codes), expected, atol=1e-9)


def test_chances_of_stars_are_those_of_drawing_a_line_and_a_liking(rng):
    line, covariance = np.array([0.3, 0.8]), np.array([[0.4, -0.1], [-0.1, 0.2]])
    law = OrdinalRatings(THRESHOLDS, line[None], covariance[None], centre=2.0, scale=0.5, converged=True)
    lines = rng.multivariate_normal(line, covariance, 100_000)
    likings = lines[:, 0] + lines[:, 1] * (2.6 - 2.0) / 0.5 + rng.standard_normal(100_000)
    drawn = np.bincount(np.searchsorted(THRESHOLDS, likings), minlength=5) / 100_000
    # a standard error of at most 0.0016
    np.testing.assert_allclose(law.probabilities(np.array([0]), np.array([2.6]))[0], drawn, atol=0.007)


def test_rounds_that_do_not_suffice_are_admitted(monkeypatch):
    users, x, stars, _ = draw(n_users=50)
    assert fit_stars(users, x, stars, 50).converged
    monkeypatch.setattr("plurank.inference.ordinal.MAX_ROUNDS", 1)
    assert not fit_stars(users, x, stars, 50).converged

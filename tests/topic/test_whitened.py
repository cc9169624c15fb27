"""The embedding and its extreme points."""

import numpy as np
import pytest

from plurank import Comparisons, NotIdentifiableError, TopicRanking
from plurank.topic.moments import pair_moments
from plurank.topic.whitened import (
    detect_whitened,
    embed,
    solid_angles,
    successive_projection,
)
from tests.oracles.plain_algorithms import plain_successive_projection


@pytest.mark.parametrize("seed", range(5))
def test_successive_projection_takes_the_longest_of_what_is_left(seed):
    points = np.random.default_rng(seed).standard_normal((30, 5))
    assert successive_projection(points, 4).tolist() == plain_successive_projection(points, 4)


def test_successive_projection_finds_the_vertices_of_a_simplex(rng):
    vertices = rng.standard_normal((4, 4))
    points = np.vstack([rng.dirichlet(np.ones(4), 50) @ vertices, vertices])
    assert sorted(successive_projection(points, 4)) == [50, 51, 52, 53]


def test_the_embedding_equals_that_of_a_dense_eigendecomposition(easy):
    # the first coordinate is 1 wherever a pair occurs, the others span the leading eigenvectors but for noise
    moments = pair_moments(easy.comparisons, 0)
    points = embed(moments, 3, rng=np.random.default_rng(0))
    seen = moments.counts > 0
    assert (points[seen, 0] == 1.0).all()
    assert (points[~seen] == 0.0).all()
    scale = 1 / np.sqrt(np.maximum(moments.counts, 1.0))[:, None]
    whitened = scale * moments.cooccurrence(scale * np.eye(len(scale)))
    values, vectors = np.linalg.eigh((whitened + whitened.T) / 2)
    assert values[-1] == pytest.approx(1.0)
    dense = vectors[:, -3:] * np.sqrt(values[-3:]) * scale * np.sqrt(moments.counts.sum())
    exact, found = dense[seen] @ dense[seen].T, points[seen] @ points[seen].T
    assert np.linalg.norm(exact - found) < 0.05 * np.linalg.norm(exact)


def test_solid_angles_of_a_square_are_equal():
    # each is the highest along a quarter of all directions; 600 directions stray by 0.018
    angles = solid_angles(np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), rng=np.random.default_rng(0))
    np.testing.assert_allclose(angles, 0.25, atol=0.09)


def test_solid_angles_sum_to_one(easy):
    found = detect_whitened(pair_moments(easy.comparisons, 0), 3, rng=np.random.default_rng(0))
    assert found.solid_angles.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("n_items", [3, 5])
def test_people_who_all_agree_have_one_ranking_and_not_two(n_items):
    # F has rank one then: the trivial eigenvector must not come back as a second ranking
    low, high = np.triu_indices(n_items, 1)
    c = Comparisons.from_arrays(np.repeat(np.arange(20), len(low)), np.tile(low, 20), np.tile(high, 20))
    assert TopicRanking(1, random_state=0).fit(c).rankings_.tolist() == [list(range(n_items))]


def test_one_user_cannot_carry_two_rankings():
    c = Comparisons.from_arrays([0] * 6, list("aabaab"), list("bccbcc"))
    with pytest.raises(NotIdentifiableError, match=r"2 rankings were asked for, .* in only 1 way"):
        TopicRanking(2, random_state=0).fit(c)


def test_directions_that_item_space_cannot_give_are_filled_in(easy):
    # 10 items give 10 directions at most, 8 rankings ask for 11
    found = embed(pair_moments(easy.comparisons, 0), 8, rng=np.random.default_rng(0))
    assert found.shape == (90, 8)
    assert np.linalg.matrix_rank(found) == 8

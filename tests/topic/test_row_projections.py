"""Projections of rows: kept for all rows, or summed from those of users, they are the same."""

import numpy as np
import pytest

from plurank import NotIdentifiableError
from plurank.topic import printed as novel_pairs
from plurank.topic import printed as row_projections
from plurank.topic.moments import pair_moments
from plurank.topic.printed import (
    KeptProjections,
    UserProjections,
    detect_printed,
    project,
    project_rows,
)
from tests.oracles.exact_moments import ExactMoments, dirichlet_correlation, draw_mu
from tests.oracles.small_data import draw_comparisons, weighted


def draw_few_people(seed, has_weights=False):
    """Fewer people than ordered pairs, nearly all of whom repeat no pair."""
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng, n_users=15, n_items=9, most=14)
    return weighted(c, rng.integers(1, 4, len(c))) if has_weights else c


@pytest.fixture
def small_memory(monkeypatch):
    """Nothing is kept but what belongs to users; parts have three rows, chunks of directions five, and so on."""
    monkeypatch.setattr(row_projections, "KEPT_BYTES", 0)
    monkeypatch.setattr(row_projections, "PART_BYTES", 4 * 70 * 3)
    monkeypatch.setattr(row_projections, "CHUNK", 5)
    monkeypatch.setattr(novel_pairs, "TOGETHER", 4)
    monkeypatch.setattr(novel_pairs, "N_FIRST", 2)


def plain_detection(projections, n_rankings, tolerance):
    """Algorithm 2 with all projections (W, P) and all distances of rows at hand."""
    x = projections.astype(float)
    seen = (x**2).sum(axis=1) > 0
    far = (((x[:, None] - x) ** 2).sum(axis=2) / x.size >= tolerance) & seen
    beaten = np.array([(x[far[w]] > x[w]).any(axis=0) for w in range(len(x))])
    angles = np.where(seen, 1.0 - beaten.mean(axis=1), 0.0)
    rows = []
    for w in np.lexsort((np.arange(len(x)), -angles)):
        if angles[w] > 0 and len(rows) < n_rankings and all(far[other, w] for other in rows):
            rows.append(int(w))
    return rows, angles[rows], x @ x[rows].T / x.shape[1]


@pytest.mark.parametrize("directions", ["gaussian", "sphere"])
@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.usefixtures("small_memory")
def test_projections_summed_from_users_are_products_with_the_same_directions(directions, has_weights):
    moments = pair_moments(draw_few_people(0, has_weights), 0)
    found = project_rows(moments, 70, directions, rng=np.random.default_rng(1))
    whole = project(moments, 70, directions, rng=np.random.default_rng(1))
    assert isinstance(found, UserProjections)
    np.testing.assert_allclose(found.of(np.arange(len(whole))).values, whole, rtol=1e-4, atol=1e-4)
    assert found.seen.tolist() == np.flatnonzero(whole.any(axis=1)).tolist()
    assert found.shape == whole.shape


@pytest.mark.usefixtures("small_memory")
def test_parts_put_together_are_the_rows_asked_for():
    found = project_rows(pair_moments(draw_few_people(0), 0), 70, "gaussian", rng=np.random.default_rng(1))
    rows = found.seen[::2]
    parts = list(found.parts(rows))
    assert {len(part.rows) for part in parts[:-1]} == {3}
    assert np.concatenate([part.rows for part in parts]).tolist() == rows.tolist()
    np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), found.of(rows).values)


@pytest.mark.parametrize("tolerance", [0.01, 3.0, 10.0])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("few", [0, 10**6])  # distances one by one, and as a product
@pytest.mark.usefixtures("small_memory")
def test_novel_pairs_found_in_parts_equal_those_found_with_everything_in_memory(seed, tolerance, few, monkeypatch):
    monkeypatch.setattr(novel_pairs, "FEW", few)
    moments = pair_moments(draw_few_people(seed), 0)
    projections = project(moments, 70, "gaussian", rng=np.random.default_rng(seed))
    rows, angles, targets = plain_detection(projections, 2, tolerance)
    if len(rows) < 2:
        with pytest.raises(NotIdentifiableError, match="only 1 pair"):
            detect_printed(moments, 2, 70, tolerance, "gaussian", rng=np.random.default_rng(seed))
        return
    found = detect_printed(moments, 2, 70, tolerance, "gaussian", rng=np.random.default_rng(seed))
    assert found.statistic == "rows"
    assert found.rows.tolist() == rows
    np.testing.assert_allclose(found.solid_angles, angles)
    np.testing.assert_allclose(found.targets, targets, rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(found.gram, found.targets[found.rows])


def test_what_is_kept_belongs_to_all_rows_while_it_is_small_and_to_users_where_it_is_not(monkeypatch):
    moments = pair_moments(draw_few_people(0), 0)
    n_rows = len(moments.counts)
    monkeypatch.setattr(row_projections, "KEPT_BYTES", 4 * 70 * n_rows)
    kept = project_rows(moments, 70, "gaussian", rng=np.random.default_rng(0))
    assert isinstance(kept, KeptProjections)
    assert kept.values.shape == (n_rows, 70)
    score_scale = project_rows(moments, 71, "gaussian", rng=np.random.default_rng(0))
    assert isinstance(score_scale, UserProjections)
    assert score_scale.users.shape[0] <= 15 < n_rows
    assert score_scale.users.shape[1] == 71


@pytest.mark.usefixtures("small_memory")
def test_rows_are_kept_where_they_are_fewer_than_users_or_users_are_unknown(easy):
    a = np.full(2, 0.5)
    known = ExactMoments([[0, 1, 2], [2, 1, 0]], draw_mu(3, None, True), a, dirichlet_correlation(a, 1.0))
    for moments in (pair_moments(easy.comparisons, 0), known):
        found = project_rows(moments, 7, "gaussian", rng=np.random.default_rng(0))
        assert isinstance(found, KeptProjections)


def test_fewer_directions_are_drawn_at_a_time_where_they_are_long(monkeypatch):
    monkeypatch.setattr(row_projections, "CHUNK_BYTES", 8 * 10 * 6)
    drawn = row_projections.draw_directions(10, 14, "gaussian", np.random.default_rng(0), lambda *_: None)
    sizes = [(begin, chunk.shape) for begin, chunk in drawn]
    assert sizes == [(0, (10, 6)), (6, (10, 6)), (12, (10, 2))]
    longer = row_projections.draw_directions(1000, 2, "gaussian", np.random.default_rng(0), lambda *_: None)
    assert [chunk.shape for _, chunk in longer] == [(1000, 1)] * 2

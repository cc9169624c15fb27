"""Find one novel pair for each ranking in a whitened embedding of the rows of E: its rank-K estimate.

Ours: takes the place of Algorithm 2. Needs the moments F as an operator; gives the embedding, on which ``projections``
works, too, and, by successive projection, K extreme rows. Row noise in E grows like 1 / sqrt(count), so the rows are
embedded by the top K eigenpairs of ``D^-1/2 F D^-1/2`` (D: row counts), where the noise of all rows is alike, and then
rescaled. With exact moments ``x_w . x_v = E_wv``, so the rows lie in the simplex of the K novel rows as in the paper.
"""

from dataclasses import dataclass

import numpy as np

from plurank.exceptions import NotIdentifiableError
from plurank.topic.moments import Moments
from plurank.types import Floats, Integers

OVERSAMPLING = 4
N_PRODUCTS = 2  # more let the noise of W dimensions back in that a good start has left out
N_PRODUCTS_FROM_CHANCE = 12
N_DIRECTIONS = 150  # times K, for the solid angles


@dataclass(frozen=True)
class NovelPairs:
    """K novel pairs, and what Algorithm 3 needs to express every row by them.

    rows (K,); solid_angles (K,); statistic: how rows were told apart;
    gram (K, K) and targets (W, K): the quadratic and the linear term of every row's regression on the novel rows.
    """

    rows: Integers
    solid_angles: Floats
    statistic: str
    gram: Floats
    targets: Floats


@dataclass(frozen=True)
class WhitenedPairs(NovelPairs):
    """Novel pairs found in the embedding; points (W, K) with rows of zeros where an ordered pair never occurs."""

    points: Floats


def embed(moments: Moments, n_rankings: int, *, rng: np.random.Generator) -> Floats:
    """Embed every row: ``sqrt(total) D^-1/2 U sqrt(lambda)``, (W, K). The first coordinate is 1: F's trivial
    eigenvector.

    Subspace iteration with Rayleigh-Ritz, deflated by the trivial eigenvector sqrt(D).
    """
    counts = moments.counts
    total = counts.sum()
    root = np.sqrt(counts / total)
    scale = np.divide(1.0, np.sqrt(counts), out=np.zeros_like(counts), where=counts > 0)[:, None]
    n_directions = min(n_rankings - 1 + OVERSAMPLING, int((counts > 0).sum()) - 1)
    image = scale * moments.guess_range(n_directions, rng=rng)
    n_missing = n_directions - image.shape[1]
    if n_missing > 0:
        image = np.hstack([image, rng.standard_normal((len(counts), n_missing))])
    for _ in range(N_PRODUCTS_FROM_CHANCE if n_missing > 0 else N_PRODUCTS):
        # the trivial eigenvector leads, so that all the others are orthogonal to it however few they really are
        basis = np.linalg.qr(np.column_stack([root, image]))[0][:, 1:]
        image = scale * moments.cooccurrence(scale * basis)
    values, vectors = np.linalg.eigh((basis.T @ image + image.T @ basis) / 2.0)
    values, vectors = values[::-1][: n_rankings - 1], vectors[:, ::-1][:, : n_rankings - 1]
    n_found = 1 + int((values > 1e-9).sum())
    if n_found < n_rankings:
        raise NotIdentifiableError(
            f"{n_rankings} rankings were asked for, but the {len(counts):,} ordered pairs in the data vary together in "
            f"only {n_found} {'way' if n_found == 1 else 'ways'}. Try fewer rankings, more users, or more comparisons "
            "per user."
        )
    coordinates = (basis @ vectors) * np.sqrt(values) * scale * np.sqrt(total)
    return np.column_stack([(counts > 0).astype(float), coordinates])


def detect_whitened(moments: Moments, n_rankings: int, *, rng: np.random.Generator) -> WhitenedPairs:
    """Embed, then take extreme points."""
    points = embed(moments, n_rankings, rng=rng)
    rows = successive_projection(points, n_rankings)
    vertices = points[rows]
    gram, targets = vertices @ vertices.T, points @ vertices.T
    return WhitenedPairs(rows, solid_angles(vertices, rng=rng), "whitened", gram, targets, points)


def successive_projection(points: Floats, n: int) -> Integers:
    """Take the longest point, project all points off it, and repeat: n extreme points of their hull."""
    residual = points.copy()
    rows = np.empty(n, dtype=np.int64)
    for k in range(n):
        lengths = np.einsum("wk,wk->w", residual, residual)
        rows[k] = np.argmax(lengths)
        # where fewer than n points differ nothing is left, and the first point is taken again
        axis = residual[rows[k]] / np.sqrt(max(lengths[rows[k]], 1e-300))
        residual -= np.outer(residual @ axis, axis)
    return rows


def solid_angles(vertices: Floats, *, rng: np.random.Generator) -> Floats:
    """Estimate the solid angle of each of K points in their hull: the share of directions in which it lies furthest."""
    n = len(vertices)
    highest = (vertices @ rng.standard_normal((vertices.shape[1], N_DIRECTIONS * n))).argmax(axis=0)
    return np.bincount(highest, minlength=n) / (N_DIRECTIONS * n)

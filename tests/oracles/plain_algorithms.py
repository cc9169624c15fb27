"""The paper's boxes, line by line, on dense matrices."""

import itertools

import numpy as np


def plain_novel_pairs(E, occurs, projections, n_rankings, distances, zeta):
    """Algorithm 2: rows of the novel pairs and all solid angles, given E d for every direction, (W, P).

    occurs (W,): which ordered pairs there are at all; distances (W, W): the statistic that says which rows differ.
    """
    n_rows, n_projections = projections.shape
    angles = np.zeros(n_rows)
    J = [[j for j in range(n_rows) if occurs[j] and j != i and distances[i, j] >= zeta] for i in range(n_rows)]
    for i in np.flatnonzero(occurs):
        for r in range(n_projections):
            angles[i] += all(projections[j, r] <= projections[i, r] for j in J[i]) / n_projections
    found = []
    for i in sorted(range(n_rows), key=lambda i: (-angles[i], i)):
        if all(i in J[other] for other in found) and angles[i] > 0:
            found.append(i)
        if len(found) == n_rankings:
            break
    return found, angles


def plain_circles(wins, pairs, ranking):
    """Triples of items that go round in a circle; ``wins[p]`` says that the first item of pairs[p] is preferred."""
    place = {item: at for at, item in enumerate(ranking)}
    beats = {}
    for i, j in itertools.combinations(range(len(ranking)), 2):
        beats[i, j] = place[i] < place[j]
    for (i, j), win in zip(pairs, wins, strict=True):
        beats[min(i, j), max(i, j)] = bool(win) == (i < j)
    return sum(beats[i, j] == beats[j, k] != beats[i, k] for i, j, k in itertools.combinations(range(len(ranking)), 3))


def plain_successive_projection(points, n):
    """Longest point, then the longest of what is orthogonal to all points taken so far."""
    rows = []
    for _ in range(n):
        basis = np.linalg.qr(points[rows].T)[0] if rows else np.zeros((points.shape[1], 0))
        rows.append(int(np.argmax(np.linalg.norm(points - points @ basis @ basis.T, axis=1))))
    return rows


def plain_distances(first, second):
    """Number of pairs of items that two rankings order differently, over all pairs."""
    pairs = list(itertools.combinations(first, 2))
    first, second = list(first), list(second)
    differ = [(first.index(i) < first.index(j)) != (second.index(i) < second.index(j)) for i, j in pairs]
    return sum(differ) / len(pairs)

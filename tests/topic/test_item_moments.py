"""The leading directions of wins minus losses."""

import numpy as np

from plurank.topic.pair_blocks import SignedCounts, laplacian, leading_item_directions
from tests.oracles.small_data import users_of


def test_user_coordinates_span_what_the_dense_eigenvectors_span(easy):
    c = easy.comparisons
    n_users, n_items = c.n_users, c.n_items
    factors = 1.0 / (np.diff(c.offsets) - 1.0)
    S = np.zeros((n_users, n_items))
    np.add.at(S, (users_of(c), c.winners), 1.0)
    np.subtract.at(S, (users_of(c), c.losers), 1.0)
    C = (S * factors[:, None]).T @ S
    low, high = np.minimum(c.winners, c.losers), np.maximum(c.winners, c.losers)
    for i, j, factor in zip(low, high, factors[users_of(c)], strict=True):
        C[[i, j], [i, j]] -= factor
        C[[i, j], [j, i]] += factor
    whiten = 1.0 / np.sqrt(np.abs(S).sum(axis=0))
    values, vectors = np.linalg.eigh(whiten[:, None] * C * whiten)
    dense = S @ (whiten[:, None] * vectors[:, np.argsort(-np.abs(values))[:2]])

    signed = SignedCounts.of(c)
    lower, higher = (x.astype(np.int32) for x in np.triu_indices(n_items, 1))
    own = np.array([factors[users_of(c)][(low == i) & (high == j)].sum() for i, j in zip(lower, higher, strict=True)])
    by_themselves = laplacian(n_items, lower, higher, own)
    leading = leading_item_directions(
        lambda items: signed.to_items(signed.to_users(items) * factors[:, None]) - by_themselves(items),
        signed.seen(),
        2,
        rng=np.random.default_rng(0),
    )
    found = signed.to_users(leading)

    bases = [np.linalg.qr(points)[0] for points in (dense, found)]
    cosines = np.linalg.svd(bases[0].T @ bases[1])[1]
    assert cosines.min() > 0.999

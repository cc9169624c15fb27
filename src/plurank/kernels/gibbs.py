"""One Gibbs sweep over users with latent utilities; source, with the model: ``native/gibbs.cpp``."""

import numpy as np

from plurank.kernels.arrays import Keys, check, most_of
from plurank.kernels.library import (
    CODES,
    FLOATS,
    INT,
    INTS,
    KEYS,
    OUT_FLOATS,
    function,
)
from plurank.kernels.observed import KINDS, LINKED, NO_ERRORS, Observed, UserPrior, padded
from plurank.kernels.threads import run
from plurank.types import Codes, Floats, Integers

_draw_users = function(
    "draw_users", INT, INT, INT, INTS, CODES, CODES, INTS, CODES, FLOATS, INT, INT, INT, FLOATS, INT, FLOATS, FLOATS,
    INT, FLOATS, FLOATS, INT, FLOATS, KEYS, INT, OUT_FLOATS, OUT_FLOATS, OUT_FLOATS, OUT_FLOATS, INT, OUT_FLOATS,
)  # fmt: skip
_gibbs_memory = function("gibbs_memory", INT, INT, INT, INT, returns=INT)
_sum_by_item = function(
    "sum_by_item", INT, INT, INTS, CODES, CODES, FLOATS, FLOATS, INT, OUT_FLOATS, OUT_FLOATS, OUT_FLOATS
)
_sum_by_item_memory = function("sum_by_item_memory", INT, returns=INT)
_draw_items = function(
    "draw_items", INT, INT, INT, FLOATS, FLOATS, FLOATS, INT, FLOATS, INT, KEYS, OUT_FLOATS, OUT_FLOATS, OUT_FLOATS
)
_draw_items_memory = function("draw_items_memory", INT, returns=INT)


def draw_users(
    observed: Observed,
    items: Floats,
    prior: UserPrior,
    factor_means: Floats,
    key: Keys,
    base: int,
    users: Floats,
    cuts: Floats,
    w: Floats,
    errors: Floats = NO_ERRORS,
) -> Floats:
    """Draw thresholds, utilities w, weights and factors of every user in place, given the items.

    items (Q, width), users (M, width), cuts (M, C), w (n,), factor_means (M, F). Users are numbered from base on: their
    draws depend on the key (1,) and that number. errors (2,): standard deviation of the errors of comparisons, and
    another one to try. Returns log-likelihoods (M, 3): as they are; with other errors; and with the latter in other
    units, see ``native/gibbs.cpp``.
    """
    offsets, n = observed.offsets, len(observed.codes)
    n_users, n_factors = factor_means.shape
    n_rankings, n_cuts = prior.counts.shape[-1], cuts.shape[1]
    width = padded(1 + n_rankings + n_factors)
    check(len(offsets) == n_users + 1 and offsets[-1] == n == len(w))
    if observed.kind in LINKED:
        check(len(observed.link_offsets) == n + 1 and observed.link_offsets[-1] == len(observed.links))
    else:
        check(len(observed.levels) == n)
    check(items.shape[1] == width and users.shape == (n_users, width) and len(cuts) == n_users and len(key) == 1)
    check(errors.shape == (2,))
    factor_precision = np.ones(n_factors) if prior.factor_precision is None else prior.factor_precision
    for array, shape in ((prior.counts, (n_rankings,)), (factor_precision, (n_factors,)), (prior.cut_mean, (n_cuts,))):
        check(array.shape in (shape, (n_users, *shape)))
    check(prior.cut_precision.shape == (*prior.cut_mean.shape, n_cuts))
    logs, most = np.empty((n_users, 3)), most_of(offsets)
    run(
        _draw_users, n_users, n * (20.0 * (n_cuts + 2) + width * width), KINDS.index(observed.kind), offsets,
        observed.codes, observed.levels, observed.link_offsets, observed.links, items, n_rankings, n_factors, n_cuts,
        *_steps(prior.counts), factor_means, *_steps(factor_precision), np.ascontiguousarray(prior.cut_precision),
        *_steps(prior.cut_mean), errors, key, base, users, cuts, w, logs, most,
        memory=_gibbs_memory(n_rankings, n_factors, n_cuts, most),
    )  # fmt: skip
    return logs


def _steps(array: Floats) -> tuple[Floats, int]:
    """Return an array as kernels take it, and how many of its last axis lie between users: 0 where they share it."""
    return np.ascontiguousarray(array), array.shape[-1] if array.ndim > 1 else 0


def sum_by_item(
    starts: Integers, positions: Codes, owners: Codes, users: Floats, w: Floats, size: int
) -> tuple[Floats, Floats]:
    """Sum, for every item, products of its users' vectors, (Q, size, width), and their vectors times w, (Q, width).

    The observations of item i are number ``positions[starts[i]:starts[i + 1]]`` of w (n,), of users ``owners``. Of the
    products only the upper triangle has a meaning.
    """
    check(len(positions) == len(owners) == len(w) == starts[-1] and users.shape[1] == padded(size))
    n_items = len(starts) - 1
    products, sums = np.empty((n_items, size, users.shape[1])), np.empty((n_items, users.shape[1]))
    run(
        _sum_by_item, n_items, len(w) * size * size / 2, starts, positions, owners, users, w, size, products, sums,
        memory=_sum_by_item_memory(size),
    )  # fmt: skip
    return products, sums


def draw_items(products: Floats, sums: Floats, precision: Floats, right: Floats, key: Keys) -> tuple[Floats, Floats]:
    """Draw the items' vectors (Q, width), given sums over users and a Gaussian prior.

    precision (size, size) and right = precision times mean (size,), or one of each for every item. Returns also
    log-likelihoods of w with the items integrated out, (Q,), up to what does not depend on the users' vectors.
    """
    n_items, size, width = products.shape
    check(sums.shape == (n_items, width) and precision.shape[-2:] == (size, size) and right.shape[-1] == size)
    check(precision.ndim == 2 or len(precision) == n_items)
    check(width == padded(size) and len(key) == 1)
    check(right.ndim == 1 or len(right) == n_items)
    items, logs = np.empty((n_items, width)), np.empty(n_items)
    run(
        _draw_items, n_items, n_items * size**3, size, products, sums, np.ascontiguousarray(precision),
        size * size if precision.ndim == 3 else 0, np.ascontiguousarray(right), size if right.ndim == 2 else 0, key,
        items, logs, memory=_draw_items_memory(size),
    )  # fmt: skip
    return items, logs

"""Arguments of ``kernels.draw_users``, simulated from its model of users with latent utilities."""

from typing import NamedTuple

import numpy as np

from plurank.kernels import Observed, UserPrior, padded


class Sweep(NamedTuple):
    """The arguments of ``kernels.draw_users``, in its order."""

    observed: Observed
    items: np.ndarray
    prior: UserPrior
    factor_means: np.ndarray
    key: np.ndarray
    base: int
    users: np.ndarray
    cuts: np.ndarray
    w: np.ndarray

    def copied(self):
        """The same with a state of its own."""
        return self._replace(users=self.users.copy(), cuts=self.cuts.copy(), w=self.w.copy())

    def again(self, number):
        """The same state with the key of another sweep."""
        return self._replace(key=self.key + np.uint64(number))

    def part(self, first, last):
        """Users first to last - 1 alone; the state is shared."""
        observed, own = self.observed, slice(first, last)
        begin, end = observed.offsets[first], observed.offsets[last]
        links = observed.link_offsets[begin : end + 1]
        some = observed._replace(
            offsets=observed.offsets[first : last + 1] - begin,
            codes=observed.codes[begin:end],
            levels=observed.levels[begin:end],
        )
        if observed.kind == "compared":
            some = some._replace(link_offsets=links - links[0], links=observed.links[links[0] : links[-1]])
        return self._replace(
            observed=some, factor_means=self.factor_means[own], base=self.base + first, users=self.users[own],
            cuts=self.cuts[own], w=self.w[begin:end],
        )  # fmt: skip


def simulate_sweep(rng, kind, sizes, n_rankings, n_factors, n_cuts, n_items=8, counts=None, scale=1.0):
    """Users with sizes (M,) observations each: items, priors, users and utilities from the model, and what they say."""
    size, n_users, n = 1 + n_rankings + n_factors, len(sizes), int(np.sum(sizes))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    owners, width = np.repeat(np.arange(n_users), sizes), padded(size)
    items, users = np.zeros((n_items, width)), np.zeros((n_users, width))
    items[:, :size] = scale * rng.standard_normal((n_items, size))
    factor_means = 0.5 * rng.standard_normal((n_users, n_factors))
    counts = rng.uniform(0.3, 3.0, n_rankings) if counts is None else counts
    users[:, 0] = 1.0
    users[:, 1 : 1 + n_rankings] = rng.dirichlet(counts, n_users)
    users[:, 1 + n_rankings : size] = factor_means + rng.standard_normal((n_users, n_factors))
    root = 0.3 * rng.standard_normal((n_cuts, n_cuts)) + np.eye(n_cuts)
    mean = np.concatenate([[-1.0], np.zeros(n_cuts)])[:n_cuts]
    cuts = mean + rng.standard_normal((n_users, n_cuts)) @ np.linalg.inv(root).T
    prior = UserPrior(counts, mean, root.T @ root)
    codes = rng.integers(0, n_items, n).astype(np.int32)
    w = (items[codes] * users[owners]).sum(axis=1) + rng.standard_normal(n)
    levels = np.zeros(n)
    if kind == "rated":
        levels = (w[:, None] > thresholds(cuts)[owners]).sum(axis=1)
    elif kind == "ranked":  # ties, and ranks that nobody has, wherever they fall
        levels[np.lexsort([w, owners])] = np.cumsum(rng.integers(0, 3, n))
    order = np.lexsort([levels, owners])
    codes, w, levels = codes[order], w[order], levels[order]
    observed = Observed(kind, offsets, codes, levels.astype(np.int32))
    if kind == "compared":
        observed = observed._replace(**_compare(rng, offsets, owners, w))
    key = rng.integers(0, 2**64, 1, dtype=np.uint64)
    return Sweep(observed, items, prior, factor_means, key, 5, users, cuts, w)


def thresholds(cuts):
    """Thresholds (M, C) from their coordinates: the first, and the logarithms of gaps."""
    return np.cumsum(np.concatenate([cuts[:, :1], np.exp(cuts[:, 1:])], axis=1), axis=1)


def _compare(rng, offsets, owners, w):
    """Compare every observed item with another one of the same user, where there is one."""
    sizes = np.diff(offsets)[owners]
    one = np.flatnonzero(sizes > 1)
    places = one - offsets[owners[one]]
    other = offsets[owners[one]] + (places + rng.integers(1, sizes[one])) % sizes[one]
    winner, loser = np.where(w[one] > w[other], [one, other], [other, one])
    starts = offsets[owners[one]]
    sides = np.concatenate([winner, loser])
    links = np.concatenate([loser - starts + 1, -(winner - starts + 1)])[np.argsort(sides, kind="stable")]
    link_offsets = np.concatenate([[0], np.cumsum(np.bincount(sides, minlength=len(w)))])
    return {
        "link_offsets": link_offsets.astype(np.int64),
        "links": links.astype(np.int32),
        "levels": np.zeros(0, np.int32),
    }

"""Arguments of ``kernels.draw_users``, simulated from its model of users with latent utilities."""

from typing import NamedTuple

import numpy as np

from plurank.kernels import Observed, UserPrior, padded

LINKED = ("compared", "compared ratings", "compared with errors")


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
    errors: np.ndarray = np.array([1.5, 1.3])

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
        if observed.kind in LINKED:
            some = some._replace(link_offsets=links - links[0], links=observed.links[links[0] : links[-1]])
        prior = self.prior.of_users(own)
        return self._replace(
            observed=some, prior=prior, factor_means=self.factor_means[own], base=self.base + first,
            users=self.users[own], cuts=self.cuts[own], w=self.w[begin:end],
        )  # fmt: skip


def simulate_sweep(rng, kind, sizes, n_rankings, n_factors, n_cuts, n_items=8, counts=None, scale=1.0):
    """Users with sizes (M,) observations each: items, priors, users and utilities from the model, and what they say."""
    size, n_users, n = 1 + n_rankings + n_factors, len(sizes), int(np.sum(sizes))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    owners, width = np.repeat(np.arange(n_users), sizes), padded(size)
    items, users = np.zeros((n_items, width)), np.zeros((n_users, width))
    items[:, :size] = scale * rng.standard_normal((n_items, size))
    factor_means = 0.5 * rng.standard_normal((n_users, n_factors))
    if counts is None:  # one prior for all, or one for each user
        counts = rng.uniform(0.3, 3.0, (n_users, n_rankings) if rng.random() < 0.5 else n_rankings)
    root = 0.3 * rng.standard_normal((n_cuts, n_cuts)) + np.eye(n_cuts)
    mean = np.concatenate([[-1.0], np.zeros(n_cuts)])[:n_cuts]
    prior = UserPrior(counts, mean, root.T @ root)
    if rng.random() < 0.5:
        mean = mean + 0.3 * rng.standard_normal((n_users, n_cuts))
        precisions = root.T @ root * rng.uniform(0.5, 4.0, (n_users, 1, 1))
        prior = prior._replace(cut_mean=mean, cut_precision=precisions)
    factor_precision = np.ones(n_factors)
    if rng.random() < 0.5:
        factor_precision = rng.uniform(0.5, 4.0, (n_users, n_factors))
        prior = prior._replace(factor_precision=factor_precision)
    codes = np.zeros(n, np.int32)
    cuts, w, levels = np.zeros((n_users, n_cuts)), np.zeros(n), np.zeros(n)
    pairs = _choose_pairs(rng, offsets, owners, kind == "compared ratings")
    pairs = pairs if n_cuts or kind != "compared ratings" else pairs[:, :0]  # without thresholds all ratings are equal
    new = np.ones(n_users, dtype=bool)
    while new.any():  # again where ratings to compare do not differ, which users are not asked about
        users[new, 0] = 1.0
        users[new, 1 : 1 + n_rankings] = [
            rng.dirichlet(own) for own in np.broadcast_to(counts, (n_users, n_rankings))[new]
        ]
        noise = rng.standard_normal((n_users, n_factors)) / np.sqrt(factor_precision)
        users[new, 1 + n_rankings : size] = (factor_means + noise)[new]
        cuts[new] = (mean + rng.standard_normal((n_users, n_cuts)) @ np.linalg.inv(root).T)[new]
        own = new[owners]
        codes[own] = rng.integers(0, n_items, own.sum())
        w[own] = ((items[codes] * users[owners]).sum(axis=1) + rng.standard_normal(n))[own]
        levels = (w[:, None] > thresholds(cuts)[owners]).sum(axis=1)
        new[:] = False
        if kind == "compared ratings":
            new[owners[pairs[0]][levels[pairs[0]] == levels[pairs[1]]]] = True
    if kind == "ranked":  # ties, and ranks that nobody has, wherever they fall
        levels[np.lexsort([w, owners])] = np.cumsum(rng.integers(0, 3, n))
    if kind in LINKED:
        lead = 1.5 * rng.standard_normal(pairs.shape[1]) if kind == "compared with errors" else 0.0
        observed = Observed(kind, offsets, codes, np.zeros(0, np.int32), *_link(offsets, owners, w, pairs, lead))
    else:
        order = np.lexsort([levels, owners])
        codes, w, levels = codes[order], w[order], levels[order]
        observed = Observed(kind, offsets, codes, levels.astype(np.int32))
    key = rng.integers(0, 2**64, 1, dtype=np.uint64)
    return Sweep(observed, items, prior, factor_means, key, 5, users, cuts, w)


def thresholds(cuts):
    """Thresholds (M, C) from their coordinates: the first, and the logarithms of gaps."""
    return np.cumsum(np.concatenate([cuts[:, :1], np.exp(cuts[:, 1:])], axis=1), axis=1)


def _choose_pairs(rng, offsets, owners, disjoint):
    """Some observed items and another one of the same user for each, where there is one, (2, n)."""
    places, sizes = np.arange(len(owners)) - offsets[owners], np.diff(offsets)[owners]
    if disjoint:  # so that a single threshold can tell all of them apart
        one = np.flatnonzero((places % 2 == 0) & (places + 1 < sizes))
        return np.stack([one, one + 1])
    one = np.flatnonzero(sizes > 1)
    return np.stack([one, offsets[owners[one]] + (places[one] + rng.integers(1, sizes[one])) % sizes[one]])


def _link(offsets, owners, w, pairs, lead):
    """Offsets and links of comparisons, whose first items have such leads by error."""
    one, other = pairs
    winner, loser = np.where(w[one] + lead > w[other], [one, other], [other, one])
    starts = offsets[owners[one]]
    sides = np.concatenate([winner, loser])
    links = np.concatenate([loser - starts + 1, -(winner - starts + 1)])[np.argsort(sides, kind="stable")]
    link_offsets = np.concatenate([[0], np.cumsum(np.bincount(sides, minlength=len(w)))])
    return link_offsets.astype(np.int64), links.astype(np.int32)

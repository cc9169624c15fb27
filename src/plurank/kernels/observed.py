"""What kernels of latent utilities take: observations of users and the priors of users."""

from typing import Literal, NamedTuple, get_args

import numpy as np

from plurank.types import Codes, Floats, Integers

N_LANES = 4
Kind = Literal["rated", "ranked", "compared", "compared ratings", "compared with errors"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NO_ERRORS = np.ones(2)  # of data without errors of comparisons
LINKED: tuple[Kind, ...] = KINDS[2:]  # those that have links


def padded(n: int) -> int:
    """Round a length up to whole vectors."""
    return -(-n // N_LANES) * N_LANES


class UserPrior(NamedTuple):
    """Priors of a user's state, the same for all or one for each user: Dirichlet counts of weights, (K,) or (M, K);
    mean and precision of thresholds, (C,) and (C, C) or (M, C) and (M, C, C); precisions of factors, (F,) or (M, F),
    None for 1.

    The coordinates of thresholds are the first of them and the logarithms of the gaps between them.
    """

    counts: Floats
    cut_mean: Floats
    cut_precision: Floats
    factor_precision: Floats | None = None

    def of_users(self, chosen: slice) -> "UserPrior":
        """Return the prior of some users."""
        cuts, factors = (self.cut_mean, self.cut_precision), self.factor_precision
        mean, precision = cuts if self.cut_mean.ndim == 1 else (each[chosen] for each in cuts)
        counts = self.counts[chosen] if self.counts.ndim == 2 else self.counts
        return UserPrior(counts, mean, precision, factors if factors is None or factors.ndim == 1 else factors[chosen])

    def for_each(self, n_users: int, n_factors: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Return all parts once for each of so many users."""
        n_rankings, n_cuts = self.counts.shape[-1], self.cut_mean.shape[-1]
        precision = np.ones(n_factors) if self.factor_precision is None else self.factor_precision
        return (
            np.broadcast_to(self.counts, (n_users, n_rankings)),
            np.broadcast_to(self.cut_mean, (n_users, n_cuts)),
            np.broadcast_to(self.cut_precision, (n_users, n_cuts, n_cuts)),
            np.broadcast_to(precision, (n_users, n_factors)),
        )


class Observed(NamedTuple):
    """What users said about items: the items of user u are ``codes[offsets[u]:offsets[u + 1]]``.

    Ratings and rankings have levels (n,), and a user's items are sorted by level, the worst first. Comparisons have
    links: item e was compared with those in ``links[link_offsets[e]:link_offsets[e + 1]]``, each the place of an item
    that it beat among the user's plus 1, or minus that of an item that beat it. Compared ratings are comparisons of
    items that the user rates differently. Those with errors may contradict each other, and an item may have several
    links to another.
    """

    kind: Kind
    offsets: Integers
    codes: Codes
    levels: Codes
    link_offsets: Integers = np.zeros(1, np.int64)
    links: Codes = np.zeros(0, np.int32)

"""What kernels of latent utilities take: observations of users and the priors of users."""

from typing import Literal, NamedTuple, get_args

import numpy as np

from plurank.types import Codes, Floats, Integers

N_LANES = 4
Kind = Literal["rated", "ranked", "compared", "compared ratings"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def padded(n: int) -> int:
    """Round a length up to whole vectors."""
    return -(-n // N_LANES) * N_LANES


class UserPrior(NamedTuple):
    """Priors of users: Dirichlet counts of weights, (K,) or (M, K), mean (C,) and precision (C, C) of thresholds.

    The coordinates of thresholds are the first of them and the logarithms of the gaps between them.
    """

    counts: Floats
    cut_mean: Floats
    cut_precision: Floats


class Observed(NamedTuple):
    """What users said about items: the items of user u are ``codes[offsets[u]:offsets[u + 1]]``.

    Ratings and rankings have levels (n,), and a user's items are sorted by level, the worst first. Comparisons have
    links: item e was compared with those in ``links[link_offsets[e]:link_offsets[e + 1]]``, each the place of an item
    that it beat among the user's plus 1, or minus that of an item that beat it. Compared ratings are comparisons of
    items that the user rates differently.
    """

    kind: Kind
    offsets: Integers
    codes: Codes
    levels: Codes
    link_offsets: Integers = np.zeros(1, np.int64)
    links: Codes = np.zeros(0, np.int32)

"""Users cut into fixed blocks, so that sums over users have one order whoever adds them up."""

import numpy as np
from numpy.typing import NDArray

MOST_BLOCKS, FEWEST_BLOCKS = 64, 4
PRIVATE_BYTES = 256 * 2**20  # what all blocks together may hold in private sums


def cut_users(offsets: NDArray[np.int64], bytes_per_block: int) -> NDArray[np.int64]:
    """Give the edges of blocks of users with about as many comparisons each; they depend on the data alone."""
    n_blocks = int(np.clip(PRIVATE_BYTES // max(bytes_per_block, 1), FEWEST_BLOCKS, MOST_BLOCKS))
    wanted = np.linspace(0, offsets[-1], n_blocks + 1)[:-1]
    # the last edge is the number of users, also where the last ones have no comparisons
    return np.unique(np.append(np.searchsorted(offsets, wanted), len(offsets) - 1).astype(np.int64))

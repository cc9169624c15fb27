"""The generative model's last two lines, for many comparisons."""

import numpy as np

from plurank.kernels.compiling import kernel


@kernel()
def decide_comparisons(offsets, first, second, uniforms, cumulative, places, coins, laws):
    """Draw each comparison's ranking token and let that ranking decide the pair.

    ``k = searchsorted(cumulative[u], uniforms[e], side="right")``; the winner is the item with the smaller places[.,
    k], or, where there are laws (K, 2 Q - 1), the first item if ``coins[e] < laws[k, place_second - place_first + Q -
    1]``. cumulative (M, K) are cumulated user weights, places (Q, K) int32. Gives winners, losers (n,) int32.
    """
    winners = np.empty(first.size, np.int32)
    losers = np.empty(first.size, np.int32)
    last = cumulative.shape[1] - 1
    for u in range(offsets.size - 1):
        for e in range(offsets[u], offsets[u + 1]):
            k = 0
            while k < last and uniforms[e] >= cumulative[u, k]:
                k += 1
            lead = places[second[e], k] - places[first[e], k]
            forward = coins[e] < laws[k, lead + places.shape[0] - 1] if laws.size else lead > 0
            winners[e] = first[e] if forward else second[e]
            losers[e] = second[e] if forward else first[e]
    return winners, losers

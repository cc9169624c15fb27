"""Comparisons from ratings: which pairs, and who wins."""

import numpy as np

from plurank.kernels.compiling import kernel


@kernel()
def decided_pairs(offsets, items, ratings, ties, uniforms):
    """Compare every pair of items that a user rated.

    ties: 0 ignore, 1 both ways, 2 at random with the next of uniforms. Items rated by user u are
    items[offsets[u]:offsets[u + 1]].
    ``for a in range(n): for b in range(a + 1, n): compare(a, b)``, twice: to count, then to fill.
    Gives comparison offsets (n_users + 1,), winners, losers.
    """
    n_users = offsets.size - 1
    out_offsets = np.zeros(n_users + 1, np.int64)
    per_tie = 0 if ties == 0 else (2 if ties == 1 else 1)
    for u in range(n_users):
        n = offsets[u + 1] - offsets[u]
        values = np.sort(ratings[offsets[u] : offsets[u + 1]])
        n_tied = 0
        run = 1
        for e in range(1, n + 1):
            if e < n and values[e] == values[e - 1]:
                run += 1
            else:
                n_tied += run * (run - 1) // 2
                run = 1
        out_offsets[u + 1] = out_offsets[u] + n * (n - 1) // 2 - n_tied + per_tie * n_tied
    winners = np.empty(out_offsets[-1], np.int32)
    losers = np.empty(out_offsets[-1], np.int32)
    n_draws = 0
    for u in range(n_users):
        cursor = out_offsets[u]
        for a in range(offsets[u], offsets[u + 1]):
            for b in range(a + 1, offsets[u + 1]):
                if ratings[a] == ratings[b]:
                    if ties == 0:
                        continue
                    forward = True
                    if ties == 2:
                        forward = uniforms[n_draws] < 0.5
                        n_draws += 1
                else:
                    forward = ratings[a] > ratings[b]
                winners[cursor] = items[a] if forward else items[b]
                losers[cursor] = items[b] if forward else items[a]
                cursor += 1
                if ties == 1 and ratings[a] == ratings[b]:
                    winners[cursor] = items[b]
                    losers[cursor] = items[a]
                    cursor += 1
    return out_offsets, winners, losers


@kernel()
def sample_pairs(n_rated, n_wanted, uniforms):
    """Sample distinct pairs of positions for each user, by Floyd's method with one draw a pair.

    User u gets n_wanted[u] of the codes 0, ..., n (n - 1) / 2 - 1 with n = n_rated[u]; the draws are used in order.
    A code is ``b (b - 1) / 2 + a`` for positions a < b. Gives codes (sum of n_wanted,) int64.
    """
    codes = np.empty(n_wanted.sum(), np.int64)
    cursor = 0
    for u in range(n_rated.size):
        n_pairs = n_rated[u] * (n_rated[u] - 1) // 2
        size = 4
        while size < 2 * n_wanted[u]:
            size *= 2
        table = np.full(size, -1, np.int64)
        for last in range(n_pairs - n_wanted[u], n_pairs):
            code = min(np.int64(uniforms[cursor] * (last + 1)), last)
            for _ in range(2):
                slot = (code * 0x9E3779B1) & (size - 1)
                while table[slot] >= 0 and table[slot] != code:
                    slot = (slot + 1) & (size - 1)
                if table[slot] < 0:
                    break
                code = last
            table[slot] = code
            codes[cursor] = code
            cursor += 1
    return codes


@kernel()
def expand_pairs(offsets, items, ratings, n_wanted, codes, ties, uniforms):
    """Compare the sampled pairs of each user; arguments and result as in :func:`decided_pairs`."""
    n_users = offsets.size - 1
    out_offsets = np.zeros(n_users + 1, np.int64)
    winners = np.empty(2 * codes.size if ties == 1 else codes.size, np.int32)
    losers = np.empty(winners.size, np.int32)
    n = 0
    n_draws = 0
    code_at = 0
    for u in range(n_users):
        for _ in range(n_wanted[u]):
            code = codes[code_at]
            code_at += 1
            b = np.int64((1.0 + np.sqrt(1.0 + 8.0 * code)) / 2.0)
            while b * (b - 1) // 2 > code:
                b -= 1
            while b * (b + 1) // 2 <= code:
                b += 1
            a = code - b * (b - 1) // 2 + offsets[u]
            b += offsets[u]
            tied = ratings[a] == ratings[b]
            if tied and ties == 0:
                continue
            forward = ratings[a] > ratings[b]
            if tied:
                forward = True
                if ties == 2:
                    forward = uniforms[n_draws] < 0.5
                    n_draws += 1
            winners[n] = items[a] if forward else items[b]
            losers[n] = items[b] if forward else items[a]
            n += 1
            if tied and ties == 1:
                winners[n] = items[b]
                losers[n] = items[a]
                n += 1
        out_offsets[u + 1] = n
    return out_offsets, winners[:n].copy(), losers[:n].copy()

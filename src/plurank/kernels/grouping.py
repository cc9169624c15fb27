"""Grouping in linear time: keys to codes, rows to groups, comparisons to pairs."""

import numpy as np

from plurank.kernels.compiling import kernel

MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: spreads neighbouring keys over the table


@kernel(nogil=True)
def encode_keys(keys):
    """Number distinct keys in order of appearance.

    ``_, first, codes = np.unique(keys, return_index=True, return_inverse=True)``, renumbered by ``first``.
    keys (n,) uint64 -> codes (n,) int32, first (n_distinct,) int64: where each code appears first.
    """
    bits = 10
    mask = np.uint64((1 << bits) - 1)
    table = np.full(1 << bits, -1, np.int32)
    table_keys = np.empty(1 << bits, np.uint64)
    first = np.empty(1 << bits, np.int64)
    codes = np.empty(keys.size, np.int32)
    n = 0
    for e in range(keys.size):
        key = keys[e]
        slot = (key * MIX) >> np.uint64(64 - bits)
        while table[slot] >= 0 and table_keys[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = n
            table_keys[slot] = key
            first[n] = e
            n += 1
        codes[e] = table[slot]
        if 4 * n > mask:
            bits += 2
            mask = np.uint64((1 << bits) - 1)
            table = np.full(1 << bits, -1, np.int32)
            table_keys = np.empty(1 << bits, np.uint64)
            first = np.concatenate((first[:n], np.empty((1 << bits) - n, np.int64)))
            for code in range(n):
                slot = (keys[first[code]] * MIX) >> np.uint64(64 - bits)
                while table[slot] >= 0:
                    slot = (slot + np.uint64(1)) & mask
                table[slot] = code
                table_keys[slot] = keys[first[code]]
    return codes, first[:n].copy()


@kernel()
def group(codes, n_groups):
    """Sort positions by code, keeping their order within a code.

    ``order = np.argsort(codes, kind="stable")``; offsets (n_groups + 1,) bound the groups.
    """
    offsets = np.zeros(n_groups + 1, np.int64)
    for e in range(codes.size):
        offsets[codes[e] + 1] += 1
    for g in range(n_groups):
        offsets[g + 1] += offsets[g]
    cursor = offsets[:-1].copy()
    order = np.empty(codes.size, np.int64)
    for e in range(codes.size):
        order[cursor[codes[e]]] = e
        cursor[codes[e]] += 1
    return order, offsets


@kernel()
def group_pairs(codes, n_groups, first, second):
    """Sort two columns by code: ``order, offsets = group(codes, n_groups); first[order], second[order], offsets``."""
    offsets = np.zeros(n_groups + 1, np.int64)
    for e in range(codes.size):
        offsets[codes[e] + 1] += 1
    for g in range(n_groups):
        offsets[g + 1] += offsets[g]
    cursor = offsets[:-1].copy()
    sorted_first = np.empty_like(first)
    sorted_second = np.empty_like(second)
    for e in range(codes.size):
        at = cursor[codes[e]]
        sorted_first[at] = first[e]
        sorted_second[at] = second[e]
        cursor[codes[e]] = at + 1
    return sorted_first, sorted_second, offsets


@kernel()
def index_pairs(winners, losers, n_items):
    """Number the unordered pairs that occur, sorted, without a table of all pairs.

    Row ``2 p`` is pair p won by its lower item, row ``2 p + 1`` by its higher one, so ``row ^ 1`` is the reverse.
    ``pairs, p = np.unique(np.sort((winners, losers), axis=0), axis=1, return_inverse=True)``
    Gives rows (n,) int32, lower (n_pairs,) int32, higher (n_pairs,) int32.
    """
    n = winners.size
    if n_items * n_items <= 4 * n + 65536:
        return _index_by_table(winners, losers, n_items)
    return _index_by_search(winners, losers, n_items)


@kernel()
def _index_by_table(winners, losers, n_items):
    """Number pairs through a table of all pairs, where that is no larger than the comparisons themselves."""
    table = np.full(n_items * n_items, -1, np.int32)
    for e in range(winners.size):
        table[min(winners[e], losers[e]) * n_items + max(winners[e], losers[e])] = 0
    n_pairs = (table == 0).sum()
    lower = np.empty(n_pairs, np.int32)
    higher = np.empty(n_pairs, np.int32)
    p = 0
    for key in range(table.size):
        if table[key] == 0:
            table[key] = p
            lower[p] = key // n_items
            higher[p] = key % n_items
            p += 1
    rows = np.empty(winners.size, np.int32)
    for e in range(winners.size):
        pair = table[min(winners[e], losers[e]) * n_items + max(winners[e], losers[e])]
        rows[e] = 2 * pair + (winners[e] > losers[e])
    return rows, lower, higher


@kernel()
def _index_by_search(winners, losers, n_items):
    """Number pairs from the sorted list of those that occur: memory grows with the comparisons alone."""
    n = winners.size
    offsets = np.zeros(n_items + 1, np.int64)
    for e in range(n):
        offsets[min(winners[e], losers[e]) + 1] += 1
    for i in range(n_items):
        offsets[i + 1] += offsets[i]
    cursor = offsets[:-1].copy()
    others = np.empty(n, np.int32)
    for e in range(n):
        low = min(winners[e], losers[e])
        others[cursor[low]] = max(winners[e], losers[e])
        cursor[low] += 1

    # per lower item: its distinct higher items, sorted, in place at the head of its bucket
    n_others = np.empty(n_items, np.int64)
    seen = np.full(n_items, -1, np.int32)
    for low in range(n_items):
        head = offsets[low]
        for e in range(offsets[low], offsets[low + 1]):
            if seen[others[e]] != low:
                seen[others[e]] = low
                others[head] = others[e]
                head += 1
        n_others[low] = head - offsets[low]
        others[offsets[low] : head].sort()

    n_pairs = n_others.sum()
    lower = np.empty(n_pairs, np.int32)
    higher = np.empty(n_pairs, np.int32)
    begins = np.zeros(n_items + 1, np.int64)
    p = 0
    for low in range(n_items):
        for e in range(offsets[low], offsets[low] + n_others[low]):
            lower[p] = low
            higher[p] = others[e]
            p += 1
        begins[low + 1] = p
    return find_rows(winners, losers, begins, higher), lower, higher


@kernel()
def find_rows(winners, losers, begins, higher):
    """Give the rows of comparisons, (n,) int32, among pairs that index_pairs numbered.

    higher (n_pairs,): the higher items, and begins (Q + 1,): where those of each lower item begin.
    """
    rows = np.empty(winners.size, np.int32)
    for e in range(winners.size):
        low = min(winners[e], losers[e])
        high = max(winners[e], losers[e])
        left = begins[low]
        right = begins[low + 1] - 1
        guess = left + high - low - 1  # where all pairs occur, it is right
        if guess <= right and higher[guess] == high:
            left = right = guess
        while left < right:
            middle = (left + right) // 2
            if higher[middle] < high:
                left = middle + 1
            else:
                right = middle
        rows[e] = 2 * left + (winners[e] > losers[e])
    return rows


@kernel()
def find_duplicates(offsets, winners, losers, n_items):
    """Count the comparisons that repeat an earlier one of the same user.

    ``len(rows) - len(np.unique(rows, axis=0))`` with rows = (user, winner, loser).
    """
    n_repeats = 0
    for u in range(offsets.size - 1):
        keys = winners[offsets[u] : offsets[u + 1]] * np.int64(n_items) + losers[offsets[u] : offsets[u + 1]]
        keys.sort()
        for e in range(1, keys.size):
            n_repeats += keys[e] == keys[e - 1]
    return n_repeats


@kernel()
def count_meetings(offsets, winners, losers, weights, n_items):
    """Count how many comparisons of the same user the two items of each are in, on average, (n,).

    ``(n[winners] + n[losers]) / 2`` with n = bincount of winners and losers, over the comparisons of each user.
    """
    counts = np.zeros(n_items)
    meetings = np.empty(winners.size)
    for u in range(offsets.size - 1):
        for e in range(offsets[u], offsets[u + 1]):
            weight = weights[e] if weights.size else 1.0
            counts[winners[e]] += weight
            counts[losers[e]] += weight
        for e in range(offsets[u], offsets[u + 1]):
            meetings[e] = 0.5 * (counts[winners[e]] + counts[losers[e]])
        for e in range(offsets[u], offsets[u + 1]):
            counts[winners[e]] = counts[losers[e]] = 0.0
    return meetings


@kernel()
def _is_tie(winners, losers, e, begin, end):
    """Tell whether comparison e of a user's begin, ..., end - 1 is one of two in a row that go both ways."""
    if e > begin and winners[e - 1] == losers[e] and losers[e - 1] == winners[e]:
        return True
    return e + 1 < end and winners[e + 1] == losers[e] and losers[e + 1] == winners[e]


@kernel()
def find_consistent(offsets, winners, losers, n_items):
    """Tell which users' comparisons agree with some ranking: no items i over j, ..., over i. (n_users,) of bools.

    Ties, two comparisons in a row that go both ways, are left aside. Kahn's algorithm: take away items that nobody is
    over until none is left, or only circles are.
    """
    consistent = np.empty(offsets.size - 1, np.bool_)
    above = np.zeros(n_items, np.int64)  # comparisons an item has lost to items still there
    heads = np.full(n_items, -1, np.int64)
    links = np.empty(winners.size, np.int64)
    ready = np.empty(n_items, np.int32)
    for u in range(offsets.size - 1):
        begin, end = offsets[u], offsets[u + 1]
        n_given = 0
        for e in range(begin, end):
            if _is_tie(winners, losers, e, begin, end):
                continue
            n_given += 1
            above[losers[e]] += 1
            links[e] = heads[winners[e]]
            heads[winners[e]] = e
        n_ready = 0
        for e in range(begin, end):
            if above[winners[e]] == 0 and heads[winners[e]] >= 0:
                above[winners[e]] = -1  # ready, once
                ready[n_ready] = winners[e]
                n_ready += 1
        n_taken = 0
        while n_ready > 0:
            n_ready -= 1
            e = heads[ready[n_ready]]
            while e >= 0:
                n_taken += 1
                above[losers[e]] -= 1
                if above[losers[e]] == 0 and heads[losers[e]] >= 0:
                    above[losers[e]] = -1
                    ready[n_ready] = losers[e]
                    n_ready += 1
                e = links[e]
        consistent[u] = n_taken == n_given
        for e in range(begin, end):
            above[winners[e]] = above[losers[e]] = 0
            heads[winners[e]] = -1
    return consistent

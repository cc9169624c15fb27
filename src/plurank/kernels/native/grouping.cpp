// Grouping in linear time: keys to codes, positions to groups, comparisons to rows, and what is odd about a user's
// comparisons.

#include <algorithm>

#include "lanes.hpp"

namespace plurank {
namespace {

constexpr u64 GOLDEN = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio: spreads neighbouring keys over the table

// The slot of a key in a table of 2^bits slots, or the empty one (code -1) where it belongs.
INLINE u64 find_slot(u64 key, i64 bits, const i32* codes, const u64* keys) {
    const u64 mask = (u64{1} << bits) - 1;
    u64 slot = (key * GOLDEN) >> (64 - bits);
    while (codes[slot] >= 0 && keys[slot] != key) slot = (slot + 1) & mask;
    return slot;
}

// Whether comparison e of begin, ..., end - 1 is one of two in a row that go both ways: a tie.
INLINE bool is_tie(const i32* winners, const i32* losers, i64 e, i64 begin, i64 end) {
    if (e > begin && winners[e - 1] == losers[e] && losers[e - 1] == winners[e]) return true;
    return e + 1 < end && winners[e + 1] == losers[e] && losers[e + 1] == winners[e];
}

}  // namespace

// Number distinct keys in order of appearance, from position `begin` on; first (n_distinct,) is where each appears
// first. Stops where more than a quarter of the 2^bits slots is taken, and returns the position it got to; n_distinct
// is moved on.
EXPORT i64 encode_keys(const u64* keys, i64 begin, i64 n, i64 bits, i32* slot_codes, u64* slot_keys, i64* first,
                       i64* n_distinct, i32* codes) {
    for (i64 code = 0; code < *n_distinct; ++code) {  // a larger table begins with what is known
        const u64 key = keys[first[code]], slot = find_slot(key, bits, slot_codes, slot_keys);
        slot_codes[slot] = static_cast<i32>(code);
        slot_keys[slot] = key;
    }
    for (i64 e = begin; e < n; ++e) {
        const u64 slot = find_slot(keys[e], bits, slot_codes, slot_keys);
        if (slot_codes[slot] < 0) {
            if (4 * *n_distinct >= i64{1} << bits) return e;
            slot_codes[slot] = static_cast<i32>(*n_distinct);
            slot_keys[slot] = keys[e];
            first[(*n_distinct)++] = e;
        }
        codes[e] = slot_codes[slot];
    }
    return n;
}

// Sort positions by code, keeping their order within a code; offsets (n_groups + 1,) bound the groups and are 0 before.
EXPORT void group(const i32* codes, i64 n, i64 n_groups, i64* order, i64* offsets, i64* cursor) {
    for (i64 e = 0; e < n; ++e) ++offsets[codes[e] + 1];
    for (i64 g = 0; g < n_groups; ++g) {
        offsets[g + 1] += offsets[g];
        cursor[g] = offsets[g];
    }
    for (i64 e = 0; e < n; ++e) order[cursor[codes[e]]++] = e;
}

// Rows of comparisons among sorted pairs: 2 p where the lower item of pair p won, 2 p + 1 where the higher one did.
// higher (n_pairs,) are the higher items; those of each lower item begin at begins (Q + 1,).
EXPORT void find_rows(i64 first, i64 last, const i32* winners, const i32* losers, const i64* begins, const i32* higher,
                      i32* rows) {
    for (i64 e = first; e < last; ++e) {
        const i32 low = std::min(winners[e], losers[e]), high = std::max(winners[e], losers[e]);
        i64 left = begins[low], right = begins[low + 1] - 1;
        const i64 guess = left + high - low - 1;  // right where all pairs occur
        if (guess <= right && higher[guess] == high) left = right = guess;
        while (left < right) {
            const i64 middle = (left + right) / 2;
            if (higher[middle] < high)
                left = middle + 1;
            else
                right = middle;
        }
        rows[e] = static_cast<i32>(2 * left + (winners[e] > losers[e]));
    }
}

// How many comparisons repeat an earlier one of the same user, by user; keys has room for the most comparisons of a
// user.
EXPORT void find_duplicates(i64 first, i64 last, const i64* offsets, const i32* winners, const i32* losers, i64 n_items,
                            i64* repeats, f64* memory) {
    i64* keys = reinterpret_cast<i64*>(memory);
    for (i64 u = first; u < last; ++u) {
        const i64 begin = offsets[u], n = offsets[u + 1] - begin;
        for (i64 e = 0; e < n; ++e) keys[e] = winners[begin + e] * n_items + losers[begin + e];
        std::sort(keys, keys + n);
        repeats[u] = 0;
        for (i64 e = 1; e < n; ++e) repeats[u] += keys[e] == keys[e - 1];
    }
}

// (count_winner + count_loser) / 2 of every comparison, counts of items over the weighted comparisons of its user.
EXPORT void count_meetings(i64 first, i64 last, const i64* offsets, const i32* winners, const i32* losers,
                           const f64* weights, i64 has_weights, i64 n_items, f64* meetings, f64* counts) {
    for (i64 i = 0; i < n_items; ++i) counts[i] = 0.0;
    for (i64 u = first; u < last; ++u) {
        for (i64 e = offsets[u]; e < offsets[u + 1]; ++e) {
            const f64 weight = has_weights ? weights[e] : 1.0;
            counts[winners[e]] += weight;
            counts[losers[e]] += weight;
        }
        for (i64 e = offsets[u]; e < offsets[u + 1]; ++e) meetings[e] = 0.5 * (counts[winners[e]] + counts[losers[e]]);
        for (i64 e = offsets[u]; e < offsets[u + 1]; ++e) counts[winners[e]] = counts[losers[e]] = 0.0;
    }
}

// Whether a user's comparisons, without ties, agree with some ranking: no items i over j, ..., over i. Kahn's
// algorithm: take away items that no other is over until none is left, or only cycles are. memory: 3 n_items + the most
// comparisons of a user.
EXPORT void find_consistent(i64 first, i64 last, const i64* offsets, const i32* winners, const i32* losers, i64 n_items,
                            bool* consistent, f64* memory) {
    i64 *above = reinterpret_cast<i64*>(memory), *heads = above + n_items, *ready = heads + n_items,
        *links = ready + n_items;
    for (i64 i = 0; i < n_items; ++i) {
        above[i] = 0;  // comparisons an item lost to items still there; -1: ready
        heads[i] = -1;
    }
    for (i64 u = first; u < last; ++u) {
        const i64 begin = offsets[u], end = offsets[u + 1];
        i64 n_given = 0, n_ready = 0, n_taken = 0;
        for (i64 e = begin; e < end; ++e) {
            if (is_tie(winners, losers, e, begin, end)) continue;
            ++n_given;
            ++above[losers[e]];
            links[e - begin] = heads[winners[e]];
            heads[winners[e]] = e;
        }
        for (i64 e = begin; e < end; ++e)
            if (above[winners[e]] == 0 && heads[winners[e]] >= 0) {
                above[winners[e]] = -1;
                ready[n_ready++] = winners[e];
            }
        while (n_ready > 0)
            for (i64 e = heads[ready[--n_ready]]; e >= 0; e = links[e - begin]) {
                ++n_taken;
                if (--above[losers[e]] > 0 || heads[losers[e]] < 0) continue;
                above[losers[e]] = -1;
                ready[n_ready++] = losers[e];
            }
        consistent[u] = n_taken == n_given;
        for (i64 e = begin; e < end; ++e) {
            above[winners[e]] = above[losers[e]] = 0;
            heads[winners[e]] = -1;
        }
    }
}

}  // namespace plurank

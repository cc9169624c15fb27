// Comparisons from ratings: which pairs, and who wins. Ties: 0 ignore, 1 both ways, 2 at random with the next of the
// uniforms.

#include <algorithm>

#include "lanes.hpp"

namespace plurank {
namespace {

constexpr i64 IGNORE = 0, BOTH = 1, RANDOM = 2;

// Writes comparisons of pairs of positions, one after the other.
struct Writer {
    const i32* items;
    const f64* ratings;
    i64 ties;
    const f64* uniforms;
    i32 *winners, *losers;
    i64 n;

    INLINE_MEMBER void compare(i64 a, i64 b) {
        if (ratings[a] != ratings[b]) {
            ratings[a] > ratings[b] ? write(a, b) : write(b, a);
        } else if (ties == BOTH) {
            write(a, b);
            write(b, a);
        } else if (ties == RANDOM) {
            *uniforms++ < 0.5 ? write(a, b) : write(b, a);
        }
    }

    INLINE_MEMBER void write(i64 winner, i64 loser) {
        winners[n] = items[winner];
        losers[n++] = items[loser];
    }
};

}  // namespace

// How many comparisons all pairs of every user's ratings give, as offsets (M + 1,). memory: the most ratings of a user.
EXPORT void count_decided_pairs(i64 n_users, const i64* offsets, const f64* ratings, i64 ties, i64* out_offsets,
                                f64* memory) {
    const i64 per_tie = ties == IGNORE ? 0 : ties == BOTH ? 2 : 1;
    out_offsets[0] = 0;
    for (i64 u = 0; u < n_users; ++u) {
        const i64 n = offsets[u + 1] - offsets[u];
        std::copy(ratings + offsets[u], ratings + offsets[u + 1], memory);
        std::sort(memory, memory + n);
        i64 n_tied = 0, run = 1;
        for (i64 e = 1; e <= n; ++e) {
            if (e < n && memory[e] == memory[e - 1]) {
                ++run;
            } else {
                n_tied += run * (run - 1) / 2;
                run = 1;
            }
        }
        out_offsets[u + 1] = out_offsets[u] + n * (n - 1) / 2 + (per_tie - 1) * n_tied;
    }
}

// Compare every pair of items that a user rated.
EXPORT void decide_pairs(i64 n_users, const i64* offsets, const i32* items, const f64* ratings, i64 ties,
                         const f64* uniforms, i32* winners, i32* losers) {
    Writer writer{items, ratings, ties, uniforms, winners, losers, 0};
    for (i64 u = 0; u < n_users; ++u)
        for (i64 a = offsets[u]; a < offsets[u + 1]; ++a)
            for (i64 b = a + 1; b < offsets[u + 1]; ++b) writer.compare(a, b);
}

// Sample n_wanted distinct codes of pairs of every user, by Floyd's method with one draw a pair. A code is b (b - 1) /
// 2 + a for positions a < b < n_rated. table has room for 2^n >= 2 n_wanted codes, at least four.
EXPORT void sample_pairs(i64 n_users, const i64* n_rated, const i64* n_wanted, const f64* uniforms, i64* codes,
                         i64* table) {
    for (i64 u = 0; u < n_users; ++u) {
        const i64 n_pairs = n_rated[u] * (n_rated[u] - 1) / 2;
        i64 size = 4;
        while (size < 2 * n_wanted[u]) size *= 2;
        for (i64 slot = 0; slot < size; ++slot) table[slot] = -1;
        for (i64 last = n_pairs - n_wanted[u]; last < n_pairs; ++last) {
            i64 code = min(static_cast<i64>(*uniforms++ * static_cast<f64>(last + 1)), last), slot = 0;
            for (i64 attempt = 0; attempt < 2; ++attempt) {  // a code that was drawn before is replaced by the last one
                slot = static_cast<i64>((static_cast<u64>(code) * 0x9E3779B1) & static_cast<u64>(size - 1));
                while (table[slot] >= 0 && table[slot] != code) slot = (slot + 1) & (size - 1);
                if (table[slot] < 0) break;
                code = last;
            }
            *codes++ = table[slot] = code;
        }
    }
}

// Compare the sampled pairs of every user; offsets of the comparisons (M + 1,).
EXPORT void expand_pairs(i64 n_users, const i64* offsets, const i32* items, const f64* ratings, const i64* n_wanted,
                         const i64* codes, i64 ties, const f64* uniforms, i64* out_offsets, i32* winners, i32* losers) {
    Writer writer{items, ratings, ties, uniforms, winners, losers, 0};
    out_offsets[0] = 0;
    for (i64 u = 0; u < n_users; ++u) {
        for (i64 wanted = 0; wanted < n_wanted[u]; ++wanted, ++codes) {
            i64 b = static_cast<i64>((1.0 + __builtin_sqrt(1.0 + 8.0 * static_cast<f64>(*codes))) / 2.0);
            while (b * (b - 1) / 2 > *codes) --b;  // rounding
            while (b * (b + 1) / 2 <= *codes) ++b;
            writer.compare(offsets[u] + *codes - b * (b - 1) / 2, offsets[u] + b);
        }
        out_offsets[u + 1] = writer.n;
    }
}

}  // namespace plurank

// Sums over users and over pairs that the moments of comparisons are made of.

#include "lanes.hpp"

namespace plurank {
namespace {

// out_g += sum_{e in group g} weights_e values_index_e, rows of n_columns numbers; each group in its own order
template <class Number>
INLINE void add_rows(i64 first, i64 last, const i64* begins, const i64* ends, const i32* index, const f64* weights,
                     bool has_weights, const Number* values, i64 n_columns, Number* out) {
    for (i64 g = first; g < last; ++g) {
        Number* total = out + g * n_columns;
        for (i64 e = begins[g]; e < ends[g]; ++e) {
            const Number* row = values + index[e] * n_columns;
            const f64 weight = has_weights ? weights[e] : 1.0;
            if (weight == 1.0)
                for (i64 c = 0; c < n_columns; ++c) total[c] += row[c];
            else
                for (i64 c = 0; c < n_columns; ++c) total[c] += static_cast<Number>(weight * row[c]);
        }
    }
}

}  // namespace

EXPORT void add_gathered(i64 first, i64 last, const i64* begins, const i64* ends, const i32* index, const f64* weights,
                         i64 has_weights, const f64* values, i64 n_columns, f64* out) {
    add_rows(first, last, begins, ends, index, weights, has_weights != 0, values, n_columns, out);
}

EXPORT void add_gathered_singles(i64 first, i64 last, const i64* begins, const i64* ends, const i32* index,
                                 const f64* weights, i64 has_weights, const f32* values, i64 n_columns, f32* out) {
    add_rows(first, last, begins, ends, index, weights, has_weights != 0, values, n_columns, out);
}

// Choose a random half of every user's comparisons (the larger half of an odd number) by selection sampling: comparison
// e is taken with probability (still needed) / (still to come).
EXPORT void choose_half(i64 first, i64 last, const i64* offsets, const f64* uniforms, bool* chosen) {
    for (i64 u = first; u < last; ++u) {
        i64 left = offsets[u + 1] - offsets[u], needed = (left + 1) / 2;
        for (i64 e = offsets[u]; e < offsets[u + 1]; ++e, --left) {
            chosen[e] = uniforms[e] * static_cast<f64>(left) < static_cast<f64>(needed);
            needed -= chosen[e];
        }
    }
}

// The diagonal of X' X^T: the sum over users of what a row has in half a times what it has in half b. Users are sorted
// in each part.
EXPORT void count_shared_users(i64 first, i64 last, const i64* begins_a, const i64* ends_a, const i64* begins_b,
                               const i64* ends_b, const i32* users, const f64* weights, i64 has_weights, f64* out) {
    for (i64 g = first; g < last; ++g) {
        i64 a = begins_a[g], b = begins_b[g];
        f64 total = 0.0;
        while (a < ends_a[g] && b < ends_b[g]) {
            if (users[a] < users[b]) {
                ++a;
            } else if (users[a] > users[b]) {
                ++b;
            } else {
                const i32 user = users[a];
                f64 in_a = 0.0, in_b = 0.0;
                for (; a < ends_a[g] && users[a] == user; ++a) in_a += has_weights ? weights[a] : 1.0;
                for (; b < ends_b[g] && users[b] == user; ++b) in_b += has_weights ? weights[b] : 1.0;
                total += in_a * in_b;
            }
        }
        out[g] = total;
    }
}

// Each user's wins minus losses by item as a sparse matrix by rows, items in order of appearance; returns the number of
// entries. seen (n_items,) is -1 before; indices and data have room for two entries a comparison.
EXPORT i64 signed_item_counts(i64 n_users, const i64* offsets, const i32* winners, const i32* losers,
                              const f64* weights, i64 has_weights, i64* indptr, i32* indices, f64* data, i64* seen) {
    i64 n = 0;
    indptr[0] = 0;
    for (i64 u = 0; u < n_users; ++u) {
        const i64 begin = n;  // seen: where the item's entry is, if that is one of this user's
        for (i64 e = offsets[u]; e < offsets[u + 1]; ++e) {
            const f64 weight = has_weights ? weights[e] : 1.0;
            for (const bool won : {true, false}) {
                const i32 item = won ? winners[e] : losers[e];
                if (seen[item] < begin) {
                    seen[item] = n;
                    indices[n] = item;
                    data[n++] = 0.0;
                }
                data[seen[item]] += won ? weight : -weight;
            }
        }
        indptr[u + 1] = n;
    }
    return n;
}

}  // namespace plurank

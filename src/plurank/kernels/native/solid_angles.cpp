// Algorithm 2's rows of E seen along random directions: which rows differ, and which stay above others.

#include "lanes.hpp"

namespace plurank {

// Whether two points have at least this squared distance in their first coordinates already; points (n, P), others (m,
// P) -> (n, m).
EXPORT void are_apart(i64 first, i64 last, const f32* points, const f32* others, i64 n_others, i64 n_columns,
                      i64 n_first, f64 least, bool* apart) {
    for (i64 i = first; i < last; ++i)
        for (i64 j = 0; j < n_others; ++j) {
            const f32 *one = points + i * n_columns, *other = others + j * n_columns;
            f64 total = 0.0;
            for (i64 c = 0; c < n_first && total < least; ++c) {
                const f64 difference = static_cast<f64>(one[c]) - static_cast<f64>(other[c]);
                total += difference * difference;
            }
            apart[i * n_others + j] = total >= least;
        }
}

// Take out directions along which a rival that is apart lies above a point: points and left (n, P), rivals (m, P),
// apart (n, m).
EXPORT void stay_above(i64 first, i64 last, const f32* points, const f32* rivals, const bool* apart, i64 n_rivals,
                       i64 n_columns, bool* left, f64* memory) {
    i64* which = reinterpret_cast<i64*>(memory);
    for (i64 i = first; i < last; ++i) {
        const f32* own = points + i * n_columns;
        bool* still = left + i * n_columns;
        i64 n_left = 0;
        for (i64 c = 0; c < n_columns; ++c)
            if (still[c]) which[n_left++] = c;
        for (i64 j = 0; j < n_rivals && n_left > 0; ++j) {
            if (!apart[i * n_rivals + j]) continue;
            const f32* rival = rivals + j * n_columns;
            i64 n_kept = 0;
            for (i64 at = 0; at < n_left; ++at) {
                const i64 c = which[at];
                still[c] = !(rival[c] > own[c]);
                which[n_kept] = c;
                n_kept += still[c];
            }
            n_left = n_kept;
        }
    }
}

}  // namespace plurank

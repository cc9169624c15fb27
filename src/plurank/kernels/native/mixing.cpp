// What mixed rankings predict of pairs: P(left over right) for rows of a table of memberships. Four pairs at a time.

#include "lanes.hpp"

namespace plurank {
namespace {

// Up to four pairs: their memberships, and the scores of their items. Missing ones repeat the last.
struct Pairs {
    i64 n;
    const f64 *theta[N_LANES], *left[N_LANES], *right[N_LANES];

    INLINE_MEMBER Pairs(i64 e, i64 last, const i32* rows, const i32* lefts, const i32* rights, const f64* scores,
                        const f64* thetas, i64 width)
        : n(min(N_LANES, last - e)) {
        for (i64 i = 0; i < N_LANES; ++i) {
            const i64 own = e + min(i, n - 1);
            theta[i] = thetas + rows[own] * width;
            left[i] = scores + lefts[own] * width;
            right[i] = scores + rights[own] * width;
        }
    }
    INLINE_MEMBER Lanes weights(i64 k) const { return Lanes{theta[0][k], theta[1][k], theta[2][k], theta[3][k]}; }
    INLINE_MEMBER Lanes leads(i64 k) const {
        return Lanes{left[0][k], left[1][k], left[2][k], left[3][k]} -
               Lanes{right[0][k], right[1][k], right[2][k], right[3][k]};
    }
    INLINE_MEMBER void keep(Lanes found, f64* out) const {
        for (i64 i = 0; i < n; ++i) out[i] = found[i];
    }
};

INLINE Lanes sigmoid(Lanes x) { return all(1.0) / (all(1.0) + exp(-x)); }

}  // namespace

// sum_k theta_k sigmoid(lead_k)
EXPORT void mix_probabilities(i64 first, i64 last, const i32* rows, const i32* left, const i32* right,
                              const f64* scores, const f64* theta, i64 n_rankings, f64* out) {
    for (i64 e = first; e < last; e += N_LANES) {
        const Pairs pairs(e, last, rows, left, right, scores, theta, n_rankings);
        Lanes total = all(0.0);
        for (i64 k = 0; k < n_rankings; ++k) total += pairs.weights(k) * sigmoid(pairs.leads(k));
        pairs.keep(min(total, all(1.0)), out + e);  // memberships may sum to a little more than 1
    }
}

// sigmoid(theta . lead) averaged over Dirichlet(n theta), n the posterior concentration: sigmoid(m / sqrt(1 + pi v /
// 8)) with m = theta . lead, v = (theta . lead^2 - m^2) / (n + 1)
EXPORT void mix_utilities(i64 first, i64 last, const i32* rows, const i32* left, const i32* right, const f64* scores,
                          const f64* theta, const f64* concentration, i64 n_rankings, f64* out) {
    for (i64 e = first; e < last; e += N_LANES) {
        const Pairs pairs(e, last, rows, left, right, scores, theta, n_rankings);
        Lanes mean = all(0.0), square = all(0.0);
        for (i64 k = 0; k < n_rankings; ++k) {
            const Lanes lead = pairs.leads(k), part = pairs.weights(k) * lead;
            mean += part;
            square += part * lead;
        }
        for (i64 i = 0; i < pairs.n; ++i) {
            const f64 variance = max(square[i] - mean[i] * mean[i], 0.0) / (concentration[rows[e + i]] + 1.0);
            out[e + i] = mean[i] / __builtin_sqrt(1.0 + 0x1.921fb54442d18p1 / 8.0 * variance);
        }
        const Lanes found = sigmoid(
            Lanes{out[e], out[e + min(i64{1}, pairs.n - 1)], out[e + min(i64{2}, pairs.n - 1)], out[e + pairs.n - 1]});
        pairs.keep(found, out + e);
    }
}

// sum_k theta_k laws[k, place_right - place_left + Q - 1]
EXPORT void mix_places(i64 first, i64 last, const i32* rows, const i32* left, const i32* right, const i32* places,
                       const f64* laws, const f64* theta, i64 n_items, i64 n_rankings, f64* out) {
    for (i64 e = first; e < last; ++e) {
        const i32 *one = places + left[e] * n_rankings, *other = places + right[e] * n_rankings;
        f64 total = 0.0;
        for (i64 k = 0; k < n_rankings; ++k)
            total += theta[rows[e] * n_rankings + k] * laws[k * (2 * n_items - 1) + other[k] - one[k] + n_items - 1];
        out[e] = min(total, 1.0);
    }
}

// mean_j sigmoid(scores_ik - opponents_kj); scores (n, K), opponents (K, m)
EXPORT void mean_wins(i64 first, i64 last, const f64* scores, const f64* opponents, i64 n_rankings, i64 n_opponents,
                      f64* out) {
    for (i64 i = first; i < last; ++i)
        for (i64 k = 0; k < n_rankings; ++k) {
            const f64 score = scores[i * n_rankings + k], *others = opponents + k * n_opponents;
            Lanes total = all(0.0);
            i64 j = 0;
            for (; j + N_LANES <= n_opponents; j += N_LANES) total += sigmoid(all(score) - load(others + j));
            f64 wins = sum(total);
            for (; j < n_opponents; ++j) wins += 1.0 / (1.0 + exp(others[j] - score));
            out[i * n_rankings + k] = wins / static_cast<f64>(n_opponents);
        }
}

}  // namespace plurank

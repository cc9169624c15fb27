// Points on the simplex where rankings are fixed: a user's memberships in strict rankings, and least squares.

#include "simplex.hpp"

namespace plurank {

EXPORT i64 memberships_memory(i64 n_rankings, i64 most) {
    return padded(most) * (n_rankings + 1) + n_rankings * N_LANES + 8;
}

// Every user's most probable memberships in strict rankings, by EM. A comparison has probability
// flip + (1 - 2 flip) sum_k theta_k [place_winner,k < place_loser,k]; a step is theta_k = (n_k + prior_k) / (N + sum
// prior), n_k the expected number of comparisons that ranking k made: the maximum of the posterior in the softmax
// basis, which never piles up on the border. places (Q, K), theta (M, K).
EXPORT void map_user_weights(i64 first, i64 last, const i64* offsets, const i32* winners, const i32* losers,
                             const f64* weights, i64 has_weights, const i32* places, i64 n_rankings, f64 flip,
                             const f64* prior, i64 max_rounds, f64 tolerance, f64* theta, f64* memory) {
    const f64 gain = 1.0 - 2.0 * flip;
    f64 prior_total = 0.0;
    for (i64 k = 0; k < n_rankings; ++k) prior_total += prior[k];
    Arena arena(memory);
    f64* votes = arena.take(n_rankings * N_LANES);
    for (i64 u = first; u < last; ++u) {
        const i64 begin = offsets[u], n = offsets[u + 1] - begin, n_vectors = padded(n) / N_LANES;
        Arena own = arena;
        f64 *counts = own.take(padded(n)), *agrees = own.take(padded(n) * n_rankings);  // (n_vectors, K, 4): 1 or 0
        f64 *weight = theta + u * n_rankings, total = 0.0;
        for (i64 e = 0; e < padded(n); ++e) {
            counts[e] = e >= n ? 0.0 : has_weights ? weights[begin + e] : 1.0;
            total += counts[e];
            const i64 at = begin + min(e, n - 1);
            const i32 *ahead = places + winners[at] * n_rankings, *behind = places + losers[at] * n_rankings;
            f64* to = agrees + e / N_LANES * n_rankings * N_LANES + e % N_LANES;
            for (i64 k = 0; k < n_rankings; ++k) to[k * N_LANES] = ahead[k] < behind[k] ? 1.0 : 0.0;
        }
        for (i64 round = 0; round < max_rounds; ++round) {
            for (i64 k = 0; k < n_rankings * N_LANES; ++k) votes[k] = 0.0;
            Lanes shares = all(0.0);  // sum_e counts / probability
            for (i64 v = 0; v < n_vectors; ++v) {
                const f64* agree = agrees + v * n_rankings * N_LANES;
                Lanes agreeing = all(0.0);
                for (i64 k = 0; k < n_rankings; ++k) agreeing += all(weight[k]) * load(agree + k * N_LANES);
                const Lanes share = load(counts + v * N_LANES) / (all(flip) + all(gain) * agreeing);
                shares += share;
                for (i64 k = 0; k < n_rankings; ++k)
                    store(votes + k * N_LANES, load(votes + k * N_LANES) + share * load(agree + k * N_LANES));
            }
            f64 moved = 0.0;
            for (i64 k = 0; k < n_rankings; ++k) {
                const f64 expected = weight[k] * (flip * sum(shares) + gain * sum(load(votes + k * N_LANES)));
                const f64 updated = (expected + prior[k]) / (total + prior_total);
                moved = max(moved, abs(updated - weight[k]));
                weight[k] = updated;
            }
            if (moved < tolerance) break;
        }
    }
}

// Minimise b . gram b / 2 - target . b over the simplex for every row of targets (W, K). With gram = V V^T and targets
// = X V^T this is least squares of X on the rows of V. A step moves weight from the worst coordinate in use to the best
// one as far as pays; it ends where their gradients differ by at most the tolerance, which bounds how far the objective
// is from its minimum.
EXPORT void regress_on_simplex(i64 first, i64 last, const f64* gram, i64 n_vertices, const f64* targets, f64 tolerance,
                               i64 max_steps, f64* out, f64* gradient) {
    for (i64 w = first; w < last; ++w) {
        f64* b = out + w * n_vertices;
        for (i64 k = 0; k < n_vertices; ++k) {
            f64 total = 0.0;
            for (i64 m = 0; m < n_vertices; ++m) total += gram[k * n_vertices + m];
            b[k] = 1.0 / static_cast<f64>(n_vertices);
            gradient[k] = total / static_cast<f64>(n_vertices) - targets[w * n_vertices + k];
        }
        for (i64 step = 0; step < max_steps; ++step) {
            i64 best = 0, worst = -1;
            for (i64 k = 0; k < n_vertices; ++k) {
                if (gradient[k] < gradient[best]) best = k;
                if (b[k] > 0.0 && (worst < 0 || gradient[k] > gradient[worst])) worst = k;
            }
            if (worst < 0) break;  // NaN
            const f64 gap = gradient[worst] - gradient[best];
            if (!(gap > tolerance)) break;
            const f64 *to = gram + best * n_vertices, *from = gram + worst * n_vertices;
            const f64 curvature = to[best] + from[worst] - 2.0 * to[worst];
            const bool takes_all = curvature * b[worst] <= gap;
            const f64 moved = takes_all ? b[worst] : gap / curvature;
            b[worst] = takes_all ? 0.0 : b[worst] - moved;
            b[best] += moved;
            for (i64 k = 0; k < n_vertices; ++k)
                gradient[k] += moved * (gram[k * n_vertices + best] - gram[k * n_vertices + worst]);
        }
    }
}

}  // namespace plurank

// How users deviate from the rankings they follow: one small concave problem for every user.

#include "simplex.hpp"

namespace plurank {
namespace {

constexpr i64 ROUNDS = 100;     // Newton steps; a handful do
constexpr f64 LITTLE = 1e-14;   // predicted gain of the log posterior that is none
constexpr f64 EXACT = 1e-20;    // of the square of what is to be solved for
constexpr f64 SHORTEST = 1e-6;  // step length

// One user's problem: maximise sum_e counts_e log sigmoid(odds_e + x_ahead - x_behind) - sum_k precision_k x_k^2 / 2
// over x (n,).
struct Effects {
    i64 n_comparisons, n;
    const i64 *ahead, *behind;  // places in all x; `base` is the place of the user's first
    i64 base;
    const f64 *counts, *odds;
    const f64* precision;                        // (n,)
    f64 *gradient, *step, *rest, *along, *bent;  // (n,)
    f64* bends;                                  // (n_comparisons,) curvature of each comparison

    // Log posterior at x; fills its gradient, and its diagonal Hessian.
    f64 evaluate(const f64* x, f64* hessian) const {
        f64 value = 0.0;
        for (i64 k = 0; k < n; ++k) {
            gradient[k] = -precision[k] * x[k];
            hessian[k] = precision[k];
            value -= 0.5 * precision[k] * x[k] * x[k];
        }
        for (i64 e = 0; e < n_comparisons; ++e) {
            const i64 i = ahead[e] - base, j = behind[e] - base;
            const f64 lead = odds[e] + x[i] - x[j], small = exp(-abs(lead)), large = 1.0 / (1.0 + small);
            const f64 miss = lead >= 0.0 ? small * large : large;
            value += counts[e] * (min(lead, 0.0) + log(large));
            gradient[i] += counts[e] * miss;
            gradient[j] -= counts[e] * miss;
            bends[e] = counts[e] * miss * (1.0 - miss);
            hessian[i] += bends[e];
            hessian[j] += bends[e];
        }
        return value;
    }

    // Fill step with Newton's, by conjugate gradients preconditioned with the diagonal; returns twice the gain it
    // predicts.
    f64 solve(const f64* hessian) const {
        f64 size = 0.0;
        for (i64 k = 0; k < n; ++k) {
            step[k] = 0.0;
            rest[k] = gradient[k];
            along[k] = gradient[k] / hessian[k];
            size += gradient[k] * along[k];
        }
        const f64 enough = EXACT * size;
        for (i64 round = 0; round < 2 * n + 10 && size > enough; ++round) {
            for (i64 k = 0; k < n; ++k) bent[k] = precision[k] * along[k];
            for (i64 e = 0; e < n_comparisons; ++e) {
                const i64 i = ahead[e] - base, j = behind[e] - base;
                const f64 part = bends[e] * (along[i] - along[j]);
                bent[i] += part;
                bent[j] -= part;
            }
            f64 square = 0.0;
            for (i64 k = 0; k < n; ++k) square += along[k] * bent[k];
            const f64 length = size / square, before = size;
            size = 0.0;
            for (i64 k = 0; k < n; ++k) {
                step[k] += length * along[k];
                rest[k] -= length * bent[k];
                size += rest[k] * rest[k] / hessian[k];
            }
            for (i64 k = 0; k < n; ++k) along[k] = rest[k] / hessian[k] + size / before * along[k];
        }
        f64 predicted = 0.0;
        for (i64 k = 0; k < n; ++k) predicted += gradient[k] * step[k];
        return predicted;
    }
};

}  // namespace

EXPORT i64 effects_memory(i64 most_own, i64 most) { return 6 * (most_own + 8) + most + 16; }

// x (n_own,) of users first to last - 1, each with a part of its own by edges (M + 1,), as precision (n_own,), and the
// diagonal Hessian there; x is 0 before.
EXPORT void solve_user_effects(i64 first, i64 last, const i64* offsets, const i64* edges, const i64* ahead,
                               const i64* behind, const f64* counts, const f64* odds, const f64* precision, f64* x,
                               f64* hessian, f64* memory) {
    for (i64 u = first; u < last; ++u) {
        const i64 begin = offsets[u], base = edges[u], n = edges[u + 1] - base;
        Arena arena(memory);
        Effects effects{offsets[u + 1] - begin,
                        n,
                        ahead + begin,
                        behind + begin,
                        base,
                        counts + begin,
                        odds + begin,
                        precision + base,
                        arena.take(n),
                        arena.take(n),
                        arena.take(n),
                        arena.take(n),
                        arena.take(n),
                        nullptr};
        f64 *trial = arena.take(n), *found = x + base, *curvature = hessian + base;
        effects.bends = arena.take(effects.n_comparisons);
        f64 best = effects.evaluate(found, curvature);
        for (i64 round = 0; round < ROUNDS && effects.solve(curvature) > LITTLE; ++round) {
            f64 value = -__builtin_inf();
            for (f64 length = 1.0; value < best && length > SHORTEST; length *= 0.5) {
                for (i64 k = 0; k < n; ++k) trial[k] = found[k] + length * effects.step[k];
                value = effects.evaluate(trial, curvature);
            }
            if (value < best) break;  // rounding alone is left
            best = value;
            for (i64 k = 0; k < n; ++k) found[k] = trial[k];
        }
    }
}

}  // namespace plurank

// The likelihood of whole new users by particles that read their comparisons from left to right (Wallach, Murray,
// Salakhutdinov and Mimno 2009, Algorithm 3). Ours: the particles have weights, as a particle filter's do (Buntine
// 2009), so that the estimate is right for many particles however few of the earlier tokens are drawn again; a bounded
// number of those keeps the work linear.

#include "random.hpp"
#include "simplex.hpp"

namespace plurank {
namespace {

constexpr f64 ENOUGH = 0.5;  // effective share of the particles; with fewer the heavy ones are copied

// Particles that each have a token (ranking) for every comparison read so far, and how many of each.
struct Particles {
    i64 n_rankings, n_particles, n;  // n: comparisons of the user
    const f64* prior;
    f64 *weights, *counts, *cumulated;  // (R,), (R, K), (K,)
    i32* tokens;                        // (R, n)
    f64* old_counts;                    // what is being copied
    i32* old_tokens;
    Stream stream;

    // cumulated = cumsum((prior + counts) likelihoods); returns the total
    f64 cumulate(i64 r, const f64* likelihoods) {
        f64 total = 0.0;
        for (i64 k = 0; k < n_rankings; ++k)
            cumulated[k] = total += (prior[k] + counts[r * n_rankings + k]) * likelihoods[k];
        return total;
    }

    // Draw a token in proportion to what was cumulated.
    void draw(i64 r, i64 e) {
        const f64 wanted = stream.next() * cumulated[n_rankings - 1];
        i64 k = 0;
        while (k < n_rankings - 1 && wanted >= cumulated[k]) ++k;
        tokens[r * n + e] = static_cast<i32>(k);
        counts[r * n_rankings + k] += 1.0;
    }

    // Copy particles in proportion to their weights, which sum to 1 (systematic resampling), and weigh all alike.
    void copy_heavy(i64 n_read) {
        for (i64 i = 0; i < n_particles * n_rankings; ++i) old_counts[i] = counts[i];
        for (i64 i = 0; i < n_particles * n; ++i) old_tokens[i] = tokens[i];
        const f64 shift = stream.next(), share = static_cast<f64>(n_particles);
        i64 chosen = 0;
        f64 reached = weights[0];
        for (i64 r = 0; r < n_particles; ++r) {
            while (chosen < n_particles - 1 && (shift + static_cast<f64>(r)) / share >= reached)
                reached += weights[++chosen];
            for (i64 e = 0; e < n_read; ++e) tokens[r * n + e] = old_tokens[chosen * n + e];
            for (i64 k = 0; k < n_rankings; ++k) counts[r * n_rankings + k] = old_counts[chosen * n_rankings + k];
        }
        for (i64 r = 0; r < n_particles; ++r) weights[r] = 1.0 / share;
    }

    // Log-likelihood of the user's comparisons, likelihoods (n, K).
    f64 read(const f64* likelihoods, i64 most_redrawn) {
        f64 prior_total = 0.0, value = 0.0;
        for (i64 k = 0; k < n_rankings; ++k) prior_total += prior[k];
        for (i64 i = 0; i < n_particles * n_rankings; ++i) counts[i] = 0.0;
        for (i64 i = 0; i < n_particles * n; ++i) tokens[i] = 0;
        for (i64 r = 0; r < n_particles; ++r) weights[r] = 1.0 / static_cast<f64>(n_particles);
        i64 turn = 0;
        for (i64 e = 0; e < n; ++e) {
            const i64 n_redrawn = min(e, most_redrawn);
            f64 mass = 0.0, square = 0.0;
            for (i64 r = 0; r < n_particles; ++r) {
                for (i64 t = 0; t < n_redrawn; ++t) {
                    const i64 at = turn + t >= e ? turn + t - e : turn + t;
                    counts[r * n_rankings + tokens[r * n + at]] -= 1.0;
                    cumulate(r, likelihoods + at * n_rankings);
                    draw(r, at);
                }
                weights[r] *= cumulate(r, likelihoods + e * n_rankings) / (prior_total + static_cast<f64>(e));
                mass += weights[r];
                draw(r, e);
            }
            turn = (turn + n_redrawn) % (e + 1);
            if (mass == 0.0) return -__builtin_inf();
            value += log(mass);
            for (i64 r = 0; r < n_particles; ++r) {
                weights[r] /= mass;
                square += weights[r] * weights[r];
            }
            if (square * ENOUGH * static_cast<f64>(n_particles) > 1.0) copy_heavy(e + 1);
        }
        return value;
    }
};

}  // namespace

EXPORT i64 particles_memory(i64 n_rankings, i64 n_particles, i64 most) {
    return n_particles * (1 + 2 * n_rankings + most + 2) + n_rankings + 64;
}

// Estimate log E[prod_e sum_k theta_k likelihoods_ek] over theta ~ Dirichlet(prior) of users first to last - 1. At
// comparison e a particle draws up to most_redrawn of the earlier tokens again, in turns, each from (prior_k + n_k)
// likelihoods_k, n_k counting its other tokens; its weight is multiplied by sum_k (prior_k + n_k) likelihoods_ek / (sum
// prior + e); then it draws token e. The likelihood of e given those before is the growth of the weights' sum. seeds
// (M,): all that a user's draws depend on.
EXPORT void read_left_to_right(i64 first, i64 last, const i64* offsets, const f64* likelihoods, const f64* prior,
                               i64 n_rankings, const u64* seeds, i64 n_particles, i64 most_redrawn, f64* out,
                               f64* memory) {
    for (i64 u = first; u < last; ++u) {
        const i64 n = offsets[u + 1] - offsets[u];
        Arena arena(memory);
        f64 *weights = arena.take(n_particles), *counts = arena.take(n_particles * n_rankings),
            *cumulated = arena.take(n_rankings);
        f64* old_counts = arena.take(n_particles * n_rankings);
        i32 *tokens = arena.take_codes(n_particles * n), *old_tokens = arena.take_codes(n_particles * n);
        Particles particles{n_rankings, n_particles, n,          prior,      weights,   counts,
                            cumulated,  tokens,      old_counts, old_tokens, {seeds[u]}};
        out[u] = particles.read(likelihoods + offsets[u] * n_rankings, most_redrawn);
    }
}

}  // namespace plurank

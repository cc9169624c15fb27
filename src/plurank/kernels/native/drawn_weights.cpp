// The likelihood of scores and of users' Dirichlet priors with the weights integrated out by importance sampling, with
// its gradients.
//
// Draw n of user u has standardised logits eta_unk, whose sum over k is 0. The weights are
//     theta_un = softmax(v_un)        v_unk = location_uk + spread_uk eta_unk,
// where location and spread depend on the counts a_uk of the Dirichlet prior, so that draws follow their prior. A
// comparison c has the likelihood sigmoid(x_c . theta) with x_ck = s_wk - s_lk, the lead of the winner (mixing of
// utilities), or x_c . theta with x_ck = sigmoid(s_wk - s_lk) (mixing of probabilities), and counts so many times as
// its weight says. The share of a draw among those of its user is in proportion to
//     exp(offset_un + sum_k a_uk log theta_unk + sum_c weight_c log likelihood_c(theta_un)).

#include "simplex.hpp"

namespace plurank {
namespace {

constexpr f64 LEAST_LOG = -700.0;  // of a share
constexpr f64 LEAST_CHANCE = 1e-15;
constexpr i64 FACTORS = 16;  // likelihoods that are multiplied before their logarithm is taken

// Scratch memory for one user.
struct DrawnUser {
    f64 *v, *theta, *slopes;      // (K, N), the last of the log-likelihood in theta
    f64 *residuals, *logs, *sum;  // (n, N), (N,), (N,)
    f64* norm;                    // (N,), v - norm = log theta
    f64* product;                 // (N,) of likelihoods whose logarithms are not in logs yet
    f64* x;                       // (K,)

    DrawnUser(Arena& arena, i64 n_rankings, i64 n_draws, i64 most) {
        for (f64** matrix : {&v, &theta, &slopes}) *matrix = arena.take(n_rankings * n_draws);
        residuals = arena.take(most * n_draws);
        for (f64** vector : {&logs, &sum, &norm, &product}) *vector = arena.take(n_draws);
        x = arena.take(padded(n_rankings));
    }
};

INLINE f64 sigmoid(f64 x) {
    const f64 e = exp(-abs(x));
    return (x > 0.0 ? 1.0 : e) / (1.0 + e);
}

}  // namespace

EXPORT i64 weigh_draws_memory(i64 n_rankings, i64 n_draws, i64 most) {
    Arena arena(nullptr);
    DrawnUser(arena, n_rankings, n_draws, most);
    return arena.needed();
}

// Users first to last - 1 with N draws each, N a multiple of the lanes: eta (M, K, N) and offsets (M, N). Counts,
// locations, spreads, and the derivatives of the latter two in the counts are columns of priors (M, 5, K).
//
// Fills logarithms of sums over the draws (M,), shares (M, N), derivatives in the counts (M, K), and gradients (n, K)
// of users' values in the scores of the winner of each comparison; those in the scores of the loser are the opposite.
EXPORT void weigh_draws(i64 first, i64 last, const i64* offsets, const i32* winners, const i32* losers,
                        const f64* weights, i64 has_weights, const f64* scores, i64 n_rankings, i64 by_utility,
                        const f64* eta, const f64* draw_offsets, i64 n_draws, const f64* priors, f64* values,
                        f64* shares, f64* in_counts, f64* in_scores, i64 most, f64* memory) {
    Arena arena(memory);
    DrawnUser user(arena, n_rankings, n_draws, most);
    for (i64 u = first; u < last; ++u) {
        const f64 *own_eta = eta + u * n_rankings * n_draws, *counts = priors + u * 5 * n_rankings;
        const f64 *locations = counts + n_rankings, *spreads = locations + n_rankings;
        const f64 *location_slopes = spreads + n_rankings, *spread_slopes = location_slopes + n_rankings;
        f64 concentration = 0.0;
        for (i64 k = 0; k < n_rankings; ++k) concentration += counts[k];
        for (i64 d = 0; d < n_draws; d += N_LANES) {
            Lanes logs = load(draw_offsets + u * n_draws + d), top = all(-1e300), total = all(0.0);
            for (i64 k = 0; k < n_rankings; ++k) {
                const i64 at = k * n_draws + d;
                const Lanes v = all(locations[k]) + all(spreads[k]) * load(own_eta + at);
                store(user.v + at, v);
                store(user.slopes + at, all(0.0));
                top = max(top, v);
            }
            for (i64 k = 0; k < n_rankings; ++k) {
                const Lanes e = exp(load(user.v + k * n_draws + d) - top);
                store(user.theta + k * n_draws + d, e);
                total += e;
            }
            const Lanes norm = top + log(total);
            for (i64 k = 0; k < n_rankings; ++k) {
                f64* theta = user.theta + k * n_draws + d;
                store(theta, load(theta) / total);
                logs += all(counts[k]) * (load(user.v + k * n_draws + d) - norm);
            }
            store(user.norm + d, norm);
            store(user.logs + d, logs);
            store(user.product + d, all(1.0));
        }
        for (i64 c = offsets[u]; c < offsets[u + 1]; ++c) {
            const f64 *of_winner = scores + winners[c] * n_rankings, *of_loser = scores + losers[c] * n_rankings;
            for (i64 k = 0; k < n_rankings; ++k) {
                const f64 lead = of_winner[k] - of_loser[k];
                user.x[k] = by_utility ? lead : sigmoid(lead);
            }
            const Lanes weight = all(has_weights ? weights[c] : 1.0);
            f64* residuals = user.residuals + (c - offsets[u]) * n_draws;
            const bool is_last = has_weights || c + 1 == offsets[u + 1] || (c + 1 - offsets[u]) % FACTORS == 0;
            for (i64 d = 0; d < n_draws; d += N_LANES) {
                Lanes f = all(0.0), factor, residual;
                for (i64 k = 0; k < n_rankings; ++k) f += all(user.x[k]) * load(user.theta + k * n_draws + d);
                if (by_utility) {
                    const Lanes e = exp(-abs(f)), more = all(1.0) + e;
                    factor = more;  // of sigmoid(f) = exp(min(f, 0)) / more
                    residual = weight * select(f > all(0.0), e, all(1.0)) / more;
                    store(user.logs + d, load(user.logs + d) + weight * min(f, all(0.0)));
                } else {
                    factor = max(f, all(LEAST_CHANCE));
                    residual = weight / factor;
                }
                factor *= load(user.product + d);
                if (is_last) {
                    const Lanes log_factor = weight * log(factor);
                    store(user.logs + d, load(user.logs + d) + (by_utility ? -log_factor : log_factor));
                    factor = all(1.0);
                }
                store(user.product + d, factor);
                store(residuals + d, residual);
                for (i64 k = 0; k < n_rankings; ++k) {
                    f64* slope = user.slopes + k * n_draws + d;
                    store(slope, load(slope) + residual * all(user.x[k]));
                }
            }
        }
        f64 top = user.logs[0];
        for (i64 d = 1; d < n_draws; ++d) top = max(top, user.logs[d]);
        Lanes sums = all(0.0);
        f64* own_shares = shares + u * n_draws;
        for (i64 d = 0; d < n_draws; d += N_LANES) {
            const Lanes log_share = load(user.logs + d) - all(top);
            const Lanes share = select(log_share > all(LEAST_LOG), exp(log_share), all(0.0));
            store(own_shares + d, share);
            sums += share;
            Lanes mean = all(0.0);
            for (i64 k = 0; k < n_rankings; ++k)
                mean += load(user.theta + k * n_draws + d) * load(user.slopes + k * n_draws + d);
            store(user.sum + d, mean);
        }
        const f64 total = sum(sums);
        values[u] = top + log(total);
        for (i64 d = 0; d < n_draws; d += N_LANES) store(own_shares + d, load(own_shares + d) / all(total));
        for (i64 k = 0; k < n_rankings; ++k) {
            Lanes mean = all(0.0);
            for (i64 d = 0; d < n_draws; d += N_LANES) {
                const i64 at = k * n_draws + d;
                const Lanes v = load(user.v + at), theta = load(user.theta + at), share = load(own_shares + d);
                const Lanes beyond = load(user.slopes + at) - load(user.sum + d) - all(concentration);
                const Lanes step = all(location_slopes[k]) + all(spread_slopes[k]) * load(own_eta + at);
                mean += share * (v - load(user.norm + d) + (all(counts[k]) + theta * beyond) * step);
                store(user.theta + at, share * theta);
            }
            in_counts[u * n_rankings + k] = sum(mean);
        }
        for (i64 c = offsets[u]; c < offsets[u + 1]; ++c) {
            const f64* residuals = user.residuals + (c - offsets[u]) * n_draws;
            const f64 *of_winner = scores + winners[c] * n_rankings, *of_loser = scores + losers[c] * n_rankings;
            for (i64 k = 0; k < n_rankings; ++k) {
                Lanes mean = all(0.0);
                for (i64 d = 0; d < n_draws; d += N_LANES)
                    mean += load(residuals + d) * load(user.theta + k * n_draws + d);
                const f64 chance = by_utility ? 0.0 : sigmoid(of_winner[k] - of_loser[k]);
                in_scores[c * n_rankings + k] = sum(mean) * (by_utility ? 1.0 : chance * (1.0 - chance));
            }
        }
    }
}

}  // namespace plurank

// What a user's comparisons say about their memberships, as a Dirichlet: the E-step of variational LDA.

#include "lanes.hpp"

namespace plurank {
namespace {

constexpr f64 SERIES_FROM = 10.0;  // the asymptotic series is good to 1e-15 from here on

// The derivative of log Gamma(x): up by digamma(x) = digamma(x + 1) - 1 / x, then the asymptotic series.
f64 digamma(f64 x) {
    f64 below = 0.0;
    for (; x < SERIES_FROM; x += 1.0) below += 1.0 / x;
    const f64 square = 1.0 / (x * x);
    f64 tail = 1.0 / 132.0 - square * (691.0 / 32760.0 - square / 12.0);
    tail = 1.0 / 252.0 - square * (1.0 / 240.0 - square * tail);
    tail = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * tail));
    return log(x) - 0.5 / x - tail - below;
}

}  // namespace

// Fit Dirichlet(gamma) to the posterior of users first to last - 1 by coordinate ascent; gamma (M, K), values (M,) the
// comparisons' part of the bound. With a_k = exp(digamma(gamma_k) - digamma(sum gamma)) one round is gamma_k = prior_k
// + sum_e c_e a_k p_ek / sum_j a_j p_ej, and the part of the bound is sum_e c_e log(sum_k a_k p_ek). Rounds end where
// gamma moves by at most the tolerance, relative to its sum. memory: 2 K.
EXPORT void infer_dirichlets(i64 first, i64 last, const i64* offsets, const f64* likelihoods, const f64* weights,
                             i64 has_weights, const f64* prior, i64 n_rankings, i64 max_rounds, f64 tolerance,
                             f64* gammas, f64* values, f64* memory) {
    f64 *shares = memory, *sums = memory + n_rankings;
    for (i64 u = first; u < last; ++u) {
        f64* gamma = gammas + u * n_rankings;
        for (i64 round = 0;; ++round) {
            f64 concentration = 0.0, highest = -__builtin_inf(), value = 0.0, total = 0.0, moved = 0.0;
            for (i64 k = 0; k < n_rankings; ++k) {
                concentration += gamma[k];
                shares[k] = digamma(gamma[k]);
                highest = max(highest, shares[k]);
            }
            for (i64 k = 0; k < n_rankings; ++k) {
                shares[k] = exp(shares[k] - highest);
                sums[k] = 0.0;
            }
            for (i64 e = offsets[u]; e < offsets[u + 1]; ++e) {
                const f64* p = likelihoods + e * n_rankings;
                const f64 count = has_weights ? weights[e] : 1.0;
                f64 mixed = 0.0;
                for (i64 k = 0; k < n_rankings; ++k) mixed += shares[k] * p[k];
                total += count;
                value += count * log(mixed);
                for (i64 k = 0; k < n_rankings; ++k) sums[k] += count / mixed * p[k];
            }
            values[u] = value + total * (highest - digamma(concentration));
            for (i64 k = 0; k < n_rankings; ++k) {
                sums[k] = prior[k] + shares[k] * sums[k];
                moved = max(moved, abs(sums[k] - gamma[k]));
            }
            if (round == max_rounds || moved <= tolerance * concentration) break;
            for (i64 k = 0; k < n_rankings; ++k) gamma[k] = sums[k];
        }
    }
}

}  // namespace plurank

// Newton's method and Laplace's on the simplex, for one user's memberships theta (K,).
//
// Vectors have K numbers and zeros up to whole lanes (width = padded(K)), matrices rows of that width. Only the upper
// triangle of a Hessian is read. Hessians are those of the negative log posterior, so that they are positive definite.
#pragma once

#include "lanes.hpp"

namespace plurank {

constexpr f64 NEGLIGIBLE = 1e-12;  // relative gain of the log posterior at which a user's memberships have converged
constexpr f64 CERTAIN = 1e6;       // posterior concentration where the only ranking has all the weight
constexpr f64 TINY = 1e-300;

// Hands out parts of the memory that the caller provides, aligned to cache lines. Without memory it counts what is
// needed.
class Arena {
 public:
    explicit Arena(f64* memory) : begin_(memory), used_(0) {
        if (memory != nullptr)
            used_ = static_cast<i64>((64 - reinterpret_cast<std::uintptr_t>(memory) % 64) % 64 / sizeof(f64));
    }
    f64* take(i64 n) {
        f64* part = begin_ == nullptr ? nullptr : begin_ + used_;
        used_ += (n + 7) / 8 * 8;
        return part;
    }
    i32* take_codes(i64 n) { return reinterpret_cast<i32*>(take((n + 1) / 2)); }
    i64 needed() const { return used_ + 8; }  // with room to align

 private:
    f64* begin_;
    i64 used_;
};

// What Newton's and Laplace's method need for one user.
struct Simplex {
    i64 n_rankings, width;
    f64 *theta, *trial, *prior, *gradient, *step, *ones, *shift;  // (width,)
    f64 *hessian, *covariance;                                    // (width, width), of theta
    f64* diagonal;                                                // (width,) inverses of the Cholesky factor's diagonal

    Simplex(Arena& arena, i64 n_rankings) : n_rankings(n_rankings), width(padded(n_rankings)) {
        for (f64** vector : {&theta, &trial, &prior, &gradient, &step, &ones, &shift, &diagonal})
            *vector = arena.take(width);
        for (f64** matrix : {&hessian, &covariance}) *matrix = arena.take(width * width);
    }
};

// Copy K numbers; the rest of the last lanes becomes 0.
INLINE void copy_padded(const f64* from, i64 n, f64* to) {
    for (i64 k = 0; k < n; ++k) to[k] = from[k];
    for (i64 k = n; k < padded(n); ++k) to[k] = 0.0;
}

// sum_k prior_k log(theta_k)
INLINE f64 log_prior(const Simplex& s, const f64* theta) {
    Lanes total = all(0.0);
    for (i64 k = 0; k < s.width; k += N_LANES) total += load(s.prior + k) * log(max(load(theta + k), all(TINY)));
    return sum(total);
}

// Replace the upper triangle of a positive definite matrix (n, width) by U with U^T U the matrix; the inverses of U's
// diagonal go to `inverses` (n,).
INLINE void factorise(f64* matrix, f64* inverses, i64 n, i64 width) {
    for (i64 c = 0; c < n; ++c) {
        f64* row = matrix + c * width;
        const f64 inverse = 1.0 / __builtin_sqrt(max(row[c], TINY));
        inverses[c] = inverse;
        const i64 first = c / N_LANES * N_LANES;
        for (i64 m = first; m < width; m += N_LANES) store(row + m, load(row + m) * all(inverse));
        for (i64 k = c + 1; k < n; ++k) {
            f64* below = matrix + k * width;
            const Lanes factor = all(row[k]);
            for (i64 m = k / N_LANES * N_LANES; m < width; m += N_LANES)
                store(below + m, load(below + m) - factor * load(row + m));
        }
    }
}

INLINE void factorise(Simplex& s) { factorise(s.hessian, s.diagonal, s.n_rankings, s.width); }

// Solve U^T U x = right in place, given U and the inverses of its diagonal.
INLINE void solve(const Simplex& s, f64* right) {
    for (i64 c = 0; c < s.n_rankings; ++c) {  // U^T y = right
        const f64* row = s.hessian + c * s.width;
        const f64 y = right[c] * s.diagonal[c];
        for (i64 m = c + 1; m < s.n_rankings; ++m) right[m] -= y * row[m];
        right[c] = y;
    }
    for (i64 c = s.n_rankings - 1; c >= 0; --c) {  // U x = y
        const f64* row = s.hessian + c * s.width;
        f64 rest = right[c];
        for (i64 m = c + 1; m < s.n_rankings; ++m) rest -= row[m] * right[m];
        right[c] = rest * s.diagonal[c];
    }
}

// Fill s.step with the step d that maximises gradient . d - d^T H d / 2 among those that keep the sum of theta:
// d = H^-1 gradient - nu H^-1 1. Returns the length, at most 1, that leaves a tenth of every weight. H is overwritten.
INLINE f64 newton_step(Simplex& s) {
    factorise(s);
    for (i64 k = 0; k < s.width; ++k) {
        s.ones[k] = k < s.n_rankings ? 1.0 : 0.0;
        s.step[k] = k < s.n_rankings ? s.gradient[k] : 0.0;
    }
    solve(s, s.ones);
    solve(s, s.step);
    f64 steps = 0.0, total = 0.0;
    for (i64 k = 0; k < s.n_rankings; ++k) {
        steps += s.step[k];
        total += s.ones[k];
    }
    const f64 nu = steps / total;
    f64 longest = 1.0;
    for (i64 k = 0; k < s.n_rankings; ++k) {
        s.step[k] -= nu * s.ones[k];
        if (s.step[k] < 0.0) longest = min(longest, -0.9 * s.theta[k] / s.step[k]);
    }
    return longest;
}

// Replace U by its inverse V, and fill covariance with (U^T U)^-1 = V V^T.
INLINE void invert(Simplex& s) {
    f64* row = s.ones;
    for (i64 k = s.n_rankings - 1; k >= 0; --k) {  // V_k = (e_k - sum_{m > k} U_km V_m) / U_kk
        f64* factor = s.hessian + k * s.width;
        const i64 first = k / N_LANES * N_LANES;
        for (i64 m = first; m < s.width; ++m) row[m] = m == k ? 1.0 : 0.0;
        for (i64 m = k + 1; m < s.n_rankings; ++m) {
            const Lanes share = all(factor[m]);
            const f64* other = s.hessian + m * s.width;
            for (i64 c = m / N_LANES * N_LANES; c < s.width; c += N_LANES)
                store(row + c, load(row + c) - share * load(other + c));
        }
        for (i64 m = first; m < s.width; m += N_LANES) store(factor + m, load(row + m) * all(s.diagonal[k]));
    }
    for (i64 k = 0; k < s.n_rankings; ++k) {
        for (i64 m = 0; m <= k; ++m) {
            Lanes total = all(0.0);
            for (i64 c = k / N_LANES * N_LANES; c < s.width; c += N_LANES)
                total += load(s.hessian + k * s.width + c) * load(s.hessian + m * s.width + c);
            s.covariance[k * s.width + m] = s.covariance[m * s.width + k] = sum(total);
        }
        for (i64 m = s.n_rankings; m < s.width; ++m) s.covariance[k * s.width + m] = 0.0;
    }
}

// Integrate theta out by Laplace's method; returns the logarithm of the volume, up to a constant.
//
// In the softmax basis it is det(J^T H J)^-1/2 over directions that keep the sum, J = diag(theta) - theta theta^T:
// -(log det H + log 1^T H^-1 1) / 2 - sum_k log theta_k. Fills covariance = H^-1 - H^-1 1 1^T H^-1 / (1^T H^-1 1).
INLINE f64 integrate(Simplex& s) {
    factorise(s);
    for (i64 k = s.n_rankings; k < s.width; ++k)
        s.diagonal[k] = TINY;  // as theta is there below, so that its part is log 1
    Lanes volume = all(0.0);
    for (i64 k = 0; k < s.width; k += N_LANES) {
        volume += log(load(s.diagonal + k) / max(load(s.theta + k), all(TINY)));
    }
    invert(s);
    f64 total = 0.0;
    for (i64 k = 0; k < s.n_rankings; ++k) {
        Lanes across = all(0.0);
        for (i64 m = 0; m < s.width; m += N_LANES) across += load(s.covariance + k * s.width + m);
        total += s.ones[k] = sum(across);
    }
    for (i64 k = s.n_rankings; k < s.width; ++k) s.ones[k] = 0.0;
    const f64 inverse = 1.0 / total;
    for (i64 k = 0; k < s.n_rankings; ++k) {
        f64* row = s.covariance + k * s.width;
        const Lanes share = all(s.ones[k] * inverse);
        for (i64 m = 0; m < s.width; m += N_LANES) store(row + m, load(row + m) - share * load(s.ones + m));
    }
    return sum(volume) - 0.5 * log(total);
}

// Fill s.shift: how far theta's posterior mean lies from its mode, to first order. It is the covariance times the
// gradient of the log volume; s.gradient has the comparisons' part of that, which is completed here by the prior's.
INLINE void shift_of_mean(Simplex& s) {
    for (i64 k = 0; k < s.n_rankings; ++k) {
        const f64 theta = s.theta[k];
        s.gradient[k] += (s.prior[k] * s.covariance[k * s.width + k] / (theta * theta) - 1.0) / theta;
    }
    for (i64 k = s.n_rankings; k < s.width; ++k) s.gradient[k] = s.shift[k] = 0.0;
    for (i64 k = 0; k < s.n_rankings; ++k) {
        Lanes total = all(0.0);
        for (i64 m = 0; m < s.width; m += N_LANES) total += load(s.covariance + k * s.width + m) * load(s.gradient + m);
        s.shift[k] = sum(total);
    }
}

// Add scale gradient gradient^T to two matrices (K, width).
INLINE void add_outer_product(const Simplex& s, f64 scale, f64* first, f64* second) {
    for (i64 k = 0; k < s.n_rankings; ++k) {
        const Lanes part = all(scale * s.gradient[k]);
        for (i64 m = k * s.width; m < (k + 1) * s.width; m += N_LANES) {
            const Lanes product = part * load(s.gradient + m - k * s.width);
            store(first + m, load(first + m) + product);
            store(second + m, load(second + m) + product);
        }
    }
}

// theta's posterior mean: shifted, in proportion, so that no weight leaves the simplex. mean (K,)
INLINE void mean_memberships(const Simplex& s, f64* mean) {
    Lanes total = all(0.0);
    for (i64 k = 0; k < s.width; k += N_LANES) {
        const Lanes theta = load(s.theta + k), growth = load(s.shift + k) / max(theta, all(TINY));
        const Lanes moved = theta * exp(min(max(growth, all(-1.0)), all(1.0)));
        store(s.trial + k, moved);
        total += moved;
    }
    const f64 scale = 1.0 / sum(total);
    for (i64 k = 0; k < s.n_rankings; ++k) mean[k] = scale * s.trial[k];
}

// The n for which Dirichlet(n mean) has the total variance of the covariance.
INLINE f64 posterior_concentration(const Simplex& s, const f64* mean) {
    if (s.n_rankings == 1) return CERTAIN;
    f64 variance = 0.0, most = 1.0;
    for (i64 k = 0; k < s.n_rankings; ++k) {
        variance += s.covariance[k * s.width + k];
        most -= mean[k] * mean[k];
    }
    return max(most / max(variance, TINY) - 1.0, 0.0);
}

}  // namespace plurank

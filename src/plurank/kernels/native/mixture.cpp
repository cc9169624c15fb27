// One pass over the comparisons where each is made by one of the user's rankings: P(i over j) = sum_k theta_k p_k(i
// over j).
//
// A user's theta maximises log likelihood + sum_k prior_k log theta_k: the posterior in the softmax basis, where a
// Dirichlet has exponents prior_k instead of prior_k - 1. It is concave, so damped Newton steps converge quickly. Then
// theta is integrated out (Laplace): what is maximised over the rankings is their own posterior, and its gradient is a
// mean over theta, to second order.
//
// Comparisons are handled four at a time, one in each lane. p has `width` such vectors for each four comparisons, so
// that all that concerns them is close together. The last lanes of a user's comparisons are padding that counts 0.

#include <type_traits>

#include "simplex.hpp"

namespace plurank {
namespace {

constexpr i64 CHUNK = 64;            // vectors of comparisons that stay in the nearest cache
constexpr f64 LONGEST_LEAD = 200.0;  // of one score over another
constexpr f64 SMALL = 1e-250;        // products of probabilities below this would underflow
constexpr i64 FACTORS = 8;           // probabilities that are multiplied before a logarithm is taken

// The comparisons of one user.
struct Comparisons {
    i64 n, n_vectors;
    bool unit;      // all count 1
    f64* counts;    // (n_vectors, 4)
    f64* p;         // (n_vectors, width, 4) probability in every ranking of what was observed
    f64* mixed;     // (n_vectors, 4) q = theta . p
    f64* ratio;     // (n_vectors, 4)
    f64* factor;    // (n_vectors, 4)
    f64* residual;  // (n_vectors, width, 4)

    Comparisons(Arena& arena, i64 most, i64 width) : n(0), n_vectors(0), unit(true) {
        const i64 room = padded(most);
        counts = arena.take(room);
        p = arena.take(room * width);
        mixed = arena.take(room);
        ratio = arena.take(room);
        factor = arena.take(room);
        residual = arena.take(room * width);
    }

    // Begin a user with n comparisons, of which all count 1 where there are no weights.
    void begin(i64 n_own, const f64* weights) {
        n = n_own;
        n_vectors = padded(n) / N_LANES;
        unit = weights == nullptr;
        for (i64 e = 0; e < n; ++e) counts[e] = unit ? 1.0 : weights[e];
        for (i64 e = n; e < N_LANES * n_vectors; ++e) counts[e] = 0.0;
    }
};

// mixed = theta . p of every comparison
INLINE void mix(Comparisons& c, const Simplex& s, const f64* theta) {
    for (i64 v = 0; v < c.n_vectors; ++v) {
        const f64* p = c.p + v * s.width * N_LANES;
        Lanes even = all(0.0), odd = all(0.0);
        for (i64 k = 0; k < s.width; k += 2) {  // two sums, so that additions need not wait for each other
            even += all(theta[k]) * load(p + k * N_LANES);
            odd += all(theta[k + 1]) * load(p + (k + 1) * N_LANES);
        }
        store(c.mixed + v * N_LANES, even + odd);
    }
    for (i64 e = c.n; e < c.n_vectors * N_LANES; ++e) c.mixed[e] = 1.0;
}

// sum_e counts_e log(mixed_e); where all count 1, one logarithm for some factors
INLINE f64 sum_logs(const Comparisons& c) {
    Lanes total = all(0.0);
    f64 rest = 0.0;
    for (i64 begin = 0; begin < c.n_vectors; begin += FACTORS) {
        const i64 end = min(begin + FACTORS, c.n_vectors);
        Lanes product = all(1.0);
        for (i64 v = begin; v < end; ++v) product *= load(c.mixed + v * N_LANES);
        bool is_regular = true;  // no factor is tiny or NaN
        for (i64 i = 0; i < N_LANES; ++i) is_regular &= product[i] >= SMALL;
        if (!is_regular) {
            for (i64 e = begin * N_LANES; e < end * N_LANES; ++e)
                if (c.counts[e] != 0.0) rest += c.counts[e] * log(c.mixed[e]);
        } else if (c.unit) {
            total += log(product);
        } else {
            for (i64 v = begin; v < end; ++v) total += load(c.counts + v * N_LANES) * log(load(c.mixed + v * N_LANES));
        }
    }
    return sum(total) + rest;
}

// gradient_k = sum_e ratio_e p_ek
INLINE void sum_weighted(const Comparisons& c, Simplex& s) {
    for (i64 k = 0; k < s.width; k += N_LANES) {
        Lanes total[N_LANES] = {all(0.0), all(0.0), all(0.0), all(0.0)};
        for (i64 v = 0; v < c.n_vectors; ++v) {
            const f64* p = c.p + (v * s.width + k) * N_LANES;
            const Lanes ratio = load(c.ratio + v * N_LANES);
            for (i64 i = 0; i < N_LANES; ++i) total[i] += ratio * load(p + i * N_LANES);
        }
        store(s.gradient + k, sums(total[0], total[1], total[2], total[3]));
    }
}

// Call work(n) with n = 1, 2, 3 or 4 as a constant: how many of the four rankings from k on are no padding.
template <class Work>
INLINE void with_constant(i64 n, Work&& work) {
    switch (n) {
        case 1:
            return work(std::integral_constant<i64, 1>());
        case 2:
            return work(std::integral_constant<i64, 2>());
        case 3:
            return work(std::integral_constant<i64, 3>());
        default:
            return work(std::integral_constant<i64, 4>());
    }
}

// Rows k and k + 1, N columns from m on of sum_e factor_e p_e p_e^T, over some vectors of comparisons, are added to the
// Hessian.
template <i64 N>
INLINE void add_products(const Comparisons& c, Simplex& s, i64 begin, i64 end, i64 k, i64 m) {
    Lanes first[N_LANES], second[N_LANES];
    for (i64 i = 0; i < N_LANES; ++i) first[i] = second[i] = all(0.0);
    for (i64 v = begin; v < end; ++v) {
        const f64* p = c.p + v * s.width * N_LANES;
        const Lanes factor = load(c.factor + v * N_LANES);
        const Lanes one = factor * load(p + k * N_LANES), two = factor * load(p + (k + 1) * N_LANES);
        for (i64 i = 0; i < N; ++i) {
            const Lanes other = load(p + (m + i) * N_LANES);
            first[i] += one * other;
            second[i] += two * other;
        }
    }
    f64* row = s.hessian + k * s.width + m;
    store(row, load(row) + sums(first[0], first[1], first[2], first[3]));
    if (k + 1 < s.n_rankings) {
        row += s.width;
        store(row, load(row) + sums(second[0], second[1], second[2], second[3]));
    }
}

// Upper triangle of H = sum_e factor_e p_e p_e^T + diag(prior / theta^2), factor = counts / q^2
INLINE void fill_hessian(const Comparisons& c, Simplex& s) {
    for (i64 k = 0; k < s.n_rankings * s.width; ++k) s.hessian[k] = 0.0;
    for (i64 begin = 0; begin < c.n_vectors; begin += CHUNK) {
        const i64 end = min(begin + CHUNK, c.n_vectors);
        for (i64 k = 0; k < s.n_rankings; k += 2)
            for (i64 m = k / N_LANES * N_LANES; m < s.width; m += N_LANES)
                with_constant(s.n_rankings - m, [&](auto n) INLINE_LAMBDA { add_products<n>(c, s, begin, end, k, m); });
    }
    for (i64 k = 0; k < s.n_rankings; ++k) {
        f64* row = s.hessian + k * s.width;
        row[k] += s.prior[k] / (s.theta[k] * s.theta[k]);
    }
}

// mixed = 1 / q, ratio = counts / q, factor = counts / q^2
INLINE void invert_mixed(Comparisons& c) {
    for (i64 e = 0; e < c.n_vectors * N_LANES; e += N_LANES) {
        const Lanes inverse = all(1.0) / load(c.mixed + e), ratio = load(c.counts + e) * inverse;
        store(c.mixed + e, inverse);
        store(c.ratio + e, ratio);
        store(c.factor + e, ratio * inverse);
    }
}

// Improve theta by damped Newton steps, at most n_rounds of them; returns the log posterior with theta integrated out.
// Leaves 1 / q in mixed and the covariance in s.
INLINE f64 update_memberships(Comparisons& c, Simplex& s, i64 n_rounds) {
    for (i64 k = 0; k < s.width; ++k) s.trial[k] = s.theta[k];
    f64 best = -__builtin_inf(), length = 1.0;
    bool is_mixed = false;  // mixed belongs to theta
    for (i64 round = 0; round <= n_rounds; ++round) {
        mix(c, s, s.trial);
        const f64 value = sum_logs(c) + log_prior(s, s.trial);
        is_mixed = value >= best || round == 0;  // NaN stays NaN
        if (is_mixed) {
            const bool converged = value - best < NEGLIGIBLE * abs(value);
            for (i64 k = 0; k < s.width; ++k) s.theta[k] = s.trial[k];
            best = value;
            if (converged || round == n_rounds) break;
            invert_mixed(c);
            sum_weighted(c, s);
            for (i64 k = 0; k < s.n_rankings; ++k) s.gradient[k] += s.prior[k] / s.theta[k];
            fill_hessian(c, s);
            length = newton_step(s);
        } else {
            length *= 0.3;
        }
        for (i64 k = 0; k < s.n_rankings; ++k) s.trial[k] = s.theta[k] + length * s.step[k];
    }
    if (!is_mixed) mix(c, s, s.theta);
    invert_mixed(c);
    fill_hessian(c, s);
    return best + integrate(s);
}

// residual_k = (C p)_k for the covariance C of theta, N rankings from k on and V vectors of comparisons from v on.
template <i64 N, i64 V>
INLINE void turn(const Comparisons& c, const Simplex& s, i64 v, i64 k) {
    const i64 size = s.width * N_LANES;
    const f64* row = s.covariance + k;  // C is symmetric, so its rows are its columns
    Lanes total[V][N];
    for (i64 i = 0; i < N; ++i)
        for (i64 n = 0; n < V; ++n) total[n][i] = all(0.0);
    for (i64 m = 0; m < s.n_rankings; ++m, row += s.width)
        for (i64 n = 0; n < V; ++n) {
            const Lanes p = load(c.p + (v + n) * size + m * N_LANES);
            for (i64 i = 0; i < N; ++i) total[n][i] += all(row[i]) * p;
        }
    for (i64 n = 0; n < V; ++n) {
        for (i64 i = 0; i < N; ++i) store(c.residual + (v + n) * size + (k + i) * N_LANES, total[n][i]);
        for (i64 i = N; i < N_LANES; ++i) store(c.residual + (v + n) * size + (k + i) * N_LANES, all(0.0));
    }
}

// residual = C p, factor = p^T C p / q^2, and the shift of theta's mean, for which sum_e counts p_k p^T C p / q^3 is
// the comparisons' part of the gradient.
INLINE void fill_second_order(Comparisons& c, Simplex& s) {
    for (i64 k = 0; k < s.width; k += N_LANES) {
        with_constant(s.n_rankings - k, [&](auto n) INLINE_LAMBDA {
            i64 v = 0;
            for (; v + 2 <= c.n_vectors; v += 2) turn<n, 2>(c, s, v, k);
            for (; v < c.n_vectors; ++v) turn<n, 1>(c, s, v, k);
        });
    }
    for (i64 v = 0; v < c.n_vectors; ++v) {
        const f64* p = c.p + v * s.width * N_LANES;
        const f64* turned = c.residual + v * s.width * N_LANES;
        Lanes even = all(0.0), odd = all(0.0);
        for (i64 k = 0; k < s.width; k += 2) {
            even += load(turned + k * N_LANES) * load(p + k * N_LANES);
            odd += load(turned + (k + 1) * N_LANES) * load(p + (k + 1) * N_LANES);
        }
        const Lanes inverse = load(c.mixed + v * N_LANES);
        const Lanes square = (even + odd) * (inverse * inverse);
        store(c.factor + v * N_LANES, square);
        store(c.ratio + v * N_LANES, load(c.counts + v * N_LANES) * inverse * square);
    }
    sum_weighted(c, s);
    shift_of_mean(s);
}

// Add numbers of four rankings to a table.
INLINE void add(f64* to, Lanes numbers) { store(to, load(to) + numbers); }

// The gradient of each comparison in its lead under every ranking, averaged over theta, is added to its items and kept
// in residual: with C the covariance of theta and v the shift of its mean,
//   p_k (1 - p_k) (theta_k / q - (C p)_k / q^2 + (p^T C p) theta_k / q^3 + v_k / q - (v . p) theta_k / q^2).
// So is the Hessian as if one saw which ranking makes a comparison: r_k p_k (1 - p_k), r_k = theta_k p_k / q.
// sums (n_items, 2, width) has gradient and Hessian side by side.
INLINE void add_to_items(Comparisons& c, const Simplex& s, const i32* winners, const i32* losers, f64* sums,
                         bool is_large) {
    const i64 size = 2 * s.width;
    for (i64 v = 0; v < c.n_vectors; ++v) {
        const f64* p = c.p + v * s.width * N_LANES;
        f64* residual = c.residual + v * s.width * N_LANES;
        const Lanes inverse = load(c.mixed + v * N_LANES);
        const Lanes scale = load(c.counts + v * N_LANES) * inverse;
        Lanes shifted = all(0.0);
        for (i64 k = 0; k < s.n_rankings; ++k) shifted += all(s.shift[k]) * load(p + k * N_LANES);
        const Lanes square = (load(c.factor + v * N_LANES) - shifted * inverse) + all(1.0);
        f64 *ahead[N_LANES], *behind[N_LANES];
        for (i64 e = 0; e < N_LANES; ++e) {  // padding adds 0 to the items of the last comparison
            const i64 own = min(v * N_LANES + e, c.n - 1);
            ahead[e] = sums + winners[own] * size;
            behind[e] = sums + losers[own] * size;
            if (is_large) {
                const i64 later = min(own + AHEAD, c.n - 1);
                prefetch(sums + winners[later] * size);
                prefetch(sums + losers[later] * size);
            }
        }
        for (i64 k = 0; k < s.width; k += N_LANES) {
            Lanes gradient[N_LANES], hessian[N_LANES];
            for (i64 i = 0; i < N_LANES; ++i) {
                const Lanes own = load(p + (k + i) * N_LANES), theta = all(s.theta[k + i]);
                const Lanes slack = scale * own * (all(1.0) - own);
                gradient[i] =
                    slack * (theta * square + all(s.shift[k + i]) - inverse * load(residual + (k + i) * N_LANES));
                hessian[i] = slack * theta * own;
                store(residual + (k + i) * N_LANES, gradient[i]);
            }
            transpose(gradient[0], gradient[1], gradient[2], gradient[3]);
            for (i64 e = 0; e < N_LANES; ++e) {
                add(ahead[e] + k, gradient[e]);
                add(behind[e] + k, -gradient[e]);
            }
            transpose(hessian[0], hessian[1], hessian[2], hessian[3]);
            for (i64 e = 0; e < N_LANES; ++e) {
                add(ahead[e] + s.width + k, hessian[e]);
                add(behind[e] + s.width + k, hessian[e]);
            }
        }
    }
}

// Add gradient gradient^T / count of every comparison to both of its items, (n_items, K, width).
INLINE void add_information(const Comparisons& c, Simplex& s, const i32* winners, const i32* losers, f64* information) {
    const i64 size = s.n_rankings * s.width;
    for (i64 e = 0; e < c.n; ++e) {
        const f64* residual = c.residual + e / N_LANES * s.width * N_LANES + e % N_LANES;
        for (i64 k = 0; k < s.width; ++k) s.gradient[k] = residual[k * N_LANES];
        add_outer_product(s, 1.0 / c.counts[e], information + winners[e] * size, information + losers[e] * size);
    }
}

// p = sigmoid(score_winner - score_loser) in every ranking, from exp(score) or, where leads may be longer than
// LONGEST_LEAD, from the scores. No lead counts as longer, so that 1 / p^3 is a number.
INLINE void fill_from_scores(Comparisons& c, i64 width, const i32* winners, const i32* losers, const f64* table,
                             bool far, bool is_large) {
    for (i64 v = 0; v < c.n_vectors; ++v) {
        f64* p = c.p + v * width * N_LANES;
        const f64 *ahead[N_LANES], *behind[N_LANES];
        for (i64 i = 0; i < N_LANES; ++i) {
            const i64 e = min(v * N_LANES + i, c.n - 1);  // padding repeats the last comparison, and counts 0
            ahead[i] = table + winners[e] * width;
            behind[i] = table + losers[e] * width;
            if (is_large) {
                const i64 later = min(e + AHEAD, c.n - 1);
                prefetch(table + winners[later] * width);
                prefetch(table + losers[later] * width);
            }
        }
        for (i64 k = 0; k < width; k += N_LANES) {
            Lanes rows[N_LANES];
            for (i64 i = 0; i < N_LANES; ++i) {
                const Lanes one = load(ahead[i] + k), other = load(behind[i] + k);
                rows[i] = far ? all(1.0) / (all(1.0) + exp(min(other - one, all(LONGEST_LEAD)))) : one / (one + other);
            }
            transpose(rows[0], rows[1], rows[2], rows[3]);
            for (i64 i = 0; i < N_LANES; ++i) store(p + (k + i) * N_LANES, rows[i]);
        }
    }
}

// p = law_k(place_loser - place_winner) in every ranking; laws (K, 2 Q - 1), places (Q, K).
INLINE void fill_from_places(Comparisons& c, const Simplex& s, const i32* winners, const i32* losers, const i32* places,
                             const f64* laws, i64 n_items) {
    const i64 middle = n_items - 1, size = 2 * n_items - 1;
    for (i64 e = 0; e < c.n_vectors * N_LANES; ++e) {
        const i64 own = min(e, c.n - 1);
        const i32 *ahead = places + winners[own] * s.n_rankings, *behind = places + losers[own] * s.n_rankings;
        f64* p = c.p + e / N_LANES * s.width * N_LANES + e % N_LANES;
        for (i64 k = 0; k < s.width; ++k)
            p[k * N_LANES] = k < s.n_rankings ? laws[k * size + behind[k] - ahead[k] + middle] : 1.0;
    }
}

INLINE void begin_user(Simplex& s, const f64* theta, const f64* prior) {
    copy_padded(theta, s.n_rankings, s.theta);
    copy_padded(prior, s.n_rankings, s.prior);
}

}  // namespace

// Numbers of memory that a pass needs where no user has more comparisons than this.
EXPORT i64 mixture_memory(i64 n_rankings, i64 most) {
    Arena arena(nullptr);
    Simplex s(arena, n_rankings);
    Comparisons c(arena, most, s.width);
    return arena.needed();
}

// Users of blocks first_block to last_block - 1, given by edges. p_k = sigmoid(score difference): table (Q, width) has
// exp(scores), or the scores themselves where they are far apart. theta (M, K) is improved; prior has a row for all
// (prior_step 0) or one a user. Fills by block: values, sums (blocks, Q, 2, width) of gradient and Hessian, information
// (blocks, Q, K, K) if asked; by user: means (M, K) and posterior concentration (M,). Sums must be 0 before.
EXPORT void probability_pass(i64 first_block, i64 last_block, const i64* edges, const i64* offsets, const i32* winners,
                             const i32* losers, const f64* weights, i64 has_weights, const f64* table, i64 far,
                             i64 n_items, i64 n_rankings, const f64* prior, i64 prior_step, i64 n_rounds, f64* theta,
                             f64* values, f64* sums, i64 informed, f64* information, f64* means, f64* concentrations,
                             f64* memory) {
    Arena arena(memory);
    Simplex s(arena, n_rankings);
    i64 most = 0;
    for (i64 u = edges[first_block]; u < edges[last_block]; ++u) most = max(most, offsets[u + 1] - offsets[u]);
    Comparisons c(arena, most, s.width);
    const bool is_large = n_items * s.width > IN_CACHE;
    for (i64 b = first_block; b < last_block; ++b) {
        f64 total = 0.0;
        for (i64 u = edges[b]; u < edges[b + 1]; ++u) {
            const i64 begin = offsets[u];
            c.begin(offsets[u + 1] - begin, has_weights ? weights + begin : nullptr);
            begin_user(s, theta + u * n_rankings, prior + u * prior_step);
            fill_from_scores(c, s.width, winners + begin, losers + begin, table, far != 0, is_large);
            total += update_memberships(c, s, n_rounds);
            fill_second_order(c, s);
            add_to_items(c, s, winners + begin, losers + begin, sums + b * n_items * 2 * s.width, is_large);
            if (informed)
                add_information(c, s, winners + begin, losers + begin,
                                information + b * n_items * n_rankings * s.width);
            for (i64 k = 0; k < n_rankings; ++k) theta[u * n_rankings + k] = s.theta[k];
            mean_memberships(s, means + u * n_rankings);
            concentrations[u] = posterior_concentration(s, means + u * n_rankings);
        }
        values[b] = total;
    }
}

// The same for rankings that are orders: p_k = laws[k, place_loser - place_winner + Q - 1]; no sums by item.
EXPORT void places_pass(i64 first_block, i64 last_block, const i64* edges, const i64* offsets, const i32* winners,
                        const i32* losers, const f64* weights, i64 has_weights, const i32* places, const f64* laws,
                        i64 n_items, i64 n_rankings, const f64* prior, i64 prior_step, i64 n_rounds, f64* theta,
                        f64* values, f64* concentrations, f64* memory) {
    Arena arena(memory);
    Simplex s(arena, n_rankings);
    i64 most = 0;
    for (i64 u = edges[first_block]; u < edges[last_block]; ++u) most = max(most, offsets[u + 1] - offsets[u]);
    Comparisons c(arena, most, s.width);
    for (i64 b = first_block; b < last_block; ++b) {
        f64 total = 0.0;
        for (i64 u = edges[b]; u < edges[b + 1]; ++u) {
            const i64 begin = offsets[u];
            c.begin(offsets[u + 1] - begin, has_weights ? weights + begin : nullptr);
            begin_user(s, theta + u * n_rankings, prior + u * prior_step);
            fill_from_places(c, s, winners + begin, losers + begin, places, laws, n_items);
            total += update_memberships(c, s, n_rounds);
            for (i64 k = 0; k < n_rankings; ++k) theta[u * n_rankings + k] = s.theta[k];
            concentrations[u] = posterior_concentration(s, s.theta);
        }
        values[b] = total;
    }
}

// Add the parts (n_parts, size) of columns begin to end - 1 as a tree: 0 + 1, 2 + 3, ..., then pairs of these; the
// total is in part 0.
EXPORT void sum_tree(i64 begin, i64 end, f64* parts, i64 n_parts, i64 size) {
    for (i64 step = 1; step < n_parts; step *= 2)
        for (i64 b = 0; b + step < n_parts; b += 2 * step) {
            f64 *to = parts + b * size, *from = parts + (b + step) * size;
            for (i64 c = begin; c < end; ++c) to[c] += from[c];
        }
}

}  // namespace plurank

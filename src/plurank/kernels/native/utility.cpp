// One pass over the comparisons where every user averages the rankings' scores to utilities of their own:
// P(i over j) = sigmoid(u_i - u_j), u_i = sum_k theta_k scores_ik.
//
// A user's likelihood depends on the utilities of the items they compared, so that little of the work grows with K.
// Here lanes are rankings, except where the sigmoid is taken of four comparisons at a time. See mixture.cpp for prior
// and integration.

#include "simplex.hpp"

namespace plurank {
namespace {

constexpr i64 FACTORS = 8;  // probabilities that are multiplied before a logarithm is taken

// What the comparisons say at some theta.
struct Evaluation {
    f64* chance;    // (n,) probability of what was observed
    f64* residual;  // (n_own,) gradient in the utilities of the user's items
};

// One user's comparisons and the items they compared, numbered from 0 in order of appearance.
struct User {
    i64 n, n_own, width;
    bool unit;                  // all comparisons count 1
    i32 *local, *items;         // (n_items,) number of an item or -1; (n_own,) the items
    i32 *ahead, *behind;        // (n,) numbers of winners and losers
    f64 *counts, *x, *utility;  // (n,), (n_own, width) scores, (n_own,)
    Evaluation at_theta, at_trial;
    f64 *mass, *bent;    // (n_own,), (n_own, width): see fill_hessian
    f64 *turned, *rest;  // (n_own, width), (n_own,): see fill_second_order

    User(Arena& arena, i64 most, i64 n_items, i64 width) : n(0), n_own(0), width(width), unit(true) {
        const i64 room = padded(most), own = padded(min(n_items, 2 * most));
        local = arena.take_codes(n_items);
        items = arena.take_codes(own);
        ahead = arena.take_codes(room);
        behind = arena.take_codes(room);
        counts = arena.take(room);
        utility = arena.take(own);
        for (Evaluation* evaluation : {&at_theta, &at_trial}) *evaluation = {arena.take(room), arena.take(own)};
        mass = arena.take(own);
        rest = arena.take(own);
        for (f64** table : {&x, &bent, &turned}) *table = arena.take(own * width);
    }

    // Number the items of a user's comparisons and copy their scores, (Q, width).
    void begin(i64 n_comparisons, const i32* winners, const i32* losers, const f64* weights, const f64* scores) {
        n = n_comparisons;
        n_own = 0;
        unit = weights == nullptr;
        for (i64 e = 0; e < n; ++e) {
            ahead[e] = number(winners[e]);
            behind[e] = number(losers[e]);
            counts[e] = unit ? 1.0 : weights[e];
        }
        for (i64 e = n; e < padded(n); ++e) {  // padding counts 0
            ahead[e] = behind[e] = 0;
            counts[e] = 0.0;
        }
        for (i64 a = 0; a < n_own; ++a) {
            local[items[a]] = -1;
            prefetch(scores + items[min(a + AHEAD, n_own - 1)] * width);
            for (i64 k = 0; k < width; k += N_LANES) store(x + a * width + k, load(scores + items[a] * width + k));
        }
    }

 private:
    i32 number(i32 item) {
        if (local[item] < 0) {
            local[item] = static_cast<i32>(n_own);
            items[n_own++] = item;
        }
        return local[item];
    }
};

// values_a = x_a . vector for every item of the user
INLINE void project(const User& user, const f64* vector, f64* values) {
    for (i64 a = 0; a < user.n_own; ++a) {
        Lanes total = all(0.0);
        for (i64 k = 0; k < user.width; k += N_LANES) total += load(user.x + a * user.width + k) * load(vector + k);
        values[a] = sum(total);
    }
}

// values_ahead - values_behind of four comparisons
INLINE Lanes differences(const User& user, const f64* values, i64 e) {
    const i32 *i = user.ahead + e, *j = user.behind + e;
    return Lanes{values[i[0]], values[i[1]], values[i[2]], values[i[3]]} -
           Lanes{values[j[0]], values[j[1]], values[j[2]], values[j[3]]};
}

// Add one number a comparison to its winner, and subtract it from its loser.
INLINE void scatter(const User& user, Lanes numbers, i64 e, f64* values) {
    for (i64 i = 0; i < min(N_LANES, user.n - e); ++i) {
        values[user.ahead[e + i]] += numbers[i];
        values[user.behind[e + i]] -= numbers[i];
    }
}

INLINE void fill(f64* values, i64 n, f64 value) {
    for (i64 a = 0; a < n; ++a) values[a] = value;
}

// Log likelihood at theta, sum_e counts_e log sigmoid(lead_e), with what is needed of it.
INLINE f64 evaluate(const User& user, const f64* theta, Evaluation& found) {
    project(user, theta, user.utility);
    fill(found.residual, user.n_own, 0.0);
    Lanes total = all(0.0), product = all(1.0);
    i64 n_factors = 0;
    for (i64 e = 0; e < user.n; e += N_LANES) {
        const Lanes lead = differences(user, user.utility, e), counts = load(user.counts + e);
        const Lanes small = exp(-abs(lead)), large = all(1.0) / (all(1.0) + small);
        const Mask won = lead >= all(0.0);
        const Lanes miss = select(won, small * large, large);
        store(found.chance + e, select(won, large, small * large));
        scatter(user, counts * miss, e, found.residual);
        total += counts * min(lead, all(0.0));
        if (user.unit) {
            product *= select(counts > all(0.0), large, all(1.0));
            if (++n_factors == FACTORS) {
                total += log(product);
                product = all(1.0);
                n_factors = 0;
            }
        } else {
            total += counts * log(large);
        }
    }
    return sum(total + log(product));
}

// Upper triangle of H = sum_e b_e (x_i - x_j)(x_i - x_j)^T + diag(prior / theta^2), b = counts p (1 - p).
//
// mass_a is the sum of b over an item's comparisons, bent_a that of b (x_a - x_other): then H = x^T bent + the prior's
// part.
INLINE void fill_hessian(const User& user, const Evaluation& at, Simplex& s) {
    fill(user.mass, user.n_own, 0.0);
    fill(user.bent, user.n_own * user.width, 0.0);
    for (i64 e = 0; e < user.n; ++e) {
        const i64 i = user.ahead[e], j = user.behind[e];
        const f64 b = user.counts[e] * at.chance[e] * (1.0 - at.chance[e]);
        user.mass[i] += b;
        user.mass[j] += b;
        const f64 *first = user.x + i * user.width, *second = user.x + j * user.width;
        f64 *to_first = user.bent + i * user.width, *to_second = user.bent + j * user.width;
        for (i64 k = 0; k < user.width; k += N_LANES) {
            const Lanes part = all(b) * (load(first + k) - load(second + k));
            store(to_first + k, load(to_first + k) + part);
            store(to_second + k, load(to_second + k) - part);
        }
    }
    for (i64 k = 0; k < s.n_rankings; k += 2)  // two rows at a time; the second may be padding
        for (i64 m = k / N_LANES * N_LANES; m < s.width; m += N_LANES) {
            Lanes first = all(0.0), second = all(0.0);
            for (i64 a = 0; a < user.n_own; ++a) {
                const Lanes part = load(user.bent + a * user.width + m);
                first += all(user.x[a * user.width + k]) * part;
                second += all(user.x[a * user.width + k + 1]) * part;
            }
            store(s.hessian + k * s.width + m, first);
            if (k + 1 < s.n_rankings) store(s.hessian + (k + 1) * s.width + m, second);
        }
    for (i64 k = 0; k < s.n_rankings; ++k) s.hessian[k * s.width + k] += s.prior[k] / (s.theta[k] * s.theta[k]);
}

// gradient = x^T residual + prior / theta
INLINE void fill_gradient(const User& user, const f64* residual, Simplex& s) {
    for (i64 k = 0; k < s.width; k += N_LANES) {
        Lanes total = all(0.0);
        for (i64 a = 0; a < user.n_own; ++a) total += all(residual[a]) * load(user.x + a * user.width + k);
        store(s.gradient + k, total);
    }
}

// turned = rows C of every item, C the covariance of theta
INLINE void turn(const User& user, const Simplex& s, const f64* rows) {
    for (i64 a = 0; a < user.n_own; ++a)
        for (i64 k = 0; k < s.width; k += N_LANES) {
            Lanes total = all(0.0);
            for (i64 m = 0; m < s.n_rankings; ++m)
                total += all(rows[a * s.width + m]) * load(s.covariance + m * s.width + k);
            store(user.turned + a * s.width + k, total);
        }
}

// Improve theta by damped Newton steps, at most n_rounds of them; returns the log posterior with theta integrated out.
INLINE f64 update_memberships(User& user, Simplex& s, i64 n_rounds) {
    for (i64 k = 0; k < s.width; ++k) s.trial[k] = s.theta[k];
    f64 best = -__builtin_inf(), length = 1.0;
    for (i64 round = 0; round <= n_rounds; ++round) {
        const f64 value = evaluate(user, s.trial, user.at_trial) + log_prior(s, s.trial);
        if (value >= best || round == 0) {  // NaN stays NaN
            const bool converged = value - best < NEGLIGIBLE * abs(value);
            for (i64 k = 0; k < s.width; ++k) s.theta[k] = s.trial[k];
            const Evaluation before = user.at_theta;
            user.at_theta = user.at_trial;
            user.at_trial = before;
            best = value;
            if (converged || round == n_rounds) break;
            fill_gradient(user, user.at_theta.residual, s);
            for (i64 k = 0; k < s.n_rankings; ++k) s.gradient[k] += s.prior[k] / s.theta[k];
            fill_hessian(user, user.at_theta, s);
            length = newton_step(s);
        } else {
            length *= 0.3;
        }
        for (i64 k = 0; k < s.n_rankings; ++k) s.trial[k] = s.theta[k] + length * s.step[k];
    }
    fill_hessian(user, user.at_theta, s);
    return best + integrate(s);
}

// rest_a: what averaging over theta adds to the gradient in utilities, to second order. With C the covariance of theta,
// x the difference of a comparison's items, p its probability and v the shift of theta's mean: -b ((1/2 - p) x^T C x +
// v . x).
INLINE void fill_second_order(const User& user, Simplex& s) {
    turn(user, s, user.x);
    fill(user.rest, user.n_own, 0.0);
    const f64* chance = user.at_theta.chance;
    for (i64 e = 0; e < user.n; ++e) {
        const i64 i = user.ahead[e] * user.width, j = user.behind[e] * user.width;
        Lanes square = all(0.0);
        for (i64 k = 0; k < user.width; k += N_LANES)
            square +=
                (load(user.x + i + k) - load(user.x + j + k)) * (load(user.turned + i + k) - load(user.turned + j + k));
        const f64 less = user.counts[e] * chance[e] * (1.0 - chance[e]) * (0.5 - chance[e]) * sum(square);
        user.rest[user.ahead[e]] -= less;
        user.rest[user.behind[e]] += less;
    }
    fill_gradient(user, user.rest, s);
    shift_of_mean(s);
    f64* along = user.utility;
    project(user, s.shift, along);
    for (i64 e = 0; e < user.n; e += N_LANES) {
        const Lanes p = load(chance + e);
        scatter(user, -(load(user.counts + e) * p * (all(1.0) - p) * differences(user, along, e)), e, user.rest);
    }
}

// Add the gradient in the scores of the user's items, averaged over theta, and its Hessian, to sums (n_items, 2,
// width).
INLINE void add_to_items(const User& user, const Simplex& s, f64* sums) {
    turn(user, s, user.bent);
    for (i64 a = 0; a < user.n_own; ++a) {
        f64* to = sums + 2 * s.width * user.items[a];
        prefetch(sums + 2 * s.width * user.items[min(a + AHEAD, user.n_own - 1)]);
        const f64 residual = user.at_theta.residual[a];
        for (i64 k = 0; k < s.width; k += N_LANES) {
            const Lanes theta = load(s.theta + k), shift = load(s.shift + k);
            const Lanes gradient =
                all(residual + user.rest[a]) * theta + all(residual) * shift - load(user.turned + a * s.width + k);
            const Lanes spread = theta * theta + load(s.ones + k);  // the diagonal of C, see utility_pass
            store(to + k, load(to + k) + gradient);
            store(to + s.width + k, load(to + s.width + k) + all(user.mass[a]) * spread);
        }
    }
}

// Add gradient gradient^T / count of every comparison to both of its items, (n_items, K, width).
INLINE void add_information(const User& user, Simplex& s, f64* information) {
    turn(user, s, user.x);
    const i64 size = s.n_rankings * s.width;
    for (i64 e = 0; e < user.n; ++e) {
        const i64 i = user.ahead[e] * user.width, j = user.behind[e] * user.width;
        const f64 p = user.at_theta.chance[e], miss = user.counts[e] * (1.0 - p), b = miss * p;
        Lanes square = all(0.0), along = all(0.0);
        for (i64 k = 0; k < s.width; k += N_LANES) {
            const Lanes apart = load(user.x + i + k) - load(user.x + j + k);
            square += apart * (load(user.turned + i + k) - load(user.turned + j + k));
            along += apart * load(s.shift + k);
        }
        const f64 mean = miss - b * ((0.5 - p) * sum(square) + sum(along));
        for (i64 k = 0; k < s.width; k += N_LANES) {
            const Lanes turned = load(user.turned + i + k) - load(user.turned + j + k);
            store(s.gradient + k, all(mean) * load(s.theta + k) + all(miss) * load(s.shift + k) - all(b) * turned);
        }
        add_outer_product(s, 1.0 / user.counts[e], information + user.items[user.ahead[e]] * size,
                          information + user.items[user.behind[e]] * size);
    }
}

}  // namespace

// Numbers of memory that a pass needs where no user has more comparisons than this.
EXPORT i64 utility_memory(i64 n_rankings, i64 most, i64 n_items) {
    Arena arena(nullptr);
    Simplex s(arena, n_rankings);
    User user(arena, most, n_items, s.width);
    return arena.needed();
}

// Users of blocks first_block to last_block - 1; scores (Q, width). All else is as in probability_pass.
EXPORT void utility_pass(i64 first_block, i64 last_block, const i64* edges, const i64* offsets, const i32* winners,
                         const i32* losers, const f64* weights, i64 has_weights, const f64* scores, i64 n_items,
                         i64 n_rankings, const f64* prior, i64 prior_step, i64 n_rounds, f64* theta, f64* values,
                         f64* sums, i64 informed, f64* information, f64* means, f64* concentrations, f64* memory) {
    Arena arena(memory);
    Simplex s(arena, n_rankings);
    i64 most = 0;
    for (i64 u = edges[first_block]; u < edges[last_block]; ++u) most = max(most, offsets[u + 1] - offsets[u]);
    User user(arena, most, n_items, s.width);
    for (i64 i = 0; i < n_items; ++i) user.local[i] = -1;
    for (i64 b = first_block; b < last_block; ++b) {
        f64 total = 0.0;
        for (i64 u = edges[b]; u < edges[b + 1]; ++u) {
            const i64 begin = offsets[u], n = offsets[u + 1] - begin;
            if (n == 0) continue;
            user.begin(n, winners + begin, losers + begin, has_weights ? weights + begin : nullptr, scores);
            copy_padded(theta + u * n_rankings, n_rankings, s.theta);
            copy_padded(prior + u * prior_step, n_rankings, s.prior);
            total += update_memberships(user, s, n_rounds);
            fill_second_order(user, s);
            for (i64 k = 0; k < n_rankings; ++k) s.ones[k] = s.covariance[k * s.width + k];
            add_to_items(user, s, sums + b * n_items * 2 * s.width);
            if (informed) add_information(user, s, information + b * n_items * n_rankings * s.width);
            for (i64 k = 0; k < n_rankings; ++k) theta[u * n_rankings + k] = s.theta[k];
            mean_memberships(s, means + u * n_rankings);
            concentrations[u] = posterior_concentration(s, means + u * n_rankings);
        }
        values[b] = total;
    }
}

}  // namespace plurank

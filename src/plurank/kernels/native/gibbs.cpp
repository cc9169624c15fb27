// One Gibbs sweep over users who rated or ranked items, each by a latent utility
// w_ui = item_i . user_u + e_ui, e_ui ~ N(0, 1), user_u = (1, theta_u, z_u): a popularity, K rankings mixed by weights
// theta_u on the simplex, and F factors.
//
// Ratings say between which of the user's thresholds w_ui lies, rankings how the w_ui are ordered, and comparisons
// which w_ui of two is larger. Ratings and rankings of a user are sorted by level, the worst first. Every user has a
// stream of random numbers of its own, so that draws depend on the key and the user alone.

#include "normal.hpp"
#include "random.hpp"
#include "simplex.hpp"

namespace plurank {
namespace {

enum Kind : i64 { RATED, RANKED, COMPARED, COMPARED_RATINGS };

constexpr f64 UNBOUNDED = 1e6;     // a bound of w that is none
constexpr i64 MOST_SHRINKS = 200;  // of a slice; it halves about every time
constexpr f64 FARTHEST = 690.0;    // logarithm of a ratio of weights
constexpr f64 STEP = 2.0;          // of random walks, in posterior standard deviations
constexpr f64 INFORMATION = 0.6;   // about a threshold of each rating beside it

// Products of rows (n, width), summed over the rows: the upper triangle, from the lane of the diagonal on, of a matrix
// (size, width).
INLINE void add_products(const f64* const* rows, i64 n, i64 size, i64 width, f64* matrix) {
    i64 e = 0;
    for (; e + 4 <= n; e += 4) {
        const f64 *a = rows[e], *b = rows[e + 1], *c = rows[e + 2], *d = rows[e + 3];
        for (i64 k = 0; k < size; ++k) {
            const Lanes ak = all(a[k]), bk = all(b[k]), ck = all(c[k]), dk = all(d[k]);
            f64* row = matrix + k * width;
            for (i64 m = k / N_LANES * N_LANES; m < width; m += N_LANES)
                store(row + m,
                      load(row + m) + ((ak * load(a + m) + bk * load(b + m)) + (ck * load(c + m) + dk * load(d + m))));
        }
    }
    for (; e < n; ++e) {
        const f64* a = rows[e];
        for (i64 k = 0; k < size; ++k) {
            const Lanes ak = all(a[k]);
            f64* row = matrix + k * width;
            for (i64 m = k / N_LANES * N_LANES; m < width; m += N_LANES)
                store(row + m, load(row + m) + ak * load(a + m));
        }
    }
}

INLINE f64 dot(const f64* a, const f64* b, i64 width) {
    Lanes total = all(0.0);
    for (i64 m = 0; m < width; m += N_LANES) total += load(a + m) * load(b + m);
    return sum(total);
}

// Replace the lower triangle of a positive definite matrix (n, n), rows of `width`, by its Cholesky factor L.
INLINE void cholesky(f64* matrix, i64 n, i64 width) {
    for (i64 k = 0; k < n; ++k) {
        f64* row = matrix + k * width;
        for (i64 m = 0; m <= k; ++m) {
            const f64* other = matrix + m * width;
            f64 rest = row[m];
            for (i64 c = 0; c < m; ++c) rest -= row[c] * other[c];
            row[m] = m == k ? __builtin_sqrt(max(rest, TINY)) : rest / other[m];
        }
    }
}

// Draw from N(P^-1 x, P^-1), P = L L^T, into x, given standard normal draws.
INLINE void draw_normal(const f64* factor, i64 n, i64 width, const f64* normals, f64* x) {
    for (i64 k = 0; k < n; ++k) {
        f64 rest = x[k];
        for (i64 c = 0; c < k; ++c) rest -= factor[k * width + c] * x[c];
        x[k] = rest / factor[k * width + k];
    }
    for (i64 k = n - 1; k >= 0; --k) {
        f64 rest = x[k] + normals[k];
        for (i64 c = k + 1; c < n; ++c) rest -= factor[c * width + k] * x[c];
        x[k] = rest / factor[k * width + k];
    }
}

INLINE void fill_normals(Stream& stream, i64 n, f64* normals) {
    for (i64 k = 0; k < n; k += N_LANES) store(normals + k, normal_quantile(stream.next_lanes()));
}

// What is the same for all users of a sweep.
struct Population {
    i64 n_rankings, n_factors, n_cuts, size, width;
    const f64* items;  // (Q, width)
};

// Scratch memory for one user.
struct UserDraw {
    const Population& all_users;
    const f64* counts = nullptr;           // (K,) of the Dirichlet prior
    const f64* cut_mean = nullptr;         // (C,) of the prior of thresholds
    const f64* cut_precision = nullptr;    // (C, C)
    f64 *f, *lower, *upper, *w, *some;     // (n,)
    f64 *chances, *trial_chances;          // (n,) logarithms of chances of ratings
    f64 *products, *rhs, *gradient;        // (size, width), (width,)
    f64 *factor, *normals, *cuts, *trial;  // (F, width), (width,), (C + 2,), (C + 2,)
    f64 *logs, *trial_logs;                // (C,) unconstrained thresholds
    const f64** rows;                      // (n,)
    i32 *starts, *chosen;                  // (n + 2,) where levels begin, (n,)

    UserDraw(Arena& arena, const Population& p, i64 most) : all_users(p) {
        const i64 room = padded(most) + N_LANES;
        for (f64** vector : {&f, &lower, &upper, &w, &some, &chances, &trial_chances}) *vector = arena.take(room);
        products = arena.take(p.size * p.width);
        factor = arena.take((p.n_factors + 1) * p.width);
        for (f64** vector : {&rhs, &gradient}) *vector = arena.take(p.width + N_LANES);
        normals = arena.take(max(p.width, p.n_cuts + 1) + N_LANES);
        for (f64** vector : {&cuts, &trial, &logs, &trial_logs}) *vector = arena.take(p.n_cuts + 2);
        rows = reinterpret_cast<const f64**>(arena.take(room));
        starts = arena.take_codes(max(room, p.n_cuts + 3) + N_LANES);
        chosen = arena.take_codes(room);
    }

    // Find where each of the C + 1 levels begins.
    void find_levels(i64 n, const i32* levels) {
        i64 e = 0;
        for (i64 level = 0; level <= all_users.n_cuts; ++level) {
            starts[level] = static_cast<i32>(e);
            while (e < n && levels[e] <= level) ++e;
        }
        starts[all_users.n_cuts + 1] = static_cast<i32>(n);
    }

    // Find where each of the user's ranks begins; returns how many there are.
    i64 find_ranks(i64 n, const i32* levels) {
        i64 n_ranks = 0;
        for (i64 e = 0; e < n; ++e)
            if (e == 0 || levels[e] != levels[e - 1]) starts[n_ranks++] = static_cast<i32>(e);
        starts[n_ranks] = static_cast<i32>(n);
        return n_ranks;
    }

    // log N(cut coordinates) up to a constant
    f64 log_prior(const f64* coordinates) const {
        const i64 n = all_users.n_cuts;
        f64 total = 0.0;
        for (i64 k = 0; k < n; ++k) {
            f64 across = 0.0;
            for (i64 m = 0; m < n; ++m) across += cut_precision[k * n + m] * (coordinates[m] - cut_mean[m]);
            total -= 0.5 * (coordinates[k] - cut_mean[k]) * across;
        }
        return total;
    }

    // Thresholds from their coordinates: the first, and logarithms of the gaps. cuts[0] and cuts[C + 1] are no bounds.
    void fill_cuts(const f64* coordinates, f64* to) const {
        const i64 n = all_users.n_cuts;
        to[0] = -UNBOUNDED;
        for (i64 k = 0; k < n; ++k) to[k + 1] = k == 0 ? coordinates[0] : to[k] + exp(coordinates[k]);
        to[n + 1] = UNBOUNDED;
    }

    // Logarithms of the chances of ratings begin to end - 1 with some thresholds, w integrated out, into `to`; returns
    // the sum of their differences to those in `from`.
    f64 fill_chances(const f64* thresholds, const i32* levels, i64 begin, i64 end, const f64* from, f64* to) const {
        Lanes total = all(0.0);
        for (i64 e = begin; e < end; e += N_LANES) {
            const auto at = [&](i64 c) INLINE_LAMBDA { return thresholds + levels[min(e + c, end - 1)]; };
            const f64 *a = at(0), *b = at(1), *c = at(2), *d = at(3);
            const Lanes logs =
                log(normal_between(load(f + e), Lanes{a[0], b[0], c[0], d[0]}, Lanes{a[1], b[1], c[1], d[1]}));
            Lanes gain = logs - load(from + e);
            if (e + N_LANES > end) gain = Lanes{gain[0], e + 1 < end ? gain[1] : 0.0, e + 2 < end ? gain[2] : 0.0, 0.0};
            store(to + e, logs);
            total += gain;
        }
        return sum(total);
    }

    // Move every threshold between its neighbours, and all of them together, by Metropolis steps.
    //
    // n_beside(k) is how many ratings inform threshold k; gain(first, last) what the trial thresholds gain in
    // log-likelihood over the present ones, for observations of levels first to last; keep(first, last) is told where
    // they are taken.
    template <class Count, class Gain, class Keep>
    void move_cuts(f64* coordinates, Stream& stream, i64 n_own, Count n_beside, Gain gain, Keep keep) {
        const i64 n = all_users.n_cuts;
        for (i64 k = 0; k < n; ++k) logs[k] = coordinates[k];
        fill_cuts(logs, cuts);
        fill_normals(stream, n + 1, normals);
        f64 prior = log_prior(logs);
        for (i64 k = 0; k < n; ++k) {
            const f64 toss = stream.next();
            for (i64 m = 0; m < n + 2; ++m) trial[m] = cuts[m];
            for (i64 m = 0; m < n; ++m) trial_logs[m] = logs[m];
            trial[k + 1] += normals[k] * STEP / __builtin_sqrt(1.0 + INFORMATION * static_cast<f64>(n_beside(k)));
            if (trial[k + 1] <= trial[k] || trial[k + 1] >= trial[k + 2]) continue;
            f64 volume = 0.0;  // of the step in coordinates
            if (k == 0) trial_logs[0] = trial[1];
            for (i64 m = max(k, 1); m <= min(k + 1, n - 1); ++m) {
                trial_logs[m] = log(trial[m + 1] - trial[m]);
                volume += logs[m] - trial_logs[m];
            }
            const f64 other = log_prior(trial_logs);
            if (log(toss) < gain(k, k + 1) + other - prior + volume) {
                accept(other, prior);
                keep(k, k + 1);
            }
        }
        const f64 step = STEP / __builtin_sqrt(1.0 + INFORMATION * static_cast<f64>(n_own));
        const f64 toss = stream.next();
        for (i64 m = 0; m < n; ++m) trial_logs[m] = logs[m];
        trial_logs[0] += step * normals[n];
        fill_cuts(trial_logs, trial);
        const f64 other = log_prior(trial_logs);
        if (log(toss) < gain(0, n) + other - prior) {
            accept(other, prior);
            keep(0, n);
        }
        for (i64 k = 0; k < n; ++k) coordinates[k] = logs[k];
    }

    // Move thresholds given ratings, w integrated out; returns the log-likelihood.
    f64 move_rated_cuts(f64* coordinates, const i32* levels, Stream& stream) {
        const i64 n = starts[all_users.n_cuts + 1];
        fill_cuts(coordinates, cuts);
        for (i64 e = 0; e < padded(n); ++e) chances[e] = 0.0;
        fill_chances(cuts, levels, 0, n, chances, chances);
        const auto gain = [&](i64 first, i64 last) {
            return fill_chances(trial, levels, starts[first], starts[last + 1], chances, trial_chances);
        };
        const auto keep = [&](i64 first, i64 last) {
            for (i64 e = starts[first]; e < starts[last + 1]; ++e) chances[e] = trial_chances[e];
        };
        const auto n_beside = [&](i64 k) { return static_cast<i64>(starts[k + 2] - starts[k]); };
        move_cuts(coordinates, stream, n, n_beside, gain, keep);
        f64 total = 0.0;
        for (i64 e = 0; e < n; ++e) total += chances[e];
        return total;
    }

    // The lowest threshold above a utility, and the highest that is not.
    f64 next_above(const f64* thresholds, f64 utility) const {
        i64 k = 1;
        while (k <= all_users.n_cuts && thresholds[k] <= utility) ++k;
        return thresholds[k];
    }
    f64 next_below(const f64* thresholds, f64 utility) const {
        i64 k = all_users.n_cuts;
        while (k > 0 && thresholds[k] > utility) --k;
        return thresholds[k];
    }

    // Move thresholds given comparisons of ratings and w: one stays between any two items compared.
    void move_compared_cuts(f64* coordinates, i64 n, const i64* at, const i32* links, Stream& stream) {
        const auto gain = [&](i64, i64) {
            for (i64 e = 0; e < n; ++e)
                for (i64 c = at[e]; c < at[e + 1]; ++c)
                    if (links[c] > 0 && next_above(trial, w[links[c] - 1]) > w[e]) return -__builtin_inf();
            return 0.0;
        };
        move_cuts(coordinates, stream, n, [&](i64) { return n; }, gain, [](i64, i64) {});
    }

    void accept(f64 value, f64& prior) {
        for (i64 m = 0; m < all_users.n_cuts + 2; ++m) cuts[m] = trial[m];
        for (i64 m = 0; m < all_users.n_cuts; ++m) logs[m] = trial_logs[m];
        prior = value;
    }

    // Draw w between the thresholds.
    void draw_rated(i64 n, Stream& stream) {
        for (i64 level = 0; level <= all_users.n_cuts; ++level)
            for (i64 e = starts[level]; e < starts[level + 1]; ++e) {
                lower[e] = cuts[level];
                upper[e] = cuts[level + 1];
            }
        for (i64 e = n; e < padded(n); ++e) lower[e] = -UNBOUNDED, upper[e] = UNBOUNDED;
        for (i64 e = 0; e < n; e += N_LANES)
            store(w + e, truncated_normal(load(f + e), load(lower + e), load(upper + e), stream.next_lanes()));
    }

    // Draw w between those of the next levels: first of all even levels, then of all odd ones.
    f64 draw_ranked(i64 n, i64 n_levels, Stream& stream) {
        for (i64 parity = 0; parity < 2; ++parity) {
            i64 n_chosen = 0;
            for (i64 level = parity; level < n_levels; level += 2) {
                f64 low = -UNBOUNDED, high = UNBOUNDED;
                if (level > 0)
                    for (i64 e = starts[level - 1]; e < starts[level]; ++e) low = max(low, w[e]);
                if (level + 1 < n_levels)
                    for (i64 e = starts[level + 1]; e < starts[level + 2]; ++e) high = min(high, w[e]);
                for (i64 e = starts[level]; e < starts[level + 1]; ++e) {
                    lower[n_chosen] = low;
                    upper[n_chosen] = high;
                    some[n_chosen] = f[e];
                    chosen[n_chosen++] = static_cast<i32>(e);
                }
            }
            for (i64 c = n_chosen; c < padded(n_chosen); ++c) lower[c] = some[c] = 0.0, upper[c] = 1.0;
            for (i64 c = 0; c < n_chosen; c += N_LANES)
                store(some + c,
                      truncated_normal(load(some + c), load(lower + c), load(upper + c), stream.next_lanes()));
            for (i64 c = 0; c < n_chosen; ++c) w[chosen[c]] = some[c];
        }
        return log_density(n);
    }

    // Draw w one after the other between those of the items compared, or the thresholds beside these: others of item e
    // are links[at[e]:at[e + 1]], the number of one that it beat plus 1, or minus that of one that beat it.
    f64 draw_compared(i64 n, const i64* at, const i32* links, bool rated, Stream& stream) {
        for (i64 e = 0; e < n; ++e) {
            f64 low = -UNBOUNDED, high = UNBOUNDED;
            for (i64 c = at[e]; c < at[e + 1]; ++c) {
                const f64 other = w[(links[c] > 0 ? links[c] : -links[c]) - 1];
                if (links[c] > 0)
                    low = max(low, rated ? next_above(cuts, other) : other);
                else
                    high = min(high, rated ? next_below(cuts, other) : other);
            }
            w[e] = truncated_normal(all(f[e]), all(low), all(high), all(stream.next()))[0];
        }
        return log_density(n);
    }

    f64 log_density(i64 n) const {
        f64 squares = 0.0;
        for (i64 e = 0; e < n; ++e) squares += (w[e] - f[e]) * (w[e] - f[e]);
        return -0.5 * squares;
    }

    // Sum products of the items' rows, and of these with w; gradient of the log-likelihood in the user's vector.
    void collect(i64 n, const f64* user) {
        const i64 size = all_users.size, width = all_users.width;
        for (i64 c = 0; c < size * width; ++c) products[c] = 0.0;
        for (i64 m = 0; m < width; ++m) rhs[m] = 0.0;
        add_products(rows, n, size, width, products);
        for (i64 k = 0; k < size; ++k)
            for (i64 m = k + 1; m < size; ++m) products[m * width + k] = products[k * width + m];
        for (i64 k = 0; k < size; ++k)
            for (i64 m = size; m < width; ++m) products[k * width + m] = 0.0;
        for (i64 e = 0; e < n; ++e) {
            const Lanes value = all(w[e]);
            for (i64 m = 0; m < width; m += N_LANES) store(rhs + m, load(rhs + m) + value * load(rows[e] + m));
        }
        for (i64 k = 0; k < size; ++k) gradient[k] = rhs[k] - dot(products + k * width, user, width);
    }

    // Move weight between rankings k and j by slice sampling of y = log(theta_k / theta_j) along theta_k + theta_j. In
    // y the density is bounded; in theta_k it has poles where counts are below 1, and a weight that is rounded to 0
    // would stay there.
    void move_weight(f64* user, i64 k, i64 j, Stream& stream) {
        const i64 width = all_users.width;
        const f64 *of_k = products + k * width, *of_j = products + j * width;
        const f64 now = user[k], other = user[j], total = now + other, slope = gradient[k] - gradient[j];
        const f64 bend = of_k[k] - 2.0 * of_k[j] + of_j[j];
        const f64 a = counts[k - 1], b = counts[j - 1];
        const auto log_beta = [&](f64 y) INLINE_LAMBDA {
            return a * min(y, 0.0) - b * max(y, 0.0) - (a + b) * log(1.0 + exp(-abs(y)));
        };
        const auto part = [&](f64 y) INLINE_LAMBDA {
            const f64 ratio = exp(-abs(y));
            return total * (y < 0.0 ? ratio : 1.0) / (1.0 + ratio);
        };
        const auto gain = [&](f64 d) INLINE_LAMBDA { return d * (slope - 0.5 * bend * d); };
        const f64 init = log(max(now, TINY)) - log(max(other, TINY));
        const f64 height = log_beta(init) + log(max(stream.next(), TINY));
        const f64 best = bend > 0.0 ? min(max(slope / bend, -now), other) : slope > 0.0 ? other : -now;
        const f64 least = height - gain(best);  // of log_beta in the slice; it is at most a y and -b y
        f64 low = max(least / a, -FARTHEST), high = min(-least / b, FARTHEST), d = 0.0;
        for (i64 round = 0; round < MOST_SHRINKS; ++round) {
            const f64 y = low + (high - low) * stream.next();
            const f64 step = part(y) - now;
            if (log_beta(y) + gain(step) >= height) {
                d = step;
                user[k] = part(y);
                user[j] = part(-y);
                break;
            }
            (y < init ? low : high) = y;
        }
        for (i64 m = 0; m < all_users.size; ++m) gradient[m] -= d * (of_k[m] - of_j[m]);
    }

    void move_weights(f64* user, Stream& stream) {
        const i64 n = all_users.n_rankings;
        for (i64 k = 0; n > 1 && k < n; ++k) {
            const i64 other = min(static_cast<i64>(stream.next() * static_cast<f64>(n - 1)), n - 2);
            move_weight(user, 1 + k, 1 + (other < k ? other : other + 1), stream);
        }
    }

    // Draw the factors from their Gaussian posterior given all else; prior N(mean, diag(precision)^-1).
    void draw_factors(f64* user, const f64* mean, const f64* precision, Stream& stream) {
        const i64 n = all_users.n_factors, first = 1 + all_users.n_rankings, width = all_users.width;
        f64* z = user + first;
        for (i64 k = 0; k < n; ++k) {
            const f64* row = products + (first + k) * width + first;
            f64 right = precision[k] * mean[k] + gradient[first + k];
            for (i64 m = 0; m < n; ++m) {
                factor[k * width + m] = row[m] + (m == k ? precision[k] : 0.0);
                right += row[m] * z[m];
            }
            rhs[k] = right;
        }
        fill_normals(stream, n, normals);
        cholesky(factor, n, width);
        draw_normal(factor, n, width, normals, rhs);
        for (i64 k = 0; k < n; ++k) z[k] = rhs[k];
    }
};

}  // namespace

EXPORT i64 gibbs_memory(i64 n_rankings, i64 n_factors, i64 n_cuts, i64 most) {
    const i64 size = 1 + n_rankings + n_factors;
    const Population p{n_rankings, n_factors, n_cuts, size, padded(size), nullptr};
    Arena arena(nullptr);
    UserDraw(arena, p, most);
    return arena.needed();
}

// Draw thresholds, utilities, weights and factors of users first to last - 1, one after the other given the items.
//
// Users are numbered from `base` on in the whole population. users (M, width) and cuts (M, C) are the state; means
// (M, F) the prior means of factors. The counts of the weights' Dirichlet prior, the precisions (F,) of factors, and
// mean and precision of thresholds are so many steps apart for each user, 0 where they are the same for all. w (n,) the
// utilities, part of the state but where items are rated. levels (n,) of ratings and rankings; of comparisons
// n items with links, see draw_compared. logs (M,) becomes the log-likelihood, w integrated out (of rankings and
// comparisons that of w).
EXPORT void draw_users(i64 first, i64 last, i64 kind, const i64* offsets, const i32* codes, const i32* levels,
                       const i64* link_offsets, const i32* links, const f64* items, i64 n_rankings, i64 n_factors,
                       i64 n_cuts, const f64* counts, i64 counts_step, const f64* means, const f64* factor_precision,
                       i64 factor_step, const f64* cut_precision, const f64* cut_mean, i64 cut_step, const u64* key,
                       i64 base, f64* users, f64* cuts, f64* w, f64* logs, i64 most, f64* memory) {
    const i64 size = 1 + n_rankings + n_factors, width = padded(size);
    const Population p{n_rankings, n_factors, n_cuts, size, width, items};
    Arena arena(memory);
    UserDraw draw(arena, p, most);
    for (i64 u = first; u < last; ++u) {
        const i64 begin = offsets[u], n = offsets[u + 1] - begin;
        Stream stream = Stream::of(*key, base + u);
        f64* user = users + u * width;
        draw.counts = counts + u * counts_step;
        draw.cut_mean = cut_mean + u * cut_step;
        draw.cut_precision = cut_precision + u * cut_step * n_cuts;
        for (i64 e = 0; e < n; ++e) {
            draw.rows[e] = items + codes[begin + e] * width;
            draw.f[e] = dot(draw.rows[e], user, width);
            draw.w[e] = w[begin + e];
        }
        for (i64 e = n; e < padded(n) + N_LANES; ++e) draw.f[e] = 0.0;
        if (kind == RATED) {
            draw.find_levels(n, levels + begin);
            logs[u] = draw.move_rated_cuts(cuts + u * n_cuts, levels + begin, stream);
            draw.draw_rated(n, stream);
        } else if (kind == RANKED) {
            logs[u] = draw.draw_ranked(n, draw.find_ranks(n, levels + begin), stream);
        } else {
            const bool rated = kind == COMPARED_RATINGS;
            if (rated) draw.move_compared_cuts(cuts + u * n_cuts, n, link_offsets + begin, links, stream);
            logs[u] = draw.draw_compared(n, link_offsets + begin, links, rated, stream);
        }
        for (i64 e = 0; e < n; ++e) w[begin + e] = draw.w[e];
        draw.collect(n, user);
        draw.move_weights(user, stream);
        if (n_factors > 0) {
            draw.draw_factors(user, means + u * n_factors, factor_precision + u * factor_step, stream);
        }
    }
}

// Sums over the users of items first to last - 1: of products of their vectors, (Q, size, width), the upper triangle;
// and of their vectors times w, (Q, width). Observations of an item are at positions[starts[i]:starts[i + 1]].
EXPORT void sum_by_item(i64 first, i64 last, const i64* starts, const i32* positions, const i32* owners,
                        const f64* users, const f64* w, i64 size, i64 most, f64* products, f64* sums, f64* memory) {
    const i64 width = padded(size);
    Arena arena(memory);
    const f64** rows = reinterpret_cast<const f64**>(arena.take(most));
    for (i64 i = first; i < last; ++i) {
        const i64 begin = starts[i], n = starts[i + 1] - begin;
        f64 *matrix = products + i * size * width, *sum = sums + i * width;
        for (i64 c = 0; c < size * width; ++c) matrix[c] = 0.0;
        for (i64 m = 0; m < width; ++m) sum[m] = 0.0;
        for (i64 e = 0; e < n; ++e) {
            rows[e] = users + owners[begin + e] * width;
            const Lanes value = all(w[positions[begin + e]]);
            for (i64 m = 0; m < width; m += N_LANES) store(sum + m, load(sum + m) + value * load(rows[e] + m));
        }
        add_products(rows, n, size, width, matrix);
    }
}

EXPORT i64 draw_items_memory(i64 size) { return padded(size) * (padded(size) + 3) + 32; }

// Draw the vectors of items first to last - 1 from their Gaussian posterior, given sums over users and a Gaussian prior
// with precision (size, size) and precision times mean (size,); steps between items are 0 where all share one.
EXPORT void draw_items(i64 first, i64 last, i64 size, const f64* products, const f64* sums, const f64* precision,
                       i64 precision_step, const f64* right, i64 right_step, const u64* key, f64* items, f64* memory) {
    const i64 width = padded(size);
    Arena arena(memory);
    f64 *factor = arena.take(size * width), *normals = arena.take(width), *x = arena.take(width);
    for (i64 i = first; i < last; ++i) {
        Stream stream = Stream::of(*key, i);
        const f64 *matrix = products + i * size * width, *prior = precision + i * precision_step;
        for (i64 k = 0; k < size; ++k) {
            for (i64 m = 0; m <= k; ++m) factor[k * width + m] = matrix[m * width + k] + prior[k * size + m];
            x[k] = sums[i * width + k] + right[i * right_step + k];
        }
        fill_normals(stream, size, normals);
        cholesky(factor, size, width);
        draw_normal(factor, size, width, normals, x);
        for (i64 k = 0; k < width; ++k) items[i * width + k] = k < size ? x[k] : 0.0;
    }
}

}  // namespace plurank

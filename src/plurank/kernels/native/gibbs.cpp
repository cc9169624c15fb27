// One Gibbs sweep over users who rated or ranked items, each by a latent utility
// w_ui = item_i . user_u + e_ui, e_ui ~ N(0, 1), user_u = (1, theta_u, z_u): a popularity, K rankings mixed by weights
// theta_u on the simplex, and F factors.
//
// Ratings say between which of the user's thresholds w_ui lies, rankings how the w_ui are ordered, and comparisons
// which w_ui of two is larger, certainly or with an error of each comparison. Ratings and rankings of a user are sorted
// by level, the worst first. Every user has a stream of random numbers of its own, so that draws depend on the key and
// the user alone.

#include "products.hpp"
#include "thresholds.hpp"

namespace plurank {
namespace {

enum Kind : i64 { RATED, RANKED, COMPARED, COMPARED_RATINGS, COMPARED_WITH_ERRORS };

constexpr i64 MOST_SHRINKS = 200;  // of a slice; it halves about every time
constexpr f64 FARTHEST = 690.0;    // logarithm of a ratio of weights
constexpr f64 STRETCH = 1.4;       // standard deviation of the logarithm of a factor, times sqrt(n - 1)

// What is the same for all users of a sweep.
struct Population {
    i64 n_rankings, n_factors, n_cuts, size, width;
    const f64* items;  // (Q, width)
};

// Scratch memory for one user.
struct UserDraw {
    const Population& all_users;
    const f64* counts = nullptr;  // (K,) of the Dirichlet prior
    Thresholds thresholds;
    RatedLevels ratings;
    RowSums sums;
    Gaussian factors;
    f64 *f, *lower, *upper, *w, *some;  // (n,)
    f64 *products, *gradient;           // (size, width), (width,)
    const f64** rows;                   // (n,)
    i32 *starts, *chosen;               // (n + 1,) where ranks begin, (n,)

    UserDraw(Arena& arena, const Population& p, i64 most)
        : all_users(p),
          thresholds(arena, p.n_cuts),
          ratings(arena, thresholds, most),
          sums(arena, p.size),
          factors(arena, p.n_factors) {
        const i64 room = padded(most) + N_LANES;
        for (f64** vector : {&f, &lower, &upper, &w, &some}) *vector = arena.take(room);
        products = arena.take(p.size * p.width);
        gradient = arena.take(p.width);
        rows = reinterpret_cast<const f64**>(arena.take(room));
        starts = arena.take_codes(room);
        chosen = arena.take_codes(room);
    }

    // Find where each of the user's ranks begins; returns how many there are.
    i64 find_ranks(i64 n, const i32* levels) {
        i64 n_ranks = 0;
        for (i64 e = 0; e < n; ++e)
            if (e == 0 || levels[e] != levels[e - 1]) starts[n_ranks++] = static_cast<i32>(e);
        starts[n_ranks] = static_cast<i32>(n);
        return n_ranks;
    }

    // Expected utilities of the items of a user, in the order of the user's observations.
    void expect(i64 n, const i32* codes, const f64* user) {
        const i64 width = all_users.width;
        for (i64 e = 0; e < n; ++e) rows[e] = all_users.items + codes[e] * width;
        for (i64 e = n; e < padded(n); ++e) rows[e] = rows[n - 1];
        for (i64 e = 0; e < n; e += N_LANES) {
            for (i64 c = e + AHEAD; c < min(e + AHEAD + N_LANES, n); ++c) prefetch_row(rows[c], width);
            store(f + e, dots(rows + e, user, width));
        }
        for (i64 e = n; e < padded(n) + N_LANES; ++e) f[e] = 0.0;
    }

    // Move thresholds given comparisons of ratings and w: one stays between any two items compared.
    void move_compared_cuts(f64* coordinates, i64 n, const i64* at, const i32* links, Stream& stream) {
        const auto gain = [&](i64) {
            for (i64 e = 0; e < n; ++e)
                for (i64 c = at[e]; c < at[e + 1]; ++c)
                    if (links[c] > 0 && thresholds.next_above(thresholds.trial, w[links[c] - 1]) > w[e])
                        return -__builtin_inf();
            return 0.0;
        };
        thresholds.begin(coordinates);
        thresholds.move(coordinates, stream, n, [&](i64) { return n; }, gain, [](i64) {});
    }

    // Shift all w of a user, and stretch them around their mean, which no order notices: one by one they would move no
    // further than the next ones let them. The shift is drawn, the factor proposed (Metropolis).
    void shift_and_stretch(i64 n, Stream& stream) {
        const f64 n_own = static_cast<f64>(n), n_apart = n_own - 1.0;
        f64 mean = 0.0, expected = 0.0, squares = 0.0, along = 0.0;
        for (i64 e = 0; e < n; ++e) {
            mean += w[e] / n_own;
            expected += f[e] / n_own;
        }
        for (i64 e = 0; e < n; ++e) {
            squares += (w[e] - mean) * (w[e] - mean);
            along += (w[e] - mean) * f[e];
        }
        const Lanes uniforms = stream.next_lanes(), normals = normal_quantile(uniforms);
        const f64 step = n > 1 ? STRETCH * normals[1] / __builtin_sqrt(n_apart) : 0.0;
        f64 factor = exp(all(step))[0];
        const f64 gain = n_apart * step + (factor - 1.0) * (along - 0.5 * squares * (factor + 1.0));
        if (!(log(all(max(uniforms[2], TINY)))[0] < gain)) factor = 1.0;
        const f64 centre = expected + normals[0] / __builtin_sqrt(n_own);
        for (i64 e = 0; e < n; ++e) w[e] = centre + factor * (w[e] - mean);
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
        if (n > 0) shift_and_stretch(n, stream);
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
                    low = max(low, rated ? thresholds.next_above(thresholds.cuts, other) : other);
                else
                    high = min(high, rated ? thresholds.next_below(thresholds.cuts, other) : other);
            }
            w[e] = truncated_normal(all(f[e]), all(low), all(high), all(stream.next()))[0];
        }
        return log_density(n);
    }

    // Draw w one after the other given comparisons with errors N(0, error^2): by how much each winner seemed to be
    // ahead is drawn first.
    void draw_with_errors(i64 n, const i64* at, const i32* links, f64 error, Stream& stream) {
        const f64 precision = 1.0 / (error * error);
        for (i64 e = 0; e < n; ++e) {
            f64 right = f[e];
            for (i64 begin = at[e]; begin < at[e + 1]; begin += N_LANES) {
                const i64 n_lanes = min(at[e + 1] - begin, N_LANES);
                f64 sign[N_LANES], other[N_LANES], lead[N_LANES] = {};
                for (i64 c = 0; c < n_lanes; ++c) {
                    const i32 link = links[begin + c];
                    sign[c] = link > 0 ? 1.0 : -1.0;
                    other[c] = w[(link > 0 ? link : -link) - 1];
                    lead[c] = sign[c] * (w[e] - other[c]) / error;
                }
                const Lanes seen = truncated_normal(load(lead), all(0.0), all(UNBOUNDED), stream.next_lanes());
                for (i64 c = 0; c < n_lanes; ++c) right += precision * (other[c] + sign[c] * error * seen[c]);
            }
            const f64 total = 1.0 + precision * static_cast<f64>(at[e + 1] - at[e]);
            w[e] = right / total + normal_quantile(all(stream.next()))[0] / __builtin_sqrt(total);
        }
    }

    // Log-likelihood of comparisons given values of the user's items that have errors with a standard deviation of 1.
    static f64 log_likelihood(i64 n, const i64* at, const i32* links, const f64* values) {
        LogSum sum;
        f64 leads[N_LANES];
        i64 n_leads = 0;
        const auto flush = [&] {
            for (i64 c = n_leads; c < N_LANES; ++c) leads[c] = UNBOUNDED;
            if (n_leads > 0) sum.add(normal_between(signed_tail(-load(leads)), all(LEAST_NORMAL_TAIL)));
            n_leads = 0;
        };
        for (i64 e = 0; e < n; ++e)
            for (i64 c = at[e]; c < at[e + 1]; ++c)
                if (links[c] > 0) {
                    leads[n_leads++] = values[e] - values[links[c] - 1];
                    if (n_leads == N_LANES) flush();
                }
        flush();
        return sum.value();
    }

    // Log-likelihood of comparisons, whose errors have the first of two standard deviations; of w with the second; and
    // of w that differ from what is expected as much as they do, in units in which errors have the second.
    void compare_errors(i64 n, const i64* at, const i32* links, const f64* errors, f64* logs) {
        const f64 first = 1.0 / errors[0], second = 1.0 / errors[1];
        for (i64 e = 0; e < n; ++e) some[e] = first * w[e];
        logs[0] = log_likelihood(n, at, links, some);
        for (i64 e = 0; e < n; ++e) some[e] = second * w[e];
        logs[1] = log_likelihood(n, at, links, some);
        for (i64 e = 0; e < n; ++e) some[e] = first * f[e] + second * (w[e] - f[e]);
        logs[2] = log_likelihood(n, at, links, some);
    }

    f64 log_density(i64 n) const {
        f64 squares = 0.0;
        for (i64 e = 0; e < n; ++e) squares += (w[e] - f[e]) * (w[e] - f[e]);
        return -0.5 * squares;
    }

    // Sum products of the items' rows, and of these with w; gradient of the log-likelihood in the user's vector.
    void collect(i64 n, const f64* user) {
        const i64 size = all_users.size, width = all_users.width;
        sums.clear();
        for (i64 e = 0; e < n; ++e) sums.add(rows[e], w[e]);
        sums.finish();
        for (i64 k = 0; k < size; ++k) {
            const f64* row = sums.matrix + k * sums.width;
            for (i64 m = k; m < size; ++m) products[k * width + m] = products[m * width + k] = row[m];
            for (i64 m = size; m < width; ++m) products[k * width + m] = 0.0;
        }
        for (i64 k = 0; k < size; ++k)
            gradient[k] = sums.matrix[k * sums.width + size] - dot(products + k * width, user, width);
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
        const auto log_beta = [&](Lanes y, Lanes ratio) INLINE_LAMBDA {
            return all(a) * min(y, all(0.0)) - all(b) * max(y, all(0.0)) - all(a + b) * log(all(1.0) + ratio);
        };
        const auto part = [&](Lanes y, Lanes ratio) INLINE_LAMBDA {
            return all(total) * select(y < all(0.0), ratio, all(1.0)) / (all(1.0) + ratio);
        };
        const Lanes logs = log(Lanes{max(now, TINY), max(other, TINY), max(stream.next(), TINY), 1.0});
        const f64 init = logs[0] - logs[1];
        const f64 height = log_beta(all(init), exp(all(-abs(init))))[0] + logs[2];
        const f64 best = bend > 0.0 ? min(max(slope / bend, -now), other) : slope > 0.0 ? other : -now;
        const f64 least =
            height - best * (slope - 0.5 * bend * best);  // of log_beta in the slice; at most a y and -b y
        f64 low = max(least / a, -FARTHEST), high = min(-least / b, FARTHEST), d = 0.0;
        for (i64 round = 0; round < MOST_SHRINKS;
             round += N_LANES) {  // those after the first in the slice are not used
            f64 ys[N_LANES];
            u64 states[N_LANES];
            for (i64 c = 0; c < N_LANES; ++c) {
                ys[c] = low + (high - low) * stream.next();
                states[c] = stream.state;
                (ys[c] < init ? low : high) = ys[c];
            }
            const Lanes y = load(ys), ratio = exp(-abs(y));
            const Lanes step = part(y, ratio) - all(now);
            const Lanes value = log_beta(y, ratio) + step * (all(slope) - all(0.5 * bend) * step);
            i64 c = 0;
            while (c < N_LANES && !(value[c] >= height)) ++c;
            if (c < N_LANES) {
                d = step[c];
                user[k] = part(y, ratio)[c];
                user[j] = part(-y, ratio)[c];
                stream.state = states[c];
                break;
            }
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
            f64* to = factors.precision + k * factors.width;
            f64 right = precision[k] * mean[k] + gradient[first + k];
            for (i64 m = 0; m < n; ++m) {
                to[m] = row[m];
                right += row[m] * z[m];
            }
            for (i64 m = n; m < factors.width; ++m) to[m] = 0.0;
            to[k] += precision[k];
            factors.x[k] = right;
        }
        factors.draw(stream);
        for (i64 k = 0; k < n; ++k) z[k] = factors.x[k];
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
// n items with links, see draw_compared. errors (2,): the standard deviation of errors of comparisons, and another one
// to try. logs (M, 3) becomes the log-likelihood, w integrated out (of rankings and comparisons without errors that of
// w; of comparisons with errors theirs given w, and with the other standard deviation, see compare_errors).
EXPORT void draw_users(i64 first, i64 last, i64 kind, const i64* offsets, const i32* codes, const i32* levels,
                       const i64* link_offsets, const i32* links, const f64* items, i64 n_rankings, i64 n_factors,
                       i64 n_cuts, const f64* counts, i64 counts_step, const f64* means, const f64* factor_precision,
                       i64 factor_step, const f64* cut_precision, const f64* cut_mean, i64 cut_step, const f64* errors,
                       const u64* key, i64 base, f64* users, f64* cuts, f64* w, f64* logs, i64 most, f64* memory) {
    const i64 size = 1 + n_rankings + n_factors, width = padded(size);
    const Population p{n_rankings, n_factors, n_cuts, size, width, items};
    Arena arena(memory);
    UserDraw draw(arena, p, most);
    for (i64 u = first; u < last; ++u) {
        const i64 begin = offsets[u], n = offsets[u + 1] - begin;
        Stream stream = Stream::of(*key, base + u);
        f64* user = users + u * width;
        draw.counts = counts + u * counts_step;
        draw.thresholds.mean = cut_mean + u * cut_step;
        draw.thresholds.precision = cut_precision + u * cut_step * n_cuts;
        draw.expect(n, codes + begin, user);
        for (i64 e = 0; e < n; ++e) draw.w[e] = w[begin + e];
        if (kind == RATED) {
            draw.ratings.find(n, levels + begin);
            logs[3 * u] = draw.ratings.move(cuts + u * n_cuts, draw.f, stream);
            draw.ratings.draw(draw.f, draw.lower, draw.upper, draw.w, stream);
        } else if (kind == RANKED) {
            logs[3 * u] = draw.draw_ranked(n, draw.find_ranks(n, levels + begin), stream);
        } else if (kind == COMPARED_WITH_ERRORS) {
            draw.draw_with_errors(n, link_offsets + begin, links, errors[0], stream);
        } else {
            const bool rated = kind == COMPARED_RATINGS;
            if (rated) draw.move_compared_cuts(cuts + u * n_cuts, n, link_offsets + begin, links, stream);
            logs[3 * u] = draw.draw_compared(n, link_offsets + begin, links, rated, stream);
        }
        for (i64 e = 0; e < n; ++e) w[begin + e] = draw.w[e];
        draw.collect(n, user);
        draw.move_weights(user, stream);
        if (n_factors > 0) {
            draw.draw_factors(user, means + u * n_factors, factor_precision + u * factor_step, stream);
        }
        logs[3 * u + 1] = logs[3 * u + 2] = logs[3 * u];
        if (kind == COMPARED_WITH_ERRORS) {
            draw.expect(n, codes + begin, user);
            draw.compare_errors(n, link_offsets + begin, links, errors, logs + 3 * u);
        }
    }
}

// Sums over the users of items first to last - 1: of products of their vectors, (Q, size, width), the upper triangle;
// and of their vectors times w, (Q, width). Observations of an item are at positions[starts[i]:starts[i + 1]].
EXPORT void sum_by_item(i64 first, i64 last, const i64* starts, const i32* positions, const i32* owners,
                        const f64* users, const f64* w, i64 size, f64* products, f64* sums, f64* memory) {
    const i64 width = padded(size);
    Arena arena(memory);
    RowSums total(arena, size);
    for (i64 i = first; i < last; ++i) {
        total.clear();
        for (i64 e = starts[i]; e < starts[i + 1]; ++e) {
            const i64 later = min(e + AHEAD, starts[i + 1] - 1);
            prefetch_row(users + owners[later] * width, width);
            prefetch(w + positions[later]);
            total.add(users + owners[e] * width, w[positions[e]]);
        }
        total.finish();
        f64 *matrix = products + i * size * width, *sum = sums + i * width;
        for (i64 k = 0; k < size; ++k) {
            const f64* row = total.matrix + k * total.width;
            for (i64 m = 0; m < width; ++m) matrix[k * width + m] = k <= m && m < size ? row[m] : 0.0;
            sum[k] = row[size];
        }
        for (i64 m = size; m < width; ++m) sum[m] = 0.0;
    }
}

EXPORT i64 sum_by_item_memory(i64 size) {
    Arena arena(nullptr);
    RowSums(arena, size);
    return arena.needed();
}

EXPORT i64 draw_items_memory(i64 size) {
    Arena arena(nullptr);
    Gaussian(arena, size);
    return arena.needed();
}

// Draw the vectors of items first to last - 1 from their Gaussian posterior, given sums over users and a Gaussian prior
// with precision (size, size) and precision times mean (size,); steps between items are 0 where all share one. logs
// (Q,) becomes the log-likelihood of w with the items integrated out, up to what does not depend on the users' vectors.
EXPORT void draw_items(i64 first, i64 last, i64 size, const f64* products, const f64* sums, const f64* precision,
                       i64 precision_step, const f64* right, i64 right_step, const u64* key, f64* items, f64* logs,
                       f64* memory) {
    const i64 width = padded(size);
    Arena arena(memory);
    Gaussian posterior(arena, size);
    for (i64 i = first; i < last; ++i) {
        Stream stream = Stream::of(*key, i);
        const f64 *matrix = products + i * size * width, *prior = precision + i * precision_step;
        for (i64 k = 0; k < size; ++k) {
            f64* row = posterior.precision + k * width;
            for (i64 m = 0; m < k; ++m) row[m] = 0.0;
            for (i64 m = k; m < size; ++m) row[m] = matrix[k * width + m] + prior[k * size + m];
            for (i64 m = size; m < width; ++m) row[m] = 0.0;
            posterior.x[k] = sums[i * width + k] + right[i * right_step + k];
        }
        logs[i] = posterior.draw(stream);
        for (i64 k = 0; k < width; ++k) items[i * width + k] = k < size ? posterior.x[k] : 0.0;
    }
}

}  // namespace plurank

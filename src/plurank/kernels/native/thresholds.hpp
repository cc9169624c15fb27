// A user's thresholds: coordinates (C,) are the first one and the logarithms of the gaps, with a Gaussian prior.
#pragma once

#include "normal.hpp"
#include "random.hpp"
#include "simplex.hpp"

namespace plurank {

constexpr f64 UNBOUNDED = 1e6;    // a bound of w that is none
constexpr f64 STEP = 2.0;         // of random walks, in posterior standard deviations
constexpr f64 INFORMATION = 0.6;  // about a threshold of each rating beside it

// Metropolis steps for thresholds.
struct Thresholds {
    i64 n;                                            // C
    const f64 *mean = nullptr, *precision = nullptr;  // (C,), (C, C) of the prior
    f64 *cuts, *trial;                                // (C + 2,) thresholds between two that are no bounds
    f64 *logs, *trial_logs, *normals;                 // (C,) coordinates; draws

    Thresholds(Arena& arena, i64 n) : n(n) {
        for (f64** vector : {&cuts, &trial, &logs, &trial_logs}) *vector = arena.take(n + 2);
        normals = arena.take(n + 1 + N_LANES);
    }

    // log N(coordinates) up to a constant
    f64 log_prior(const f64* coordinates) const {
        f64 total = 0.0;
        for (i64 k = 0; k < n; ++k) {
            f64 across = 0.0;
            for (i64 m = 0; m < n; ++m) across += precision[k * n + m] * (coordinates[m] - mean[m]);
            total -= 0.5 * (coordinates[k] - mean[k]) * across;
        }
        return total;
    }

    void fill(const f64* coordinates, f64* to) const {
        to[0] = -UNBOUNDED;
        for (i64 k = 0; k < n; ++k) to[k + 1] = k == 0 ? coordinates[0] : to[k] + exp(coordinates[k]);
        to[n + 1] = UNBOUNDED;
    }

    void begin(const f64* coordinates) {
        for (i64 k = 0; k < n; ++k) logs[k] = coordinates[k];
        fill(logs, cuts);
    }

    // Move every threshold between its neighbours, and all of them together.
    //
    // n_beside(k) is how many ratings inform threshold k; gain(k) what the trial thresholds gain in log-likelihood over
    // the present ones where threshold k alone is another, gain(n) where all are; keep(k) is told where they are taken.
    template <class Count, class Gain, class Keep>
    void move(f64* coordinates, Stream& stream, i64 n_own, Count n_beside, Gain gain, Keep keep) {
        for (i64 k = 0; k < padded(n + 1); k += N_LANES) store(normals + k, normal_quantile(stream.next_lanes()));
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
            if (log(toss) < gain(k) + other - prior + volume) {
                accept(other, prior);
                keep(k);
            }
        }
        const f64 step = STEP / __builtin_sqrt(1.0 + INFORMATION * static_cast<f64>(n_own));
        const f64 toss = stream.next();
        for (i64 m = 0; m < n; ++m) trial_logs[m] = logs[m];
        trial_logs[0] += step * normals[n];
        fill(trial_logs, trial);
        const f64 other = log_prior(trial_logs);
        if (log(toss) < gain(n) + other - prior) {
            accept(other, prior);
            keep(n);
        }
        for (i64 k = 0; k < n; ++k) coordinates[k] = logs[k];
    }

    // The lowest threshold above a utility, and the highest that is not.
    f64 next_above(const f64* thresholds, f64 utility) const {
        i64 k = 1;
        while (k <= n && thresholds[k] <= utility) ++k;
        return thresholds[k];
    }
    f64 next_below(const f64* thresholds, f64 utility) const {
        i64 k = n;
        while (k > 0 && thresholds[k] > utility) --k;
        return thresholds[k];
    }

 private:
    void accept(f64 value, f64& prior) {
        for (i64 m = 0; m < n + 2; ++m) cuts[m] = trial[m];
        for (i64 m = 0; m < n; ++m) logs[m] = trial_logs[m];
        prior = value;
    }
};

// A user's ratings, sorted by level, given their expected utilities f: moves of thresholds with w integrated out, and
// draws of w. The normal distribution at a threshold is computed once for every rating that it bounds.
struct RatedLevels {
    Thresholds& thresholds;
    f64 *low, *high, *trial_low, *trial_high;  // (n,) signed tails at the thresholds below and above each rating
    f64 *logs, *trial_logs;                    // (C + 1,) log-likelihoods of levels
    i32* starts;                               // (C + 2,) where levels begin

    RatedLevels(Arena& arena, Thresholds& thresholds, i64 most) : thresholds(thresholds) {
        for (f64** vector : {&low, &high, &trial_low, &trial_high}) *vector = arena.take(padded(most) + N_LANES);
        for (f64** vector : {&logs, &trial_logs}) *vector = arena.take(thresholds.n + 1);
        starts = arena.take_codes(thresholds.n + 2);
    }

    // Find where each of the C + 1 levels begins.
    void find(i64 n, const i32* levels) {
        i64 e = 0;
        for (i64 level = 0; level <= thresholds.n; ++level) {
            starts[level] = static_cast<i32>(e);
            while (e < n && levels[e] <= level) ++e;
        }
        starts[thresholds.n + 1] = static_cast<i32>(n);
    }

    // Signed tails at a threshold of ratings begin to end - 1; what lies behind them is overwritten.
    static void fill_tails(f64 threshold, const f64* f, i64 begin, i64 end, f64* to) {
        for (i64 e = begin; e < end; e += N_LANES) store(to + e, signed_tail(all(threshold) - load(f + e)));
    }

    static void fill_unbounded(f64 side, i64 begin, i64 end, f64* to) {
        for (i64 e = begin; e < end; ++e) to[e] = side * LEAST_NORMAL_TAIL;
    }

    // Signed tails at all thresholds.
    void fill_all(const f64* f, const f64* cuts, f64* below, f64* above) const {
        const i64 n = thresholds.n;
        for (i64 level = 0; level <= n; ++level) {
            const i64 begin = starts[level], end = starts[level + 1];
            if (level > 0)
                fill_tails(cuts[level], f, begin, end, below);
            else
                fill_unbounded(-1.0, begin, end, below);
            if (level < n)
                fill_tails(cuts[level + 1], f, begin, end, above);
            else
                fill_unbounded(1.0, begin, end, above);
        }
    }

    // Log-likelihood of a level.
    f64 log_level(i64 level, const f64* below, const f64* above) const {
        LogSum total;
        const i64 end = starts[level + 1];
        for (i64 e = starts[level]; e < end; e += N_LANES) {
            Lanes chance = normal_between(load(below + e), load(above + e));
            if (e + N_LANES > end)
                chance = Lanes{chance[0], e + 1 < end ? chance[1] : 1.0, e + 2 < end ? chance[2] : 1.0, 1.0};
            total.add(chance);
        }
        return total.value();
    }

    // Move thresholds, w integrated out; returns the log-likelihood.
    f64 move(f64* coordinates, const f64* f, Stream& stream) {
        const i64 n = thresholds.n;
        const f64 *cuts = thresholds.cuts, *trial = thresholds.trial;
        thresholds.begin(coordinates);
        fill_all(f, cuts, low, high);
        for (i64 level = 0; level <= n; ++level) logs[level] = log_level(level, low, high);
        const auto gain = [&](i64 k) {
            if (k < n) {
                fill_tails(trial[k + 1], f, starts[k], starts[k + 2], trial_low);
                trial_logs[k] = log_level(k, low, trial_low);
                trial_logs[k + 1] = log_level(k + 1, trial_low, high);
                return (trial_logs[k] - logs[k]) + (trial_logs[k + 1] - logs[k + 1]);
            }
            fill_all(f, trial, trial_low, trial_high);
            f64 total = 0.0;
            for (i64 level = 0; level <= n; ++level) {
                trial_logs[level] = log_level(level, trial_low, trial_high);
                total += trial_logs[level] - logs[level];
            }
            return total;
        };
        const auto keep = [&](i64 k) {
            if (k < n) {
                for (i64 e = starts[k]; e < starts[k + 1]; ++e) high[e] = trial_low[e];
                for (i64 e = starts[k + 1]; e < starts[k + 2]; ++e) low[e] = trial_low[e];
                logs[k] = trial_logs[k];
                logs[k + 1] = trial_logs[k + 1];
                return;
            }
            for (i64 e = 0; e < starts[n + 1]; ++e) low[e] = trial_low[e], high[e] = trial_high[e];
            for (i64 level = 0; level <= n; ++level) logs[level] = trial_logs[level];
        };
        const auto n_beside = [&](i64 k) { return static_cast<i64>(starts[k + 2] - starts[k]); };
        thresholds.move(coordinates, stream, starts[n + 1], n_beside, gain, keep);
        f64 total = 0.0;
        for (i64 level = 0; level <= n; ++level) total += logs[level];
        return total;
    }

    // Draw w between the thresholds; lower and upper are scratch.
    void draw(const f64* f, f64* lower, f64* upper, f64* w, Stream& stream) const {
        const i64 n = starts[thresholds.n + 1];
        for (i64 level = 0; level <= thresholds.n; ++level)
            for (i64 e = starts[level]; e < starts[level + 1]; ++e) {
                lower[e] = thresholds.cuts[level];
                upper[e] = thresholds.cuts[level + 1];
            }
        for (i64 e = n; e < padded(n); ++e) lower[e] = upper[e] = 0.0, low[e] = -0.5, high[e] = 0.5;
        for (i64 e = 0; e < n; e += N_LANES)
            store(w + e, truncated_normal(load(f + e), load(lower + e), load(upper + e), load(low + e), load(high + e),
                                          stream.next_lanes()));
    }
};

}  // namespace plurank

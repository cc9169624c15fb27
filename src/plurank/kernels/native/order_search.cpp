// Rankings that are orders: expected wins of every ordered pair, and orders that explain them better.
//
// Item i meets partners[begins[i]:begins[i + 1]]; won and lost (K, n_meetings) are its expected wins and losses there.
// laws (K, 2 Q - 1) are log probabilities by lead in places.

#include "lanes.hpp"

namespace plurank {
namespace {

// One ranking's meetings and law, and the order that is being improved.
struct Order {
    i64 n_items;
    const i64* begins;
    const i32* partners;
    const f64 *won, *lost, *law;
    i64* items;  // (Q,) best first
    i32* place;  // (Q,) of every item

    // Change of the log likelihood when an item moves `by` places and all others but one stay.
    f64 gain_of_moving(i64 item, i64 by, i64 but) const {
        f64 gain = 0.0;
        const i64 middle = n_items - 1;
        for (i64 e = begins[item]; e < begins[item + 1]; ++e) {
            if (partners[e] == but) continue;
            const i64 lead = place[partners[e]] - place[item];
            gain += won[e] * (law[middle + lead - by] - law[middle + lead]);
            gain += lost[e] * (law[middle - lead + by] - law[middle - lead]);
        }
        return gain;
    }

    // Swap the items at places a and a + 1; returns the change of the log likelihood.
    f64 swap(i64 a) {
        const i64 first = items[a], second = items[a + 1], middle = n_items - 1;
        f64 gain = gain_of_moving(first, 1, second) + gain_of_moving(second, -1, first);
        for (i64 e = begins[first]; e < begins[first + 1]; ++e)
            if (partners[e] == second) gain += (won[e] - lost[e]) * (law[middle - 1] - law[middle + 1]);
        put(second, a);
        put(first, a + 1);
        return gain;
    }

    // Move an item step by step, at most `reach` places, and leave it at the best place on the way; returns whether it
    // moved.
    bool improve(i64 item, i64 direction, i64 reach) {
        const i64 init = place[item];
        i64 best_place = init;
        f64 gain = 0.0, best = 1e-9;
        for (i64 step = 0; step < reach; ++step) {
            const i64 at = direction == 1 ? place[item] : place[item] - 1;
            if (at < 0 || at + 1 >= n_items) break;
            gain += swap(at);
            if (gain > best) {
                best = gain;
                best_place = place[item];
            }
        }
        for (i64 a = place[item]; a != best_place; a -= direction) {  // back
            put(items[a - direction], a);
            put(item, a - direction);
        }
        return best_place != init;
    }

    void put(i64 item, i64 at) {
        items[at] = item;
        place[item] = static_cast<i32>(at);
    }
};

}  // namespace

// Share out the comparisons of every ordered pair w among the rankings: out_wk = sum_e weights_e r_ek over
// begins[w]:begins[w + 1], r_k ~ theta_k p_k (1 - (p_k - q) / (q (n + 1)) + v / q^2), not negative, q = theta . p, v =
// (theta . p^2 - q^2) / (n + 1), n the posterior concentration: the mean of theta_k p_k / q over Dirichlet(n theta), to
// second order. probabilities (W, K), theta (M, K).
EXPORT void expected_wins(i64 first, i64 last, const i64* begins, const i32* users, const f64* weights, i64 has_weights,
                          const f64* probabilities, const f64* theta, const f64* concentration, i64 n_rankings,
                          f64* out, f64* joint) {
    for (i64 w = first; w < last; ++w) {
        const f64* p = probabilities + w * n_rankings;
        f64* to = out + w * n_rankings;
        for (i64 k = 0; k < n_rankings; ++k) to[k] = 0.0;
        for (i64 e = begins[w]; e < begins[w + 1]; ++e) {
            const f64* weight = theta + users[e] * n_rankings;
            f64 mixed = 0.0, square = 0.0, total = 0.0;
            for (i64 k = 0; k < n_rankings; ++k) {
                mixed += weight[k] * p[k];
                square += weight[k] * p[k] * p[k];
            }
            const f64 inverse = 1.0 / (concentration[users[e]] + 1.0);
            const f64 more = 1.0 + (square / (mixed * mixed) - 1.0) * inverse;
            for (i64 k = 0; k < n_rankings; ++k) {
                joint[k] = weight[k] * p[k] * max(more - (p[k] / mixed - 1.0) * inverse, 0.0);
                total += joint[k];
            }
            const f64 share = (has_weights ? weights[e] : 1.0) / total;
            for (i64 k = 0; k < n_rankings; ++k) to[k] += share * joint[k];
        }
    }
}

EXPORT i64 orders_memory(i64 n_items) { return (n_items + 1) / 2; }

// Local search for orders of rankings first to last - 1, rankings (K, Q) in place: single items move by at most `reach`
// places as long as the log likelihood grows.
EXPORT void improve_orders(i64 first, i64 last, i64* rankings, i64 n_items, const i64* begins, const i32* partners,
                           const f64* won, const f64* lost, i64 n_meetings, const f64* laws, i64 reach, i64 max_sweeps,
                           f64* memory) {
    for (i64 k = first; k < last; ++k) {
        Order order{n_items,
                    begins,
                    partners,
                    won + k * n_meetings,
                    lost + k * n_meetings,
                    laws + k * (2 * n_items - 1),
                    rankings + k * n_items,
                    reinterpret_cast<i32*>(memory)};
        for (i64 a = 0; a < n_items; ++a) order.place[order.items[a]] = static_cast<i32>(a);
        bool improved = true;
        for (i64 sweep = 0; sweep < max_sweeps && improved; ++sweep) {
            improved = false;
            for (i64 item = 0; item < n_items; ++item)
                for (const i64 direction : {i64{1}, i64{-1}}) improved |= order.improve(item, direction, reach);
        }
    }
}

// Standard deviation of every item's place, all other items staying, (Q, K): the place moves by t, |t| <= reach, with
// probability proportional to exp(gain of moving by t).
EXPORT void place_errors(i64 first, i64 last, i64* rankings, i64 n_items, i64 n_rankings, const i64* begins,
                         const i32* partners, const f64* won, const f64* lost, i64 n_meetings, const f64* laws,
                         i64 reach, f64* out, f64* memory) {
    for (i64 k = first; k < last; ++k) {
        const Order order{n_items,
                          begins,
                          partners,
                          won + k * n_meetings,
                          lost + k * n_meetings,
                          laws + k * (2 * n_items - 1),
                          rankings + k * n_items,
                          reinterpret_cast<i32*>(memory)};
        for (i64 a = 0; a < n_items; ++a) order.place[order.items[a]] = static_cast<i32>(a);
        for (i64 item = 0; item < n_items; ++item) {
            const i64 low = max(-reach, -i64{order.place[item]}), high = min(reach, n_items - 1 - order.place[item]);
            f64 total = 0.0, mean = 0.0, square = 0.0;
            for (i64 by = low; by <= high; ++by) {
                // others make room only in the order's own steps; their small shifts are left out here
                const f64 chance = exp(min(order.gain_of_moving(item, by, -1), 50.0)), moved = static_cast<f64>(by);
                total += chance;
                mean += chance * moved;
                square += chance * moved * moved;
            }
            mean /= total;
            out[item * n_rankings + k] = __builtin_sqrt(max(square / total - mean * mean, 0.0));
        }
    }
}

}  // namespace plurank

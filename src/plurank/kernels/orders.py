"""Expected wins of ordered pairs in every ranking, and orders that explain them better."""

import numpy as np
from numba import prange

from plurank.kernels.compiling import kernel
from plurank.kernels.simplex import FAST


@kernel(parallel=True, fastmath=FAST)
def expected_wins(begins, users, weights, probabilities, theta, evidence):
    """Share out the comparisons of every ordered pair w among the rankings, averaged over what users' weights may be.

    ``out[w, k] = sum_e weights[e] r_ek`` over the comparisons begins[w]:begins[w + 1], u = users[e], where ``r_k ~
    theta_k p_k (1 - (p_k - q) / (q (n + 1)) + v / q^2)``, not negative, with q = theta . p, n the evidence behind theta
    and v = (theta . p^2 - q^2) / (n + 1): the mean of theta_k p_k / q over Dirichlet(n theta), to second order.
    probabilities (W, K) -> (W, K); an empty weights means all ones.
    """
    n_rows, n_rankings = probabilities.shape
    out = np.zeros((n_rows, n_rankings))
    for w in prange(n_rows):
        joint = np.empty(n_rankings)
        p = probabilities[w]
        for e in range(begins[w], begins[w + 1]):
            u = users[e]
            mixed, square = 0.0, 0.0
            for k in range(n_rankings):
                mixed += theta[u, k] * p[k]
                square += theta[u, k] * p[k] * p[k]
            inverse = 1.0 / (evidence[u] + 1.0)
            more = 1.0 + (square / (mixed * mixed) - 1.0) * inverse
            total = 0.0
            for k in range(n_rankings):
                joint[k] = theta[u, k] * p[k] * max(more - (p[k] / mixed - 1.0) * inverse, 0.0)
                total += joint[k]
            share = (weights[e] if weights.size else 1.0) / total
            for k in range(n_rankings):
                out[w, k] += share * joint[k]
    return out


@kernel(fastmath=FAST)
def _gain_of_moving(item, by, place, begins, partners, won, lost, law, but):
    """Change of the log likelihood when an item moves ``by`` places and all others but one stay."""
    middle = place.size - 1
    gain = 0.0
    for e in range(begins[item], begins[item + 1]):
        partner = partners[e]
        if partner != but:
            apart = place[partner] - place[item]
            gain += won[e] * (law[middle + apart - by] - law[middle + apart])
            gain += lost[e] * (law[middle - apart + by] - law[middle - apart])
    return gain


@kernel(fastmath=FAST)
def _swap(a, order, place, begins, partners, won, lost, law):
    """Swap the items at places a and a + 1; gives the change of the log likelihood."""
    first, second = order[a], order[a + 1]
    middle = place.size - 1
    gain = _gain_of_moving(first, 1, place, begins, partners, won, lost, law, second)
    gain += _gain_of_moving(second, -1, place, begins, partners, won, lost, law, first)
    for e in range(begins[first], begins[first + 1]):
        if partners[e] == second:
            gain += (won[e] - lost[e]) * (law[middle - 1] - law[middle + 1])
    order[a], order[a + 1] = second, first
    place[first], place[second] = a + 1, a
    return gain


@kernel(fastmath=FAST)
def _improve_one(order, begins, partners, won, lost, law, reach, max_sweeps):
    """Move single items up or down by at most ``reach`` places as long as the log likelihood grows."""
    n_items = order.size
    place = np.empty(n_items, np.int32)
    for a in range(n_items):
        place[order[a]] = a
    for _ in range(max_sweeps):
        improved = False
        for item in range(n_items):
            for direction in (1, -1):
                start = place[item]
                gain, best, best_place = 0.0, 1e-9, start
                for _ in range(reach):
                    a = place[item]
                    at = a if direction == 1 else a - 1
                    if at < 0 or at + 1 >= n_items:
                        break
                    gain += _swap(at, order, place, begins, partners, won, lost, law)
                    if gain > best:
                        best, best_place = gain, place[item]
                improved |= best_place != start
                while place[item] != best_place:  # back to the best place on the way
                    a = place[item]
                    after = order[a - 1] if direction == 1 else order[a + 1]
                    order[a], place[after] = after, a
                    a -= direction
                    order[a], place[item] = item, a
        if not improved:
            break


@kernel(parallel=True)
def improve_orders(rankings, begins, partners, won, lost, laws, reach, max_sweeps):
    """Search, for every ranking k, for an order with more ``sum wins(i over j) laws[k, place_j - place_i + Q - 1]``.

    Item i meets partners[begins[i]:begins[i + 1]], wins won[e, k] and loses lost[e, k]. laws (K, 2 Q - 1) are
    logarithms. Local search from rankings (K, Q): single items move by at most ``reach`` places.
    """
    improved = rankings.copy()
    for k in prange(rankings.shape[0]):
        _improve_one(improved[k], begins, partners, won[:, k].copy(), lost[:, k].copy(), laws[k], reach, max_sweeps)
    return improved


@kernel(parallel=True, fastmath=FAST)
def place_errors(rankings, begins, partners, won, lost, laws, reach):
    """Give the standard deviation of every item's place in every ranking, all other items staying, (Q, K).

    The place moves by t with probability proportional to ``exp(gain of moving by t)``, |t| <= reach.
    """
    n_rankings, n_items = rankings.shape
    out = np.zeros((n_items, n_rankings))
    for k in prange(n_rankings):
        place = np.empty(n_items, np.int32)
        for a in range(n_items):
            place[rankings[k, a]] = a
        wins, losses = won[:, k].copy(), lost[:, k].copy()
        for item in range(n_items):
            low = max(-reach, -place[item])
            high = min(reach, n_items - 1 - place[item])
            total, first, second = 0.0, 0.0, 0.0
            for by in range(low, high + 1):
                # others make room only in the order's own steps; their small shifts are left out here
                gain = _gain_of_moving(item, by, place, begins, partners, wins, losses, laws[k], -1)
                chance = np.exp(min(gain, 50.0))
                total += chance
                first += chance * by
                second += chance * by * by
            mean = first / total
            out[item, k] = np.sqrt(max(second / total - mean * mean, 0.0))
    return out

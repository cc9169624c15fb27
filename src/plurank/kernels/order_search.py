"""Rankings that are orders: expected wins of ordered pairs, and better orders; sources: ``native/order_search.cpp``."""

import numpy as np

from plurank.kernels.arrays import check
from plurank.kernels.library import (
    CODES,
    FLOATS,
    INT,
    INTS,
    OUT_FLOATS,
    OUT_INTS,
    function,
)
from plurank.kernels.threads import run
from plurank.types import Codes, Floats, Integers

_MEETINGS = (INTS, CODES, FLOATS, FLOATS, INT, FLOATS, INT)  # begins, partners, won, lost, their number, by_gap, reach
_expected_wins = function(
    "expected_wins", INT, INT, INTS, CODES, FLOATS, INT, FLOATS, FLOATS, FLOATS, INT, OUT_FLOATS, OUT_FLOATS
)
_orders_memory = function("orders_memory", INT, returns=INT)
_improve_orders = function("improve_orders", INT, INT, OUT_INTS, INT, *_MEETINGS, INT, OUT_FLOATS)
_place_errors = function("place_errors", INT, INT, INTS, INT, INT, *_MEETINGS, OUT_FLOATS, OUT_FLOATS)


def expected_wins(
    begins: Integers, users: Codes, weights: Floats, probabilities: Floats, theta: Floats, concentration: Floats
) -> Floats:
    """Share out the comparisons of every ordered pair among the rankings, averaged over what memberships may be.

    Those of pair w are begins[w]:begins[w + 1], made by users (n,); an empty weights means all ones. probabilities
    (W, K), theta (M, K) with posterior concentration (M,) -> (W, K).
    """
    n_rankings = theta.shape[1]
    check(len(begins) == len(probabilities) + 1 and begins[-1] == len(users) and probabilities.shape[1] == n_rankings)
    check(len(weights) in (0, len(users)) and len(concentration) == len(theta))
    out = np.empty(probabilities.shape)
    tables = (np.ascontiguousarray(table) for table in (probabilities, theta, concentration))
    given = begins, users, np.ascontiguousarray(weights), len(weights), *tables, n_rankings
    run(_expected_wins, len(out), 3 * len(users) * n_rankings, *given, out, memory=n_rankings)
    return out


def improve_orders(
    rankings: Integers,
    begins: Integers,
    partners: Codes,
    won: Floats,
    lost: Floats,
    by_gap: Floats,
    reach: int,
    max_sweeps: int,
) -> Integers:
    """Search, for every ranking k, for an order with more ``sum wins(i over j) by_gap[k, place_j - place_i + Q - 1]``.

    Item i meets partners[begins[i]:begins[i + 1]], wins won[e, k] and loses lost[e, k]. by_gap (K, 2 Q - 1) are
    logarithms. Local search from rankings (K, Q): single items move by at most ``reach`` places.
    """
    improved, meetings = (
        np.array(rankings, np.int64, order="C"),
        _meetings(rankings, begins, partners, won, lost, by_gap),
    )
    work, memory = 50 * won.size * reach, _orders_memory(rankings.shape[1])
    run(_improve_orders, len(improved), work, improved, improved.shape[1], *meetings, reach, max_sweeps, memory=memory)
    return improved


def place_errors(
    rankings: Integers, begins: Integers, partners: Codes, won: Floats, lost: Floats, by_gap: Floats, reach: int
) -> Floats:
    """Return the standard deviation of every item's place in every ranking, all other items staying, (Q, K).

    The place moves by t with probability proportional to ``exp(gain of moving by t)``, |t| <= reach.
    """
    n_rankings, n_items = rankings.shape
    out, meetings = np.empty((n_items, n_rankings)), _meetings(rankings, begins, partners, won, lost, by_gap)
    given = np.ascontiguousarray(rankings, np.int64), n_items, n_rankings, *meetings, reach
    run(_place_errors, n_rankings, 10 * won.size * reach, *given, out, memory=_orders_memory(n_items))
    return out


def _meetings(
    rankings: Integers, begins: Integers, partners: Codes, won: Floats, lost: Floats, by_gap: Floats
) -> tuple[Integers, Codes, Floats, Floats, int, Floats]:
    n_rankings, n_items = rankings.shape
    check(len(begins) == n_items + 1 and begins[-1] == len(partners) == len(won) == len(lost))
    check(won.shape[1] == lost.shape[1] == n_rankings and by_gap.shape == (n_rankings, 2 * n_items - 1))
    by_ranking = np.ascontiguousarray(won.T), np.ascontiguousarray(lost.T)
    return begins, partners, *by_ranking, len(partners), np.ascontiguousarray(by_gap)

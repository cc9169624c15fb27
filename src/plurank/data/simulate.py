"""The generative model of the paper (section 3), and what can be said about known rankings (section 4)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.data.comparisons import Comparisons
from plurank.data.encoding import (
    Labels,
    as_series,
    encode,
    missing,
    object_array,
)
from plurank.exceptions import ParameterError
from plurank.random import (
    RandomState,
    as_generator,
    draw_seed,
    spawn,
    uniforms_at,
)
from plurank.validation import (
    MOST_WHOLE,
    check_not_negative,
    check_numbers,
    check_whole,
    show_value,
)

USERS_PER_BLOCK = 4096  # bounds the memory at work; the answer does not depend on it


@dataclass(frozen=True)
class Simulation:
    """Simulated comparisons and the parameters they were drawn with, made by ``simulate``.

    Attributes
    ----------
    comparisons : Comparisons
        The simulated data.
    rankings : ndarray of int64, shape (K, Q)
        Item codes of every ranking, best first.
    user_weights : ndarray of shape (M, K)
        Weights of every user on the rankings.
    mean_weights : ndarray of shape (K,)
        Expectation of the user weights.

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(100, 5, 2, 20, random_state=0)
    >>> made.rankings.shape, made.user_weights.shape
    ((2, 5), (100, 2))
    """

    comparisons: Comparisons
    rankings: NDArray[np.int64]
    user_weights: NDArray[np.float64]
    mean_weights: NDArray[np.float64]


def simulate(
    n_users: int = 1000,
    n_items: int = 100,
    n_rankings: int = 10,
    comparisons_per_user: int | NDArray[np.int64] = 300,
    concentration: float = 0.1,
    random_state: RandomState = None,
    *,
    mean_weights: Any = None,
    rankings: Any = None,
    pair_probabilities: Any = None,
    lead_probabilities: Any = None,
    items: Any = None,
) -> Simulation:
    """Simulate comparisons from the mixed-membership model of the paper.

    The weights of each user are drawn from Dirichlet(``concentration * mean_weights``). For each comparison, a pair of
    items is drawn, then a ranking by the user's weights; the ranking decides the pair.

    Parameters
    ----------
    n_users : int, default=1000
        Number of users (M).
    n_items : int, default=100
        Number of items (Q), at least 2; taken from ``rankings`` where these are given.
    n_rankings : int, default=10
        Number of rankings (K); taken from ``rankings`` where these are given.
    comparisons_per_user : int or ndarray of shape (n_users,), default=300
        Number of comparisons of each user, at least 1.
    concentration : float, default=0.1
        Concentration of the Dirichlet distribution; with 0, each user follows a single ranking.
    random_state : int, numpy.random.Generator or None, default=None
        Seed.
    mean_weights : array-like of shape (K,) or None, default=None
        Expectation of the user weights; None draws it uniformly from the simplex.
    rankings : array-like of shape (K, Q) or None, default=None
        Item codes, best first; None draws uniform permutations.
    pair_probabilities : array-like of shape (Q, Q) or None, default=None
        How often each pair is compared, symmetric, zero on the diagonal; it need not sum to 1. None is uniform.
    lead_probabilities : array-like of shape (Q - 1,) or (K, Q - 1), or None, default=None
        Probability that an item d places ahead of another wins, for d = 1, ..., Q - 1, of all rankings or of each. None
        makes rankings strict: the item ahead always wins.
    items : array-like of shape (Q,) or None, default=None
        Different labels of the items; None uses the codes 0, ..., Q - 1.

    Returns
    -------
    Simulation
        The comparisons, rankings, user weights and mean weights.

    Raises
    ------
    ParameterError
        If a number is out of range, or an array does not have the shape or values stated above.

    References
    ----------
    W. Ding, P. Ishwar and V. Saligrama (2015), "A Topic Modeling Approach to Ranking", AISTATS, section 3.

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(100, 5, 2, 20, mean_weights=[0.7, 0.3], random_state=0)
    >>> made.comparisons
    <Comparisons: 100 users, 5 items, 2,000 comparisons (20 each)>
    """
    if rankings is not None:
        rankings = check_rankings(rankings)
        n_rankings, n_items = rankings.shape
    counts = _check_sizes(n_users, n_items, n_rankings, comparisons_per_user, concentration)
    laws = _check_leads(lead_probabilities, n_items, n_rankings)
    seeds = spawn(as_generator(random_state), 4)
    if rankings is None:
        rankings = np.stack([seeds[0].permutation(n_items) for _ in range(n_rankings)])
    mean = seeds[1].dirichlet(np.ones(n_rankings)) if mean_weights is None else _check_mean(mean_weights, n_rankings)
    weights = draw_user_weights(n_users, mean, concentration, rng=seeds[2])
    offsets = np.concatenate([[0], np.cumsum(counts)])
    cumulated_pairs = None if pair_probabilities is None else _check_pairs(pair_probabilities, n_items)
    winners, losers = _draw_comparisons(offsets, weights, rankings, cumulated_pairs, laws, rng=seeds[3])
    labels = _check_names(items, n_items)
    return Simulation(Comparisons(winners, losers, offsets, labels, np.arange(n_users)), rankings, weights, mean)


def draw_user_weights(
    n_users: int, mean: NDArray[np.float64], concentration: float, *, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw (n_users, K) rows from Dirichlet(concentration * mean), safely also where the shapes are tiny.

    A Gamma(s) variate underflows for small s, so its logarithm is drawn: log Gamma(s + 1) + log(uniform) / s.
    """
    if concentration < 1e-200:  # one ranking a user, to the last digit
        one_each: NDArray[np.float64] = np.eye(len(mean))[rng.choice(len(mean), size=n_users, p=mean)]
        return one_each
    shapes = np.maximum(concentration * mean, 1e-300)
    size = (n_users, len(mean))
    logs = np.log(rng.standard_gamma(shapes + 1.0, size)) + np.log1p(-rng.random(size)) / shapes
    weights: NDArray[np.float64] = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _draw_comparisons(
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    rankings: NDArray[np.int64],
    cumulated_pairs: NDArray[np.float64] | None,
    laws: NDArray[np.float64],
    *,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Draw block by block; comparison e takes draw e of the stream of pairs and of the stream of rankings."""
    n_users, n_items = len(weights), rankings.shape[1]
    places = np.ascontiguousarray(np.argsort(rankings, axis=1).T.astype(np.int32))
    pair_seed, ranking_seed = draw_seed(rng), draw_seed(rng)
    coin_seed = draw_seed(rng) if laws.size else 0
    parts = []
    for begin in range(0, n_users, USERS_PER_BLOCK):
        end = min(begin + USERS_PER_BLOCK, n_users)
        own = offsets[begin : end + 1] - offsets[begin]
        pairs, chosen = (uniforms_at(seed, int(offsets[begin]), int(own[-1])) for seed in (pair_seed, ranking_seed))
        first, second = _choose_pairs(pairs, n_items, cumulated_pairs)
        cumulative = np.cumsum(weights[begin:end], axis=1)
        coins = uniforms_at(coin_seed, int(offsets[begin]), int(own[-1])) if laws.size else np.empty(0)
        users = np.repeat(np.arange(end - begin), np.diff(own))
        tokens = _draw_tokens(users, cumulative, chosen)
        leads = places[second, tokens] - places[first, tokens]
        forward = coins < laws[tokens, leads + n_items - 1] if laws.size else leads > 0
        parts.append((np.where(forward, first, second), np.where(forward, second, first)))
    return np.concatenate([w for w, _ in parts]), np.concatenate([loser for _, loser in parts])


def _draw_tokens(
    users: NDArray[np.int64], cumulative: NDArray[np.float64], uniforms: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Draw the ranking that makes each comparison: ``searchsorted(cumulative[u], uniforms[e], side="right")``."""
    tokens = np.zeros(len(users), np.int64)
    for column in cumulative[:, :-1].T:
        tokens += uniforms >= column[users]
    return tokens


def _choose_pairs(
    uniforms: NDArray[np.float64], n_items: int, cumulated: NDArray[np.float64] | None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Turn each draw into an ordered pair of different items."""
    if cumulated is None:
        codes = (uniforms * (n_items * (n_items - 1))).astype(np.int64)
        first, second = np.divmod(codes, n_items - 1)
        second += second >= first
    else:
        first, second = np.divmod(np.searchsorted(cumulated, uniforms, side="right"), n_items)
    return first.astype(np.int32), second.astype(np.int32)


def novel_pairs(rankings: Any) -> list[NDArray[np.int64]]:
    """Find the novel pairs of every ranking: ordered pairs (i, j) that it alone puts in this order.

    Parameters
    ----------
    rankings : array-like of shape (K, Q)
        Item codes 0, ..., Q - 1, best first.

    Returns
    -------
    list of ndarray of int64
        K arrays of shape (n, 2), one row per pair; n may be 0.

    Raises
    ------
    ParameterError
        If a row is not a permutation of 0, ..., Q - 1.

    References
    ----------
    W. Ding, P. Ishwar and V. Saligrama (2015), "A Topic Modeling Approach to Ranking", AISTATS, section 4.

    Examples
    --------
    >>> import plurank
    >>> [pairs.tolist() for pairs in plurank.novel_pairs([[0, 1, 2], [0, 2, 1]])]
    [[[1, 2]], [[2, 1]]]
    """
    rankings = check_rankings(rankings)
    places = np.argsort(rankings, axis=1)
    found: list[list[NDArray[np.int64]]] = [[] for _ in rankings]
    for i in range(places.shape[1]):
        prefers = places[:, [i]] < places  # (K, Q): ranking k puts i before j
        alone = prefers.sum(axis=0) == 1
        for k in range(len(places)):
            others = np.flatnonzero(prefers[k] & alone)
            found[k].append(np.stack([np.full_like(others, i), others], axis=1))
    return [np.concatenate(pairs) for pairs in found]


def is_separable(rankings: Any) -> bool:
    """Check whether every ranking has at least one novel pair, as the method of the paper requires.

    Parameters
    ----------
    rankings : array-like of shape (K, Q)
        Item codes 0, ..., Q - 1, best first.

    Returns
    -------
    bool
        False where ``novel_pairs`` finds none for some ranking.

    Raises
    ------
    ParameterError
        If a row is not a permutation of 0, ..., Q - 1.

    References
    ----------
    W. Ding, P. Ishwar and V. Saligrama (2015), "A Topic Modeling Approach to Ranking", AISTATS, section 4.

    Examples
    --------
    >>> import plurank
    >>> plurank.is_separable([[0, 1, 2], [0, 2, 1]]), plurank.is_separable([[0, 1, 2], [0, 1, 2]])
    (True, False)
    """
    return all(len(pairs) > 0 for pairs in novel_pairs(rankings))


def check_rankings(rankings: Any) -> NDArray[np.int64]:
    """Check (K, Q) rankings: each row a permutation of 0, ..., Q - 1, best first."""
    array = check_numbers("rankings", rankings)
    if array.ndim != 2 or not array.size or not (np.sort(array, axis=1) == np.arange(array.shape[1])).all():
        expected = "an array (n_rankings, n_items), each row a permutation of 0 to n_items - 1"
        raise ParameterError(parameter="rankings", expected=expected, got=f"shape {array.shape}")
    return array.astype(np.int64)


def _check_sizes(
    n_users: int, n_items: int, n_rankings: int, per_user: int | NDArray[np.int64], concentration: float
) -> NDArray[np.int64]:
    for name, value, least in (("n_users", n_users, 1), ("n_items", n_items, 2), ("n_rankings", n_rankings, 1)):
        check_whole(name, value, least)
    check_not_negative("concentration", concentration)
    counts = check_numbers("comparisons_per_user", per_user)
    if counts.shape not in ((), (n_users,)) or (counts != np.floor(counts)).any() or counts.min() < 1:
        expected = "an integer >= 1, or one for each user"
        raise ParameterError(parameter="comparisons_per_user", expected=expected, got=show_value(per_user))
    if counts.max() > MOST_WHOLE:
        expected = f"at most {MOST_WHOLE:,}"
        raise ParameterError(parameter="comparisons_per_user", expected=expected, got="a larger number")
    return np.broadcast_to(counts.astype(np.int64), (n_users,))


def _check_mean(mean_weights: Any, n_rankings: int) -> NDArray[np.float64]:
    mean = check_numbers("mean_weights", mean_weights)
    if mean.shape != (n_rankings,) or not (mean >= 0).all() or not np.isclose(mean.sum(), 1.0):
        expected = f"{n_rankings} numbers >= 0 that sum to 1"
        raise ParameterError(parameter="mean_weights", expected=expected, got=show_value(mean.tolist()))
    mean /= mean.sum()
    return mean


def _check_pairs(pair_probabilities: Any, n_items: int) -> NDArray[np.float64]:
    table = check_numbers("pair_probabilities", pair_probabilities)
    square = table.shape == (n_items, n_items)
    if not square or (table < 0).any() or not np.allclose(table, table.T) or table.diagonal().any():
        expected = f"a symmetric ({n_items}, {n_items}) table of numbers >= 0 with zeros on the diagonal"
        raise ParameterError(parameter="pair_probabilities", expected=expected)
    cumulated = np.cumsum(table)
    if not 0 < cumulated[-1] < np.inf:
        raise ParameterError(parameter="pair_probabilities", expected="numbers with a positive, finite sum")
    # the last pair that can occur takes what rounding leaves, so that no draw falls behind it
    cumulated /= cumulated[-1]
    cumulated[np.flatnonzero(table)[-1] :] = np.inf
    return cumulated


def _check_leads(lead_probabilities: Any, n_items: int, n_rankings: int) -> NDArray[np.float64]:
    """Return P(win) by ranking for leads of 1 - Q to Q - 1 places, (K, 2 Q - 1), or None; raise where invalid."""
    if lead_probabilities is None:
        return np.empty((0, 0))
    ahead = check_numbers("lead_probabilities", lead_probabilities)
    if ahead.shape not in ((n_items - 1,), (n_rankings, n_items - 1)) or not ((ahead >= 0) & (ahead <= 1)).all():
        expected = f"{n_items - 1} probabilities, or as many for each of {n_rankings} rankings"
        raise ParameterError(parameter="lead_probabilities", expected=expected, got=f"shape {ahead.shape}")
    ahead = np.broadcast_to(ahead, (n_rankings, n_items - 1))
    return np.concatenate([1.0 - ahead[:, ::-1], np.full((n_rankings, 1), 0.5), ahead], axis=1)


def _check_names(items: Any, n_items: int) -> Labels:
    if items is None:
        return np.arange(n_items)
    series = as_series(items, "items")
    n_different = len(encode(series)[1])
    if len(series) != n_items or missing(series).any() or n_different < n_items:
        got = f"{len(series)} with {n_different} different"
        raise ParameterError(parameter="items", expected=f"{n_items} different labels", got=got)
    return series.to_numpy() if series.dtype.is_numeric() else object_array(series.to_list())

"""FJS: the sparsest mixture of rankings behind the pooled preferences.

Farias, Jagabathula and Shah (2009); paper: appendix, "Connection to the model in FJS". Pooled over all users, item i is
preferred to item j with probability ``p(i over j) = sum of the masses of the rankings that put i first``. Where every
ranking has a pair that it alone puts in this order (signature) and no two sets of rankings have the same mass (linear
independence), the smallest value is a mass, and every larger one is a sum of masses known already or a new mass.

Ours: data have sampling errors, so a value is a sum of masses where it lies within a tolerance of it, in standard
errors of that value. Several tolerances are tried; for each, the masses and which pairs they belong to are fitted in
turns, and the one whose rankings explain the values best is kept.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.engine.local import Engine
from plurank.exceptions import NotIdentifiableError, ParameterError
from plurank.models.fields import COMMON, Field, Fields
from plurank.topic.estimator import StrictFit, StrictRankings, weigh_users
from plurank.topic.moments import Moments, pair_moments
from plurank.topic.orders import ranking_matrix
from plurank.topic.rounding import Rounded, round_to_rankings
from plurank.topic.weights import fit_prior
from plurank.types import Codes, Floats, Progress, silent
from plurank.validation import check_whole

MOST_RANKINGS = 20  # a million sums of masses
EXACT = 1e-9  # values are taken to be known so well at best
TOLERANCES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0)  # in standard errors
MAX_ROUNDS = 1000
OWN_FIELDS = {
    "flip_probability_": Field("f", (), "at most a half"),
    "intransitive_triples_": Field("i", ("K",), "not negative"),
}


class Marginals(NamedTuple):
    """How often the lower item of each pair is preferred, values (n_pairs,), with standard errors, for all users."""

    n_items: int
    lower: Codes
    higher: Codes
    values: Floats
    errors: Floats


class SparseFit(NamedTuple):
    """Masses (K,), the rankings they belong to, how badly these explain the values, and the rounds it took."""

    masses: Floats
    rounded: Rounded
    misfit: float
    n_rounds: int
    is_stable: bool


class FJS(StrictRankings):
    """The sparsest mixture of rankings behind the pooled preferences of all users.

    It pools all users, so it needs very many comparisons, and masses of which no two sets have the same sum. Time and
    memory are exponential in the number of rankings: all 2^K sums of masses are listed.

    Parameters
    ----------
    n_rankings : int, default=10
        Number of rankings (K), at most 20.

    Attributes
    ----------
    rankings_ : ndarray of shape (K, Q)
        Item numbers, best first; the most followed ranking first.
    mean_weights_ : ndarray of shape (K,)
        Masses of the rankings.
    user_weights_ : ndarray of shape (M, K)
        Weights of every user, given the rankings.
    concentration_, flip_probability_ : float
        Concentration of the prior of user weights, and probability of a choice against the ranking that generated it.
    intransitive_triples_ : ndarray of shape (K,)
        Number of intransitive triples among the pairwise preferences found, before items are ordered.
    items_, users_ : ndarray
        Labels of items (Q,) and users (M,).
    n_iter_, converged_ : int, bool
        Rounds of fitting masses, and whether further ones would have changed nothing.

    References
    ----------
    V. F. Farias, S. Jagabathula and D. Shah (2009), "A Data-Driven Approach to Modeling Choice", NIPS.

    W. Ding, P. Ishwar and V. Saligrama (2015), "A Topic Modeling Approach to Ranking", AISTATS, appendix.

    Examples
    --------
    >>> import plurank
    >>> orders = [[0, 1, 2, 3], [3, 1, 0, 2]]
    >>> made = plurank.simulate(500, 4, 2, 50, rankings=orders, mean_weights=[0.7, 0.3], random_state=0)
    >>> model = plurank.FJS(2).fit(made.comparisons)
    >>> plurank.ranking_error(model.rankings_, made.rankings)
    0.0
    """

    about = "the sparsest mixture behind the pooled preferences"
    unfinished = "the masses were still changing"

    def __init__(self, n_rankings: int = 10) -> None:
        self.n_rankings = n_rankings

    @property
    def fields(self) -> Fields:
        """What a fitted model consists of."""
        return {**COMMON, **OWN_FIELDS}

    def _fit(self, source: Comparisons, engine: Engine, on_progress: Progress) -> StrictFit:
        on_progress("counting pairs", 0.0)
        moments = pair_moments(source, 0)  # no half of it is used, so the seed of the halves is none
        found = fit_sparsest(pooled_marginals(moments), self.n_rankings, on_progress)
        rankings = found.rounded.rankings

        def prior(_: Comparisons, flip: float) -> tuple[Floats, float]:
            return found.masses, fit_prior(moments, rankings, flip)[1]

        return StrictFit(
            rankings=rankings, intransitive_triples=found.rounded.n_intransitive, n_iter=found.n_rounds,
            converged=found.is_stable, **weigh_users(source, rankings, prior, engine, on_progress),
        )  # fmt: skip

    def check_parameters(self) -> None:
        """Raise a ParameterError where a parameter is not valid."""
        if check_whole("n_rankings", self.n_rankings, 1) > MOST_RANKINGS:
            expected = f"at most {MOST_RANKINGS}, because FJS lists all sums of that many masses"
            raise ParameterError(parameter="n_rankings", expected=expected, got=f"{self.n_rankings!r}")


def pooled_marginals(moments: Moments) -> Marginals:
    """Return the share of comparisons of each pair that its lower item won, with binomial standard errors.

    The errors are those after one more win of both sides, so that a share of 0 or 1 is not taken for certain.
    """
    won, lost = moments.counts[0::2], moments.counts[1::2]
    played = won + lost
    guess = (won + 1.0) / (played + 2.0)
    return Marginals(
        moments.n_items, moments.lower, moments.higher, won / played, np.sqrt(guess * (1.0 - guess) / played)
    )


def fit_sparsest(marginals: Marginals, n_rankings: int, on_progress: Progress = silent) -> SparseFit:
    """Find masses with every tolerance that gives n_rankings of them, and keep the best fit."""
    fits, most = [], 1
    for n, tolerance in enumerate(TOLERANCES):
        on_progress("finding masses", n / len(TOLERANCES))
        masses = find_masses(marginals, n_rankings, tolerance)
        most = max(most, len(masses))
        if len(masses) == n_rankings:
            fits.append(_fit_sparse_rankings(marginals, masses))
    if not fits:
        raise NotIdentifiableError(
            f"{n_rankings} rankings were asked for, but no more than {most} were found. Try fewer rankings."
        )
    return min(fits, key=lambda fit: fit.misfit)


def find_masses(marginals: Marginals, n_rankings: int, tolerance: float) -> Floats:
    """Go through the values in ascending order: each is a sum of masses known already, or a new mass.

    A new mass is the mean of the values that lie within the tolerance around it. The largest mass is what the others
    leave, so at most n_rankings - 1 are looked for; fewer are given where they explain everything.
    """
    values = np.concatenate([marginals.values, 1.0 - marginals.values])
    reach = np.maximum(tolerance * np.concatenate([marginals.errors, marginals.errors]), EXACT)
    order = np.argsort(values, kind="stable")
    values, reach = values[order], reach[order]
    masses = np.empty(0)
    while len(masses) < n_rankings - 1:
        sums, _ = subset_sums(masses)
        unexplained = np.flatnonzero(np.abs(sums[nearest(sums, values)] - values) > reach)
        if not unexplained.size:
            break
        first = unexplained[0]
        alike = values[unexplained] <= values[first] + 2.0 * reach[first]
        mass = values[unexplained][alike].mean()
        if masses.sum() + mass > 1.0 - EXACT:
            break
        masses = np.append(masses, mass)
    return np.append(masses, 1.0 - masses.sum())


def subset_sums(masses: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return the sums of all sets of masses, sorted, (2^K,), and the sets: bit k is set where mass k is in it."""
    sums = np.zeros(1)
    for mass in masses:
        sums = np.concatenate([sums, sums + mass])
    order = np.argsort(sums, kind="stable")
    return sums[order], order


def nearest(sums: Floats, values: Floats) -> NDArray[np.int64]:
    """Return the place of the nearest of sorted sums for every value."""
    after = np.clip(np.searchsorted(sums, values), 1, max(len(sums) - 1, 1))
    before, after = after - 1, np.minimum(after, len(sums) - 1)
    return np.where(values - sums[before] <= sums[after] - values, before, after)


def _fit_sparse_rankings(marginals: Marginals, masses: Floats) -> SparseFit:
    """Fit masses and the pairs they belong to, order the items of each, and fit the masses to these rankings."""
    precision = 1.0 / np.maximum(marginals.errors, EXACT) ** 2
    members, n_rounds, is_stable = _assign_pairs(marginals, masses, precision)
    rounded = _order_items(marginals, members)
    followed = ranking_matrix(rounded.rankings, marginals.lower, marginals.higher)[0::2]
    masses = _fit_masses(followed, marginals.values, precision)
    misfit = float(precision @ (followed @ masses - marginals.values) ** 2)
    return SparseFit(masses, rounded, misfit, n_rounds, is_stable)


def _assign_pairs(marginals: Marginals, masses: Floats, precision: Floats) -> tuple[NDArray[np.bool_], int, bool]:
    """Assign every pair to the nearest sum of masses, fit the masses to their pairs, and again until nothing changes.

    Gives the members (n_pairs, K), the rounds, and whether nothing changed at last; the misfit never grows.
    """
    members = _members(marginals, masses)
    for n_rounds in range(1, MAX_ROUNDS + 1):
        masses = _fit_masses(members, marginals.values, precision)
        before, members = members, _members(marginals, masses)
        if (members == before).all():
            return members, n_rounds, True
    return members, MAX_ROUNDS, False


def _members(marginals: Marginals, masses: Floats) -> NDArray[np.bool_]:
    """Return which rankings put the lower item of each pair first, (n_pairs, K)."""
    sums, sets = subset_sums(masses)
    chosen = sets[nearest(sums, marginals.values)]
    return (chosen[:, None] >> np.arange(len(masses)) & 1).astype(bool)


def _fit_masses(members: NDArray[np.bool_], values: Floats, precision: Floats) -> Floats:
    """Fit masses (K,) on the simplex to ``values = members @ masses`` by least squares."""
    weighted = members * (precision / precision.sum())[:, None]
    return kernels.regress_on_simplex(weighted.T @ members, (values @ weighted)[None], 1e-15, 10_000)[0]


def _order_items(marginals: Marginals, members: NDArray[np.bool_]) -> Rounded:
    """Turn the pairs of each ranking into a total order by the share of its pairs that an item wins."""
    matrix = np.empty((2 * len(members), members.shape[1]))
    matrix[0::2], matrix[1::2] = members, ~members
    return round_to_rankings(matrix, marginals.lower, marginals.higher, marginals.n_items)

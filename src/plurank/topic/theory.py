"""What the paper proves: its matrices for a known population, and the sample size its guarantee asks for.

Paper: sections 3 and 4, Lemma 2, Eq. 5, and Theorem 2 (section 5; lines 638-662 of the LaTeX source, repeated with its
proof in lines 1569-1596).
"""

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.data.simulate import check_rankings, is_separable
from plurank.exceptions import Argument, NotIdentifiableError, ParameterError
from plurank.random import RandomState, as_generator
from plurank.topic.orders import ranking_matrix
from plurank.types import Floats
from plurank.validation import check_not_negative, check_numbers, check_whole, is_number

# The paper's matrices for a known population: what infinitely many users would show.
#
# Paper: sections 3 and 4, Lemma 2 and Eq. 5. Needs rankings, the Dirichlet prior of user weights and how often pairs
# are shown; gives B-bar and R-bar, with ``E = B-bar R-bar B-bar^T``, and the solid angles. Differences from the paper:
# an ordered pair that no ranking has never occurs, so it has no row.

DIRECTIONS_AT_A_TIME = 100_000


@dataclass(frozen=True)
class Population:
    """The moments of W ordered pairs that can occur.

    pairs (W, 2): the item preferred and the other; probabilities (W,): B a; shares (W, K): B-bar, which share of a
    pair's occurrences each ranking accounts for; correlations (K, K): R-bar.
    """

    pairs: NDArray[np.int64]
    probabilities: Floats
    shares: Floats
    correlations: Floats

    @property
    def moments(self) -> Floats:
        """E, (W, W)."""
        return self.shares @ self.correlations @ self.shares.T

    @property
    def novel_to(self) -> NDArray[np.int64]:
        """The ranking to which each pair is novel, -1 where it is novel to none, (W,)."""
        alone = (self.shares > 0).sum(axis=1) == 1
        return np.where(alone, self.shares.argmax(axis=1), -1)

    def solid_angles(self, n_directions: int, *, rng: np.random.Generator) -> Floats:
        """Estimate the solid angle of each ranking's novel pairs (Eq. 5) as a share of random directions, (K,).

        Every row of E is a mixture of the novel rows, and those have projections ``g = R-bar B-bar^T d`` on d. So it is
        enough to draw g, of covariance ``R-bar B-bar^T B-bar R-bar`` for Gaussian d, and see which entry is largest.
        The standard error is ``sqrt(q (1 - q) / n_directions)``.
        """
        root = np.linalg.qr(self.shares @ self.correlations, mode="r")
        n_highest = np.zeros(len(self.correlations), dtype=np.int64)
        for begin in range(0, n_directions, DIRECTIONS_AT_A_TIME):
            size = (min(DIRECTIONS_AT_A_TIME, n_directions - begin), len(root))
            highest = (rng.standard_normal(size) @ root).argmax(axis=1)
            n_highest += np.bincount(highest, minlength=len(n_highest))
        return n_highest / n_directions


def known_population(
    rankings: Any, mean_weights: Any, concentration: float, pair_probabilities: Any = None
) -> Population:
    """Compute the moments of a model: rankings (K, Q), weights from Dirichlet(concentration * mean_weights).

    ``pair_probabilities`` ((Q, Q), symmetric; None is uniform) need not sum to 1.
    """
    rankings = check_rankings(rankings)
    if rankings.shape[1] < 2:
        raise ParameterError(parameter="rankings", expected="of at least 2 items", got="1")
    mean = _check_positive_mean(mean_weights, len(rankings))
    check_not_negative("concentration", concentration)
    lower, higher = (items.astype(np.int32) for items in np.triu_indices(rankings.shape[1], 1))
    shown = _check_positive_pairs(pair_probabilities, rankings.shape[1])[lower, higher]
    weighted = np.repeat(shown / shown.sum(), 2)[:, None] * ranking_matrix(rankings, lower, higher) * mean
    probabilities = weighted.sum(axis=1)
    pairs = np.stack([lower, higher, higher, lower], axis=1).reshape(-1, 2).astype(np.int64)
    occurs = probabilities > 0
    shares = weighted[occurs] / probabilities[occurs, None]
    correlations = (concentration + np.diag(1.0 / mean)) / (concentration + 1.0)
    return Population(pairs[occurs], probabilities[occurs], shares, correlations)


def _check_positive_mean(mean_weights: Any, n_rankings: int) -> Floats:
    mean = check_numbers("mean_weights", mean_weights)
    if mean.shape != (n_rankings,) or not (mean > 0).all() or not np.isclose(mean.sum(), 1.0):
        raise ParameterError(
            parameter="mean_weights",
            expected=f"{n_rankings} positive numbers that sum to 1",
            got=f"{mean.tolist()!r:.80}",
            hint="Leave out rankings that nobody follows.",
        )
    return mean / mean.sum()


def _check_positive_pairs(pair_probabilities: Any, n_items: int) -> Floats:
    table = check_numbers(
        "pair_probabilities", 1.0 - np.eye(n_items) if pair_probabilities is None else pair_probabilities
    )
    square = table.shape == (n_items, n_items)
    if not square or not np.allclose(table, table.T) or not ((table > 0) == ~np.eye(n_items, dtype=bool)).all():
        size = f"({n_items}, {n_items})"
        expected = f"a symmetric {size} table with zeros on the diagonal and positive numbers elsewhere"
        raise ParameterError(parameter="pair_probabilities", expected=expected)
    return table


@dataclass(frozen=True)
class UsersNeeded:
    """tolerance (rho): how wrong an entry of E may be; the users needed to detect novel pairs, and to regress."""

    tolerance: float
    for_detection: float
    for_regression: float

    @property
    def users(self) -> float:
        """The number of users (M) that the theorem asks for."""
        return max(self.for_detection, self.for_regression)


@dataclass(frozen=True)
class SampleBound:
    """The sample size that Theorem 2 of the paper requires, and the constants behind it; made by ``sample_bound``.

    Attributes
    ----------
    n_ordered_pairs : int
        Number of ordered pairs that can occur (W), of Q (Q - 1).
    least_probability : float
        Least probability of one of them (eta).
    largest_share : float
        Largest share of a ranking in a pair that is not novel (b).
    least_eigenvalue, largest_eigenvalue : float
        Of the normalised second moments of user weights, R-bar (lambda_min, lambda_max).
    entry_distance, row_distance : float
        Least distance of a novel row of E from the others, by entries (d) and by rows (d_2).
    solid_angles : ndarray of shape (K,)
        Normalised solid angle of each ranking's novel pairs.
    least_solid_angle, solid_angle_error : float
        The least of them (q), and its standard error.
    isotropic, gaussian : UsersNeeded
        Numbers of users for directions on the sphere and for Gaussian directions: ``users``, the larger one of
        ``for_detection`` and ``for_regression``, and ``tolerance`` (rho).
    projections : float
        Number of directions (P).

    References
    ----------
    W. Ding, P. Ishwar and V. Saligrama (2015), "A Topic Modeling Approach to Ranking", AISTATS, Theorem 2.

    Examples
    --------
    >>> import plurank
    >>> bound = plurank.sample_bound([[0, 1, 2], [2, 1, 0]], [0.5, 0.5], 0.1, 20, n_directions=10_000)
    >>> bound.n_ordered_pairs
    6
    """

    n_ordered_pairs: int
    least_probability: float
    largest_share: float
    least_eigenvalue: float
    largest_eigenvalue: float
    entry_distance: float
    row_distance: float
    solid_angles: Floats
    least_solid_angle: float
    solid_angle_error: float
    isotropic: UsersNeeded
    gaussian: UsersNeeded
    projections: float


def sample_bound(
    rankings: Any,
    mean_weights: Any,
    concentration: float,
    comparisons_per_user: int,
    *,
    pair_probabilities: Any = None,
    failure_probability: float = 0.05,
    n_directions: int = 1_000_000,
    random_state: RandomState = 0,
) -> SampleBound:
    """Compute the number of users with which Theorem 2 of the paper guarantees that the rankings are recovered.

    All constants are exact except the solid angles, which are shares of random directions.

    Parameters
    ----------
    rankings : array-like of shape (K, Q)
        Item codes 0, ..., Q - 1, best first; separable.
    mean_weights : array-like of shape (K,)
        Mean of the Dirichlet distribution of user weights, positive.
    concentration : float
        Its concentration, >= 0.
    comparisons_per_user : int
        Number of comparisons of each user, >= 2.
    pair_probabilities : array-like of shape (Q, Q) or None, default=None
        How often each pair is compared, symmetric, zero on the diagonal only; it need not sum to 1. None is uniform.
    failure_probability : float, default=0.05
        Probability that the recovery fails, above 0 and at most 0.5.
    n_directions : int, default=1_000_000
        Random directions to estimate solid angles with.
    random_state : int, numpy.random.Generator or None, default=0
        Seed of the directions.

    Returns
    -------
    SampleBound
        The numbers of users and projections, and the constants of the theorem.

    Raises
    ------
    NotIdentifiableError
        If some ranking has no novel pair.
    ParameterError
        If a parameter is not valid, or ``n_directions`` is too small to find all solid angles.

    References
    ----------
    W. Ding, P. Ishwar and V. Saligrama (2015), "A Topic Modeling Approach to Ranking", AISTATS, Theorem 2.

    Examples
    --------
    >>> import plurank
    >>> few, many = (
    ...     plurank.sample_bound([[0, 1, 2], [2, 1, 0]], [0.5, 0.5], 0.1, n, n_directions=10_000) for n in (20, 40)
    ... )
    >>> round(few.gaussian.users / many.gaussian.users, 6)
    2.0
    """
    per_user = check_whole("comparisons_per_user", comparisons_per_user, 2)
    check_whole("n_directions", n_directions, 1)
    if not is_number(failure_probability) or not 0 < failure_probability <= 0.5:
        got = f"{failure_probability!r:.80}"
        raise ParameterError(parameter="failure_probability", expected="above 0 and at most 0.5", got=got)
    population = known_population(rankings, mean_weights, concentration, pair_probabilities)
    if not is_separable(rankings):
        raise NotIdentifiableError(
            "Theorem 2 expects separable rankings, but some of these have no novel pair. See novel_pairs(rankings)."
        )
    angles = population.solid_angles(n_directions, rng=as_generator(random_state))
    if not angles.all():
        raise ParameterError(
            f"the novel pairs of ranking {int(angles.argmin())} were the highest along none of {n_directions:,} "
            "directions.",
            parameter="n_directions",
            hint=("Use a larger ", Argument("n_directions"), "."),
        )
    return _evaluate(
        population, angles, sqrt(angles.min() * (1.0 - angles.min()) / n_directions), per_user, failure_probability
    )


def _evaluate(population: Population, angles: Floats, error: float, N: int, delta: float) -> SampleBound:
    """Put the constants together as Theorem 2 prints them."""
    W, K = population.shares.shape
    eta, q = float(population.probabilities.min()), float(angles.min())
    b = float(population.shares[population.novel_to < 0].max(initial=0.0))
    eigenvalues = np.linalg.eigvalsh(population.correlations)
    least, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    d_2 = (1.0 - b) * least
    d = d_2**2 / largest
    chance = log(3 * W / delta)

    def users(rho: float) -> UsersNeeded:
        return UsersNeeded(rho, 40 * chance / (N * rho**2 * eta**4), 320 * sqrt(W) * chance / (N * eta**6 * least))

    isotropic = users(min(d / 8, pi * d_2 * q / (4 * W**1.5)))
    gaussian = users(min(d / 8, sqrt(pi) * d_2 * q / (4 * K * sqrt(W * log(2 * W / q)))))
    return SampleBound(W, eta, b, least, largest, d, d_2, angles, q, error, isotropic, gaussian, 16 * chance / q**2)

"""How many users and random projections the paper's guarantee asks for, when the truth is known.

Paper: Theorem 2 (section 5; lines 638-662 of the LaTeX source, repeated with its proof in lines 1569-1596) for any
isotropic distribution of the directions, and its version for Gaussian directions (appendix, lines 1597-1732). Neither
hides a constant: 40, 320, 16, pi / 4 and sqrt(pi) / 4 are taken as printed. What a reader of the proofs should know:
- N is the size of one half of a user's comparisons in the proof of Lemma 2 (lines 1147-1149), and all of a user's
  comparisons in the theorem. We take the theorem at its word; by the proof, twice as many users are needed.
- Lemma 2's error is said to fall with M N (line 1141). But comparisons of one user share that user's weights, so it
  cannot fall below what M people tell, however much they say: ``benchmarks/paper/lemma2.py`` measures it.
- The weights of the regression are wrong by at most 4 sqrt(W) / lambda_min times the error of E (line 1517). Its square
  belongs in the rate of line 1486, where sqrt(W) and lambda_min stand, so the printed 320 sqrt(W) / lambda_min is less
  than the proof gives unless lambda_min is far above sqrt(W).
- eta is called a lower bound of mu_ij a_k (line 1563). It is where all pairs are shown equally often, else not always.
- For Gaussian directions solid angles must be right within a quarter of the smallest (line 1459), but the printed rho
  (line 1724) allows the whole; and its 4 K (line 1684) comes out as 8 K when the steps from line 1678 are redone.
Differences from the paper: the smallest probability eta and W are of ordered pairs that can occur. Where all rankings
agree on a pair, its reverse has probability 0, and the theorem as printed would ask for infinitely many users.
"""

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Any

import numpy as np

from plurank.data.checks import check_whole, is_number
from plurank.data.synthetic import is_separable
from plurank.evaluation.population import Floats, Population, known_population
from plurank.exceptions import NotIdentifiableError, ParameterError
from plurank.rng import RandomState, as_generator


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
    """What Theorem 2 asks for, and what it is made of.

    n_ordered_pairs (W) that can occur, of Q (Q - 1); least_probability (eta) of one of them; largest_share (b) of a
    ranking in a pair that is not novel; least and largest eigenvalue of R-bar (lambda_min, lambda_max); the
    least distance that a novel row of E keeps from others, by entries (d) and by rows (d_2); solid_angles (K,), their
    least (q) with its standard error; the numbers of users for isotropic and for Gaussian directions; projections (P).
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
    """Evaluate Theorem 2 for rankings (K, Q) and weights from Dirichlet(concentration * mean_weights).

    All is exact but the solid angles, which are shares of ``n_directions`` random directions.
    """
    per_user = check_whole("comparisons_per_user", comparisons_per_user, 2)
    check_whole("n_directions", n_directions, 1)
    if not is_number(failure_probability) or not 0 < failure_probability <= 0.5:
        raise ParameterError(f"failure_probability must be above 0 and at most 0.5, got {failure_probability!r}.")
    population = known_population(rankings, mean_weights, concentration, pair_probabilities)
    if not is_separable(rankings):
        raise NotIdentifiableError(
            "Theorem 2 expects separable rankings, but some of these have no novel pair. See novel_pairs(rankings)."
        )
    angles = population.solid_angles(n_directions, rng=as_generator(random_state))
    if not angles.all():
        raise ParameterError(
            f"the novel pairs of ranking {int(angles.argmin())} were the highest along none of {n_directions:,} "
            "directions. Use a larger n_directions."
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

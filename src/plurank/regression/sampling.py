"""The most probable coefficients by Newton's method, draws around them, and a step of a Markov chain.

Ours.
"""

from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from plurank.regression.coefficients import Coefficients
from plurank.regression.density import RegressionDensity
from plurank.types import Floats

MAX_STEPS, MAX_HALVINGS = 50, 30
SETTLED = 1e-4  # of the log density, gained by a step
LONGEST_STEP = 2.0  # of a coefficient
LEAST_RIDGE = 1e-3  # as a share of the curvature


class Mode(NamedTuple):
    """The most probable coefficients as a vector (D,), the root of the precision there (D, D), lower triangular, and
    whether they were found."""

    vector: Floats
    root: Floats
    converged: bool


def find_mode(density: RegressionDensity, init: Coefficients, max_steps: int = MAX_STEPS) -> Mode:
    """Climb by Newton steps, damped where the density is not concave, and shortened where a step does not help."""
    vector = density.to_vector(init)
    here = density.evaluate(vector, with_hessian=True)
    for _ in range(max_steps):
        root = root_of(-here.hessian)
        step = cho_solve((root, True), here.gradient)
        promised = float(step @ here.gradient)
        if promised < SETTLED:
            return Mode(vector, root, True)
        length = min(1.0, LONGEST_STEP / float(np.abs(step).max()))
        for _ in range(MAX_HALVINGS):
            trial = density.evaluate(vector + length * step)
            if trial.value >= here.value + 1e-4 * length * promised:
                break
            length /= 2.0
        else:
            return Mode(vector, root, promised < 1.0)
        vector = vector + length * step
        here = density.evaluate(vector, with_hessian=True)
    return Mode(vector, root_of(-here.hessian), False)


def root_of(precision: Floats) -> Floats:
    """Return the Cholesky root of a symmetric matrix, (D, D), with as much of a ridge as that takes."""
    precision = (precision + precision.T) / 2.0
    ridge, sizes = 0.0, np.diag(np.maximum(np.abs(np.diag(precision)), 1e-12))
    while True:
        try:
            return np.asarray(cholesky(precision + ridge * sizes, lower=True))
        except np.linalg.LinAlgError:
            ridge = max(10.0 * ridge, LEAST_RIDGE)


def draw_gaussian(mode: Mode, n: int, rng: np.random.Generator) -> Floats:
    """Draw from the Gaussian around the mode, (n, D)."""
    noise = rng.standard_normal((len(mode.vector), n))
    return np.asarray(mode.vector + solve_triangular(mode.root.T, noise, lower=False).T)


N_LEAPS, SHORTEST_LEAP, LONGEST_LEAP = 3, 0.2, 0.9  # of a Hamiltonian trajectory, in standard deviations


class Evaluated(Protocol):
    """A log density and its gradient (D,) at a point."""

    @property
    def value(self) -> float: ...  # noqa: D102
    @property
    def gradient(self) -> Floats: ...  # noqa: D102


class LogDensity(Protocol):
    """A log density that can be evaluated at vectors (D,)."""

    def evaluate(self, vector: Floats) -> Evaluated: ...  # noqa: D102


def move(
    density: LogDensity,
    vector: Floats,
    root: Floats,
    rng: np.random.Generator,
    n_leaps: int = N_LEAPS,
    sizes: tuple[float, float] = (SHORTEST_LEAP, LONGEST_LEAP),
) -> tuple[Floats, bool]:
    """Move a vector (D,) by a Hamiltonian trajectory, in the metric that a root of a precision (D, D) gives; the
    density stays as it is. Leaps have one of the sizes between two. Returns whether the move was accepted, too."""
    size = sizes[0] + (sizes[1] - sizes[0]) * rng.random()
    momentum = rng.standard_normal(len(vector))  # of the whitened coefficients
    here = density.evaluate(vector)
    energy = here.value - 0.5 * float(momentum @ momentum)
    point, there = vector, here
    with np.errstate(all="ignore"):  # far away nothing is finite, and such moves are rejected
        for _ in range(n_leaps):
            momentum = momentum + 0.5 * size * solve_triangular(root, there.gradient, lower=True)
            point = point + size * solve_triangular(root.T, momentum, lower=False)
            try:
                there = density.evaluate(point)
            except np.linalg.LinAlgError:
                return vector, False
            if not (np.isfinite(there.value) and np.isfinite(there.gradient).all()):
                return vector, False
            momentum = momentum + 0.5 * size * solve_triangular(root, there.gradient, lower=True)
    gain = there.value - 0.5 * float(momentum @ momentum) - energy
    accepted = bool(np.log(rng.random()) < gain)
    return (point, True) if accepted else (vector, False)

"""Whether chains have converged: split R-hat and the effective sample size of a few quantities.

After A. Gelman et al., "Bayesian Data Analysis" (3rd edition), section 11.4, and C. J. Geyer (1992), "Practical Markov
Chain Monte Carlo".
"""

from typing import Any, NamedTuple

import numpy as np

from plurank.types import Floats

LARGEST_R_HAT = 1.1  # beyond which chains are said to disagree


class Convergence(NamedTuple):
    """Split R-hat and effective sample size of the log-likelihood, and the worst of some pair probabilities."""

    r_hat: float
    effective_draws: float
    pair_r_hat: float
    pair_effective_draws: float
    n_chains: int
    n_sweeps: int

    @property
    def converged(self) -> bool:
        """Whether chains agree on what they predict."""
        return self.pair_r_hat <= LARGEST_R_HAT

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return dict(self._asdict())

    @classmethod
    def of(cls, log_likelihoods: Floats, pairs: Floats, n_sweeps: int) -> "Convergence":
        """Diagnose log-likelihoods (chains, n) and probabilities of some pairs (chains, n, pairs) by sweep."""
        each = [diagnose_draws(pairs[:, :, pair]) for pair in range(pairs.shape[2])]
        worst = max((r_hat for r_hat, _ in each), default=1.0)
        return cls(
            *diagnose_draws(log_likelihoods),
            worst,
            min((n for _, n in each), default=1.0),
            len(log_likelihoods),
            n_sweeps,
        )


def diagnose_draws(values: Floats) -> tuple[float, float]:
    """Return split R-hat and the effective sample size of a quantity, (chains, n)."""
    half = values.shape[1] // 2
    if half < 2:
        return 1.0, float(values.size)
    parts = np.concatenate([values[:, :half], values[:, -half:]])
    within = parts.var(axis=1, ddof=1).mean()
    between = half * parts.mean(axis=1).var(ddof=1)
    total = (half - 1) / half * within + between / half
    if within <= 0.0:
        return 1.0, float(parts.size)
    return float(np.sqrt(total / within)), _effective(parts, within, total)


def _effective(parts: Floats, within: float, total: float) -> float:
    """Return the effective sample size of chains (m, n) by Geyer's initial positive sequence."""
    m, n = parts.shape
    centred = parts - parts.mean(axis=1, keepdims=True)
    size = 2 ** int(np.ceil(np.log2(2 * n)))
    spectrum = np.abs(np.fft.rfft(centred, size, axis=1)) ** 2
    covariances = np.fft.irfft(spectrum, size, axis=1)[:, :n].mean(axis=0) / n
    correlations = 1.0 - (within - covariances) / total
    time = 1.0
    for lag in range(1, n - 1, 2):
        pair = correlations[lag] + correlations[lag + 1]
        if pair < 0.0:
            break
        time += 2.0 * pair
    return float(m * n / max(time, 1.0))

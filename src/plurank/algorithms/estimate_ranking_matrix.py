"""Express every ordered pair as a mixture of the novel pairs, and so estimate B.

Paper: Algorithm 3 (Estimate Rankings), section 5. Needs the novel pairs' geometry and the row counts; gives the
weighted ranking matrix (W, K): row (i, j) is ``mu_ij sigma_(i,j),k a_k`` up to noise.
Differences from the paper: columns are not scaled (its appendix shows that Algorithm 4 does not need it), so column k
sums to the mean weight a_k; the regression is solved for all rows at once.
"""

import numpy as np
from numpy.typing import NDArray

from plurank import kernels

Floats = NDArray[np.float64]
STEPS_PER_RANKING = 100


def estimate_ranking_matrix(gram: Floats, targets: Floats, counts: Floats, regression_tol: float) -> Floats:
    """Run Algorithm 3: gram (K, K), targets (W, K), counts (W,) -> B diag(a), (W, K)."""
    n_rankings = len(gram)
    tolerance = regression_tol * float(np.trace(gram)) / n_rankings
    seen = counts > 0
    shares = np.zeros_like(targets)
    shares[seen] = kernels.regress_on_simplex(gram, targets[seen], tolerance, STEPS_PER_RANKING * n_rankings)
    shares *= (counts / counts.sum())[:, None]
    return shares

"""Scores of comparisons that are expected to follow features of the items: empirical Bayes.

Ours. Scores are regressed on features (``regression/ridge.py``), what the regression says becomes the mean of their
prior, whose scale shrinks by what is left to explain, and scores are refined; a few times in turns. Items that few
people compared then follow their features; others hardly change.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.priors import ScorePrior
from plurank.mixed.refine import Refinement
from plurank.mixed.users import Users
from plurank.regression.ridge import ItemRegression, choose_item_scale, find_share_left, fit_ridge
from plurank.types import Floats

SEED = 20_261_118
ROUNDS = 3
LEAST_SHARE = 0.2  # of the scale of the prior


@dataclass(frozen=True)
class Expected:
    """What features (Q, P) say of scores: the regression; the mean of their prior (Q, K), and the share of its scale
    that is left. Without a regression, nothing."""

    regression: ItemRegression | None = None
    mean: Floats | None = None
    share: float = 1.0

    def shift(self, prior: ScorePrior) -> ScorePrior:
        """Return a prior of scores around what is expected of them."""
        return replace(prior, own=self.share * prior.own, shared=self.share * prior.shared, mean=self.mean)


def expect_scores(
    users: Users,
    refined: Refinement[BradleyTerry],
    counts: Floats,
    error_prior: ScorePrior,
    features: Floats,
    refine: Callable[[BradleyTerry, Expected], Refinement[BradleyTerry]],
) -> tuple[Refinement[BradleyTerry], Expected]:
    """Regress scores on features and refine them around that in turns; counts: of the users' Dirichlet prior."""
    expected = Expected()
    for _ in range(ROUNDS):
        scores = refined.component.scores
        known = users.update_memberships(refined.component, counts, 0, informed=True).information
        errors = expected.shift(error_prior).errors(known)[0]
        expected = _regress(features, scores, errors)
        if expected.mean is None:  # features do not predict scores of items held out
            break
        refined = refine(refined.component, expected)
    return refined, expected


def _regress(features: Floats, scores: Floats, errors: Floats) -> Expected:
    scale = choose_item_scale(features, scores, errors, np.random.default_rng(SEED))
    found = fit_ridge(features, scores, errors, scale)
    if scale is None:
        return Expected(found)
    mean = features @ found.table[1:]
    share = find_share_left(features, scores, errors, scale, np.random.default_rng(SEED))
    return Expected(found, mean - mean.mean(axis=0), max(share, LEAST_SHARE))

"""Scores of items regressed on features of the items: ridge regression with errors in the scores.

Ours. Scores are known up to their standard errors, and items have a part of their own beside what features say. Its
variance is estimated along with the coefficients; how large these are is chosen on items held out.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurank.types import Floats, Integers

SCALES = (0.1, 0.3, 1.0)  # of coefficients, in standard deviations of the scores
MOST_FOLDS, ROUNDS = 10, 30  # few items are held out one by one
LEAST_ITEMS = 6  # to hold some out
CLEAR_GAIN = 1.0  # standard errors
LEAST_SPREAD = 1e-6


class FeatureMatrix(NamedTuple):
    """Features (Q, P) of all items, and the number of the group that each column belongs to, (P,)."""

    matrix: Floats
    groups: Integers


@dataclass(frozen=True)
class ItemRegression:
    """Coefficients (1 + F, K) of every ranking's scores, the intercepts first; their covariances (K, 1 + F, 1 + F); and
    the standard deviation (K,) of what items have of their own."""

    table: Floats
    covariances: Floats
    rest: Floats

    def predict(self, features: Floats) -> tuple[Floats, Floats]:
        """Return expected scores (m, K) of items with features (m, F), and their standard errors (m, K)."""
        design = _with_ones(features)
        known = np.einsum("mf,kfg,mg->mk", design, self.covariances, design)
        return design @ self.table, np.sqrt(known + self.rest**2)


def fit_ridge(features: Floats, scores: Floats, errors: Floats, scale: float | None) -> ItemRegression:
    """Regress scores (n, K) with errors (n, K) on features (n, F); without a scale all coefficients are 0."""
    kept = features if scale is not None else features[:, :0]
    columns = [_fit_one(_with_ones(kept), scores[:, k], errors[:, k], scale) for k in range(scores.shape[1])]
    n_left_out = features.shape[1] - kept.shape[1]
    tables, covariances, rests = zip(*columns, strict=True)
    return ItemRegression(
        np.pad(np.stack(tables, axis=1), ((0, n_left_out), (0, 0))),
        np.pad(np.stack(covariances), ((0, 0), (0, n_left_out), (0, n_left_out))),
        np.array(rests),
    )


def _fit_one(design: Floats, scores: Floats, errors: Floats, scale: float | None) -> tuple[Floats, Floats, float]:
    """Fit one ranking; the variance of items' own parts is the most probable one, by EM."""
    spread = max(float(scores.std()), LEAST_SPREAD)
    precision = np.zeros(design.shape[1])
    precision[1:] = 0.0 if scale is None else (scale * spread) ** -2
    rest = spread**2
    for _ in range(ROUNDS):
        weights = 1.0 / (rest + errors**2)
        covariance = np.linalg.inv((design * weights[:, None]).T @ design + np.diag(precision))
        table = covariance @ (design.T @ (weights * scores))
        fitted_error = np.einsum("nf,fg,ng->n", design, covariance, design)
        share = rest * weights  # of a residual that is the item's own
        own = share * (scores - design @ table)
        rest = float(np.mean(own**2 + share**2 * fitted_error + (1.0 - share) * rest))
        rest = max(rest, LEAST_SPREAD**2)
    return table, np.asarray(covariance), rest**0.5


def choose_item_scale(features: Floats, scores: Floats, errors: Floats, rng: np.random.Generator) -> float | None:
    """Choose how large coefficients are by the likelihood of scores of items held out; None where features say nothing,
    or items are too few."""
    n = len(features)
    if n < LEAST_ITEMS:
        return None
    values = np.zeros((1 + len(SCALES), n))
    folds = _draw_folds(n, rng)
    for number, scale in enumerate((None, *SCALES)):
        mean, error = _predict_held_out(features, scores, errors, scale, folds)
        variance = error**2 + errors**2
        values[number] = (-0.5 * ((scores - mean) ** 2 / variance + np.log(variance))).sum(axis=1)
    gains = values[1:] - values[0]
    best = int(np.argmax(gains.sum(axis=1)))
    gain = gains[best]
    return SCALES[best] if gain.sum() > CLEAR_GAIN * np.sqrt(n) * gain.std() else None


def find_share_left(features: Floats, scores: Floats, errors: Floats, scale: float, rng: np.random.Generator) -> float:
    """Return how far scores of items held out are from what their features say, by how far all are from the mean."""
    folds = _draw_folds(len(features), rng)
    apart = scores - _predict_held_out(features, scores, errors, scale, folds)[0]
    return float(min(np.sqrt((apart**2).mean() / max(scores.var(axis=0).mean(), LEAST_SPREAD**2)), 1.0))


def _draw_folds(n: int, rng: np.random.Generator) -> Integers:
    return rng.permutation(n) % min(n, MOST_FOLDS)


def _predict_held_out(
    features: Floats, scores: Floats, errors: Floats, scale: float | None, folds: Integers
) -> tuple[Floats, Floats]:
    """Return expected scores (n, K) of the items of each fold by the others, and their standard errors (n, K)."""
    mean, error = np.empty_like(scores), np.empty_like(scores)
    for fold in range(folds.max() + 1):
        train, test = folds != fold, folds == fold
        found = fit_ridge(features[train], scores[train], errors[train], scale)
        mean[test], error[test] = found.predict(features[test])
    return mean, error


def _with_ones(features: Floats) -> Floats:
    return np.hstack([np.ones((len(features), 1)), features])

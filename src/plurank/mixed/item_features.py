"""What each ranking rewards: features of items, and scores of items that nobody has compared.

Ours. The scores of a fit, with their errors, are regressed on features (``regression/ridge.py``). Where predictions use
Gaussian factors of items, those of every draw are regressed, too, so that users' own tastes reach items that nobody has
compared.
"""

from typing import Any, Self

import numpy as np
import polars as pl

from plurank import metrics
from plurank.data.covariates import Covariates
from plurank.data.design import Design
from plurank.data.encoding import as_labels, look_up, object_array
from plurank.exceptions import DataError, ParameterError
from plurank.inference.posterior import LEVEL
from plurank.mixed.leaderboard import ScoredRankings
from plurank.models.fields import Field, Fields, JsonField
from plurank.models.sklearn_api import check_is_fitted
from plurank.regression.ridge import ItemRegression, choose_item_scale, fit_ridge
from plurank.types import Floats
from plurank.validation import check_share, is_number

SEED = 20_261_118
CHOICE_DRAWS = 4  # whose factors say how large their coefficients are
LOG_ODDS = 1.702 / np.sqrt(2.0)  # of a difference of 1 between expected utilities


def _check_design(value: Any) -> None:
    if value is not None:
        Design.from_dict(value)


FIELDS: Fields = {
    "item_design_": JsonField(_check_design),
    "item_coefficients_": Field("f", ("item coefficients", "K"), "a score", True),
    "item_covariances_": Field("f", ("K", "item coefficients", "item coefficients"), "finite", True),
    "item_rest_": Field("f", ("K",), "not negative", True),
    "draw_factor_slopes_": Field("f", ("draws", "item coefficients", "factors"), "a score", True),
    "draw_factor_rests_": Field("f", ("draws", "factors"), "not negative", True),
}


class ItemFeatures(ScoredRankings, loadable=False):
    """What a model that was fitted with features of its items says about them."""

    item_design_: dict[str, Any] | None = None
    item_coefficients_: Floats | None = None
    item_covariances_: Floats | None = None
    item_rest_: Floats | None = None
    draw_factor_slopes_: Floats | None = None
    draw_factor_rests_: Floats | None = None
    draw_item_factors_: Any

    def _learn_items(self, table: Any) -> None:
        """Regress scores on the features of a table."""
        design, features = Design.learn(table, self.items_, "item")
        scores, errors = self.scores_, self.score_errors_
        scale = choose_item_scale(features, scores, errors, np.random.default_rng(SEED))
        found = fit_ridge(features, scores, errors, scale)
        self.item_design_, self.item_coefficients_ = design.to_dict(), found.table
        self.item_covariances_, self.item_rest_ = found.covariances, found.rest
        factors = getattr(self, "draw_item_factors_", None)
        if factors is not None and factors.shape[2]:
            self._learn_factors(features, factors)

    def _learn_factors(self, features: Floats, factors: Floats) -> None:
        """Regress the factors (D, Q, F) of every draw on features (Q, P)."""
        some = factors[np.linspace(0, len(factors) - 1, CHOICE_DRAWS).astype(int)]
        stacked, n_draws = np.concatenate(list(some), axis=1), len(factors)
        rng = np.random.default_rng([SEED, 1])
        scale = choose_item_scale(features, stacked, np.zeros_like(stacked), rng)
        by_draw = [fit_ridge(features, each, np.zeros_like(each), scale) for each in factors]
        self.draw_factor_slopes_ = np.stack([each.table for each in by_draw])
        self.draw_factor_rests_ = np.stack([each.rest for each in by_draw]).reshape(n_draws, -1)

    @property
    def item_features(self) -> Design | None:
        """How features of the items became numbers, and what was left out; None where the fit had none."""
        return None if self.item_design_ is None else Design.from_dict(self.item_design_)

    def _item_regression(self) -> tuple[Design, ItemRegression]:
        check_is_fitted(self)
        if self.item_design_ is None:
            raise ParameterError(
                "the model was fitted without features of its items.", hint="Give them to fit(..., items=table)."
            )
        assert self.item_coefficients_ is not None
        assert self.item_covariances_ is not None
        assert self.item_rest_ is not None
        found = ItemRegression(self.item_coefficients_, self.item_covariances_, self.item_rest_)
        return Design.from_dict(self.item_design_), found

    def item_effects(self, level: float = LEVEL) -> pl.DataFrame:
        """Return what each ranking rewards: by how much features raise scores, with intervals.

        Parameters
        ----------
        level : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        polars.DataFrame
            One row for every level of a feature and ranking: attribute, level, value (of a number), ranking (from 1);
            effect (in log odds, compared with an item that is average in all features), lower, upper; items (that have
            the level) and probability (that the effect has the direction it seems to have). All effects are 0 where
            features do not predict the scores of items held out.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If the model was fitted without features, or ``level`` is not between 0 and 1.
        """
        from scipy.special import ndtr, ndtri

        check_share("level", level)
        design, found = self._item_regression()
        average, more = np.zeros((1, design.n_columns)), ndtri(0.5 + level / 2.0)
        rows = []
        for attribute in design.attributes:
            for each in attribute.levels:
                own = np.append(0.0, design.vary(average, attribute.name, each.value))
                effects = own @ found.table
                errors = np.sqrt(np.einsum("f,kfg,g->k", own, found.covariances, own))
                value = each.value if is_number(each.value) else None
                head = {"attribute": attribute.name, "level": each.label, "value": value}
                for k, (effect, error) in enumerate(zip(effects.tolist(), errors.tolist(), strict=True)):
                    rows.append(
                        {
                            **head, "ranking": k + 1, "effect": effect, "lower": effect - more * error,
                            "upper": effect + more * error, "items": each.people,
                            "probability": float(ndtr(abs(effect) / error)) if error else 0.5,
                        }
                    )  # fmt: skip
        return pl.DataFrame(rows, schema_overrides={"value": pl.Float64})

    def add_items(self, items: Any) -> Self:
        """Add items that nobody has compared, with scores that follow from their features and wide intervals.

        Parameters
        ----------
        items : data frame or path
            One row for each item, with a column item and the features of the fit. Items that the model knows stay.

        Returns
        -------
        MixedRanking
            The model itself.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If the model was fitted without features.
        DataError
            If the table is not valid, or has no item that is new.
        """
        design, found = self._item_regression()
        table = Covariates.read(items, "item")
        labels = as_labels(table.ids)
        new = labels[look_up(labels, self.items_, "item") < 0]
        if not len(new):
            raise DataError("the model knows all items of the table; there is none to add.")
        features = design.matrix_of(table, new)[0]
        scores, errors = found.predict(features)
        self._append_items(new, scores, errors)
        if self.draw_factor_slopes_ is not None:
            assert self.draw_factor_rests_ is not None
            means = np.hstack([np.ones((len(new), 1)), features]) @ self.draw_factor_slopes_
            noise = np.random.default_rng([SEED, 2]).standard_normal(means.shape)
            self.draw_item_factors_[:, -len(new) :] = means + self.draw_factor_rests_[:, None, :] * noise
        return self

    def _append_items(self, new: Any, scores: Floats, errors: Floats) -> None:
        """Append items (n,) to every fitted attribute, with scores (n, K) and their errors (n, K)."""
        n = len(new)
        if self.user_effect_keys_ is not None:  # row * n_items + item
            rows, items = np.divmod(self.user_effect_keys_, len(self.items_))
            self.user_effect_keys_ = rows * (len(self.items_) + n) + items
        for name, field in self.fields.items():
            value = getattr(self, name)
            if "Q" in field.shape and value is not None and name != "rankings_":
                width = [(0, n if axis == "Q" else 0) for axis in field.shape]
                setattr(self, name, np.pad(value, width))
        self.scores_[-n:], self.score_errors_[-n:] = scores, errors
        for member in getattr(self, "member_scores_", ()):
            member[-n:] = scores
        draws = getattr(self, "draw_scores_", None)
        if draws is not None:
            noise = np.random.default_rng(SEED).standard_normal((len(draws), *scores.shape))
            level = draws[:, :-n].mean(axis=1, keepdims=True)
            draws[:, -n:] = level + (scores - self.scores_[:-n].mean(axis=0) + errors * noise) / LOG_ODDS
        if self.item_texts_ is not None:
            self.item_texts_ = [*self.item_texts_, *map(str, new.tolist())]
        self.items_ = object_array([*self.items_.tolist(), *new.tolist()])
        self.rankings_ = metrics.order_by_score(self.scores_)

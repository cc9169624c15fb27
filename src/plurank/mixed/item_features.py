"""What each ranking rewards: features of items, and scores of items that nobody has compared.

Ours. Of ratings, votes and rankings features are a part of the model (``thurstone/item_regression.py``); every draw
says what it expects of items with features, and how these differ. Of comparisons scores are regressed on features and
fitted around that in turns (``expected_scores.py``); places of orders are regressed after the fit.
"""

from typing import Any, Self

import numpy as np
import polars as pl

from plurank import metrics
from plurank.data.attributes import Category
from plurank.data.covariates import Covariates
from plurank.data.design import Design
from plurank.data.encoding import as_labels, look_up, object_array
from plurank.exceptions import DataError, ParameterError
from plurank.inference.posterior import LEVEL
from plurank.mixed.leaderboard import ScoredRankings
from plurank.models.fields import Field, Fields, JsonField
from plurank.models.sklearn_api import check_is_fitted
from plurank.regression.ridge import FeatureMatrix, ItemRegression, choose_item_scale, fit_ridge
from plurank.types import Floats, Integers
from plurank.validation import check_share, is_number

SEED = 20_261_118


def _check_design(value: Any) -> None:
    if value is not None:
        Design.from_dict(value)


FIELDS: Fields = {
    "item_design_": JsonField(_check_design),
    "item_coefficients_": Field("f", ("item coefficients", "K"), "a score", True),
    "item_covariances_": Field("f", ("K", "item coefficients", "item coefficients"), "finite", True),
    "item_rest_": Field("f", ("K",), "not negative", True),
}


def group_columns(design: Design) -> Integers:
    """Return numbers (P,) of columns, the same for all levels of a category; bends of a number may vary alone."""
    categories = {each.name for each in design.attributes if isinstance(each, Category)}
    both = zip(design.column_attributes, design.names, strict=True)
    groups = [attribute if attribute in categories else name for attribute, name in both]
    return np.unique(groups, return_inverse=True)[1]


class ItemFeatures(ScoredRankings, loadable=False):
    """What a model that was fitted with features of its items says about them."""

    item_design_: dict[str, Any] | None = None
    item_coefficients_: Floats | None = None
    item_covariances_: Floats | None = None
    item_rest_: Floats | None = None
    draw_scores_: Floats | None
    draw_item_factors_: Any
    draw_score_slopes_: Floats | None

    def _learn_features(self, table: Any, source: Any) -> tuple[Design | None, FeatureMatrix | None]:
        """Return how features of the items become numbers, and these numbers; None without features."""
        if table is None:
            return None, None
        design, matrix = Design.learn(table, source.items, "item")
        return design, FeatureMatrix(matrix, group_columns(design))

    def _store_features(self, design: Design, features: FeatureMatrix) -> None:
        """Keep what features say; regress scores on features (Q, P) unless they are a part of the fit."""
        self.item_design_ = design.to_dict()
        if self.item_coefficients_ is not None:
            return
        scores, errors = self.scores_, self.score_errors_
        scale = choose_item_scale(features.matrix, scores, errors, np.random.default_rng(SEED))
        found = fit_ridge(features.matrix, scores, errors, scale)
        self.item_coefficients_, self.item_covariances_ = found.table, found.covariances
        self.item_rest_ = found.rest

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
            the level) and probability (that the effect has the direction it seems to have). In fits to comparisons all
            effects are 0 where features do not predict the scores of items held out.

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
        if self.draw_score_slopes_ is not None:
            self._draw_new(features)
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
        if self.item_texts_ is not None:
            self.item_texts_ = [*self.item_texts_, *map(str, new.tolist())]
        self.items_ = object_array([*self.items_.tolist(), *new.tolist()])
        self.rankings_ = metrics.order_by_score(self.scores_)

    def _draw_new(self, features: Floats) -> None:
        """Draw scores and factors of the last items, which have features (n, P), once for every draw of the others.

        Items have the opposite part of their own in every other draw, so that it averages out in predictions.
        """
        from plurank.mixed.utilities import draws_of

        assert self.draw_scores_ is not None
        n = len(features)
        priors = [draw.item_prior for draw in draws_of(self) if draw.item_prior is not None]
        rng = np.random.default_rng([SEED, len(self.items_)])  # items added later have other errors
        normals = rng.standard_normal((-(-len(priors) // 2), n, priors[0].score_root.shape[1]))
        for number, prior in enumerate(priors):
            scores, factors = prior.draw(features, (-1.0) ** number * normals[number // 2])
            self.draw_scores_[number, -n:], self.draw_item_factors_[number, -n:] = scores, factors

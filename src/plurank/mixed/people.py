"""Who follows which ranking: effects of covariates on the weights of users, by a fitted model.

Ours. The fitted attributes that a regression leaves, and what can be asked of them.
"""

from typing import Any

import numpy as np
import polars as pl

from plurank.data.attributes import LEAST_PEOPLE
from plurank.data.columns import list_names
from plurank.data.covariates import as_series_by_name
from plurank.data.design import Design
from plurank.exceptions import DataError, ParameterError
from plurank.inference.posterior import LEVEL
from plurank.models.fields import Field, Fields, JsonField
from plurank.models.sklearn_api import check_is_fitted
from plurank.regression.coefficients import Coefficients
from plurank.regression.shares import Interval, draw_shares, probability_of_direction, some_rows
from plurank.types import Floats
from plurank.validation import check_share, is_number

SIZES = ("people", "count", "size", "share", "weight", "population")  # columns of a census with how many there are


def _check_design(value: Any) -> None:
    if value is not None:
        Design.from_dict(value)


def _check_scale(value: Any) -> None:
    if value is not None and not (is_number(value) and 0.0 <= value < np.inf):
        raise ValueError("slope_scale_ is negative or not a number")


FIELDS: Fields = {
    "design_": JsonField(_check_design),
    "slope_scale_": JsonField(_check_scale),
    "people_": Field("f", ("M", "covariates"), "a score", True, single=True),
    "coefficients_": Field("f", ("coefficients", "K"), "a score", True),
    "coefficient_draws_": Field("f", ("coefficient draws", "coefficients", "K"), "a score", True),
    "people_concentration_": Field("f", (), "positive", True),
    "draw_slopes_": Field("f", ("draws", "covariates", "K"), "a score", True),
}


def check_people(model: Any) -> None:
    """Raise a ValueError where what a model knows of covariates does not fit together."""
    wanted = ("design_", "people_", "coefficient_draws_")
    known = [getattr(model, name) is not None for name in wanted]
    if any(known) and not all(known):
        raise ValueError("some of what a model knows of covariates is missing")
    if not any(known):
        return
    n_columns = Design.from_dict(model.design_).n_columns
    tables = [model.coefficient_draws_[0], *([] if model.coefficients_ is None else [model.coefficients_])]
    if model.people_.shape[1] != n_columns or any(len(table) != 1 + n_columns for table in tables):
        raise ValueError("coefficients are not those of the covariates described")


class PeopleEffects:
    """What a model that was fitted with covariates of its users says about them."""

    design_: dict[str, Any] | None = None
    slope_scale_: float | None = None
    people_: Floats | None = None
    coefficients_: Floats | None = None
    coefficient_draws_: Floats | None = None
    people_concentration_: float | None = None
    draw_slopes_: Floats | None = None

    @property
    def covariates(self) -> Design | None:
        """How covariates become numbers; None where the model was fitted without."""
        check_is_fitted(self)
        return None if self.design_ is None else Design.from_dict(self.design_)

    def _known_covariates(self) -> Design:
        design = self.covariates
        if design is None:
            raise ParameterError(
                "the model was fitted without covariates of its users.",
                hint="Give them to fit(..., people=table), or ask plurank.explain(model, table).",
            )
        return design

    @property
    def regression(self) -> Coefficients | None:
        """How the prior of users' weights depends on covariates; None where these predict nothing."""
        if self.coefficients_ is None or not self.slope_scale_ or self.people_concentration_ is None:
            return None
        return Coefficients(float(self.people_concentration_), self.coefficients_)

    def describe(self, people: Any) -> Floats:
        """Return the covariates (m, P) of people, a description such as ``{"age": 34}``, a list of these, or a frame."""
        return self._known_covariates().matrix(people)

    def effects(self, covariate: str | None = None, level: float = LEVEL) -> pl.DataFrame:
        """Return who follows which ranking: shares of the rankings by covariate, with intervals.

        A share is the expected weight of a ranking among people with a level who are otherwise like everybody in the
        data. Levels of numbers are quantiles. Figures of fewer than five people are null.

        Parameters
        ----------
        covariate : str or None, default=None
            One of the covariates; None for all.
        level : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        polars.DataFrame
            One row for every level and ranking. Columns attribute, level, value (of a number), ranking (from 1);
            share, lower, upper; difference (to the first level that is shown), difference_lower, difference_upper; people (who have
            the level) and probability (that the difference has the direction it seems to have).

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If the model was fitted without covariates, or ``level`` is not between 0 and 1.
        DataError
            If the model does not know the covariate.

        Examples
        --------
        >>> import plurank, polars as pl
        >>> made = plurank.simulate(100, 5, 2, 20, random_state=0)
        >>> people = pl.DataFrame({"user": made.comparisons.users, "age": [20, 30, 40, 50] * 25})
        >>> model = plurank.MixedRanking(2, random_state=0).fit(made.comparisons, people=people)
        >>> model.effects("age").columns[:5]
        ['attribute', 'level', 'value', 'ranking', 'share']
        """
        check_share("level", level)
        design = self._known_covariates()
        names = [covariate] if covariate is not None else [attribute.name for attribute in design.attributes]
        assert self.people_ is not None and self.coefficient_draws_ is not None
        return effects_of(design, some_rows(self.people_), self.coefficient_draws_, names, level)

    def poststratify(self, census: Any, level: float = LEVEL) -> pl.DataFrame:
        """Return the shares of the rankings in a population whose composition is known.

        Parameters
        ----------
        census : data frame
            One row for each group of people: covariates, and a column people (or count, share, weight) with its size.
            Covariates that it leaves out count as average.
        level : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        polars.DataFrame
            One row per ranking: ranking (from 1); share, lower, upper, in the population; sample (the share among the
            users of the model).

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If the model was fitted without covariates, or ``level`` is not between 0 and 1.
        DataError
            If the census has no sizes, or none of the covariates.
        """
        check_share("level", level)
        design = self._known_covariates()
        assert self.people_ is not None and self.coefficient_draws_ is not None
        series = as_series_by_name(census)
        name = next((name for name in series if name.lower() in SIZES), None)
        if name is None:
            raise DataError(
                f"no column says how many people a row of the census stands for: expected one of {', '.join(SIZES)}; "
                f"the columns are {list_names(series)}."
            )
        sizes = series[name].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        if not (np.isfinite(sizes) & (sizes >= 0)).all() or not sizes.sum() > 0:
            raise DataError(f"{name} of the census must be numbers >= 0, not all 0.")
        rows = design.matrix(pl.DataFrame({other: values for other, values in series.items() if other != name}))
        draws = self.coefficient_draws_
        found = Interval.of(draw_shares(draws, rows, sizes), level)
        sample = draw_shares(draws, some_rows(self.people_)).mean(axis=0)
        rankings = np.arange(1, len(sample) + 1)
        return pl.DataFrame({"ranking": rankings, "share": found.mean, "lower": found.lower, "upper": found.upper, "sample": sample})


def effects_of(design: Design, people: Floats, draws: Floats, names: list[str], level: float) -> pl.DataFrame:
    """Return the effects of attributes, given covariates (m, P) of people and draws of the table (D, 1 + P, K)."""
    rows = [row for name in names for row in _rows_of(design, people, draws, name, level)]
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64})


def _rows_of(design: Design, people: Floats, draws: Floats, name: str, level: float) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    first: Floats | None = None
    for each in design.attribute(name).levels:
        shares = draw_shares(draws, design.vary(people, name, each.value))
        hidden = each.people < LEAST_PEOPLE
        first = shares if first is None and not hidden else first  # or differences would tell its shares
        value = each.value if is_number(each.value) else None
        head = {"attribute": name, "level": each.label, "value": value}
        for k, figures in enumerate(_figures(shares, shares - (shares if first is None else first), level)):
            rows.append(
                {**head, "ranking": k + 1, **{key: None if hidden else float(figure) for key, figure in figures.items()}, "people": each.people}
            )
    order = ["attribute", "level", "value", "ranking", "share", "lower", "upper", "difference", "difference_lower", "difference_upper", "people", "probability"]
    return [{column: row[column] for column in order} for row in rows]


def _figures(shares: Floats, differences: Floats, level: float) -> list[dict[str, float]]:
    """Summarise draws of shares and of differences (D, K), one entry for every ranking."""
    own, apart = Interval.of(shares, level), Interval.of(differences, level)
    columns = {
        "share": own.mean, "lower": own.lower, "upper": own.upper, "difference": apart.mean,
        "difference_lower": apart.lower, "difference_upper": apart.upper,
        "probability": probability_of_direction(differences),
    }  # fmt: skip
    return [{name: values[k] for name, values in columns.items()} for k in range(len(own.mean))]

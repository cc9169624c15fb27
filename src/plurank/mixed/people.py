"""Who follows which ranking: effects of covariates on the weights of users, by a fitted model.

Ours. The fitted attributes that a regression leaves, and what can be asked of them.
"""

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from plurank import data, models
from plurank.data.attributes import LEAST_PEOPLE
from plurank.data.columns import list_names
from plurank.data.comparisons import Comparisons
from plurank.data.covariates import Covariates, as_series_by_name
from plurank.data.design import Design
from plurank.data.encoding import Labels, as_series, encode, look_up, object_array
from plurank.engine.blocks import as_comparisons
from plurank.exceptions import DataError, ParameterError
from plurank.inference.posterior import LEVEL, WeightPrior
from plurank.mixed.leaderboard import ScoredRankings
from plurank.models.fields import Field, Fields, JsonField
from plurank.models.prediction import Unknown
from plurank.models.sklearn_api import check_is_fitted
from plurank.regression.coefficients import Coefficients
from plurank.regression.shares import Interval, draw_shares, probability_of_direction, some_rows
from plurank.types import Floats
from plurank.validation import check_share, is_number

if TYPE_CHECKING:
    from plurank.models.person import Person

SIZES = ("people", "count", "size", "share", "weight", "population")  # columns of a census with how many there are


def _check_design(value: Any) -> None:
    if value is not None:
        Design.from_dict(value)


def _check_number(name: str, value: Any) -> None:
    if value is not None and not (is_number(value) and 0.0 <= value < np.inf):
        raise ValueError(f"{name} is negative or not a number")


FIELDS: Fields = {
    "design_": JsonField(_check_design),
    "slope_scale_": JsonField(lambda value: _check_number("slope_scale_", value)),
    "people_": Field("f", ("M", "covariates"), "a score", True, single=True),
    "coefficients_": Field("f", ("coefficients", "K"), "a score", True),
    "coefficient_draws_": Field("f", ("coefficient draws", "coefficients", "K"), "a score", True),
    "people_concentration_": JsonField(lambda value: _check_number("people_concentration_", value)),
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


class PeopleEffects(ScoredRankings, loadable=False):
    """What a model that was fitted with covariates of its users says about them."""

    design_: dict[str, Any] | None = None
    slope_scale_: float | None = None
    people_: Floats | None = None
    coefficients_: Floats | None = None
    coefficient_draws_: Floats | None = None
    people_concentration_: float | None = None
    draw_slopes_: Floats | None = None

    def _store_people(self, design: Design, matrix: Floats) -> None:
        """Keep the covariates (M, P) of a fit; with one ranking everybody follows it."""
        self.design_, self.people_ = design.to_dict(), matrix.astype(np.float32)
        if self.coefficient_draws_ is None:
            self.coefficient_draws_ = np.zeros((1, 1 + design.n_columns, 1))

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
    def _people(self) -> Floats:
        assert self.people_ is not None
        return self.people_

    @property
    def _coefficient_draws(self) -> Floats:
        assert self.coefficient_draws_ is not None
        return self.coefficient_draws_

    @property
    def regression(self) -> Coefficients | None:
        """How the prior of users' weights depends on covariates; None where these predict nothing."""
        if self.coefficients_ is None or not self.slope_scale_ or self.people_concentration_ is None:
            return None
        return Coefficients(float(self.people_concentration_), self.coefficients_)

    def prior_counts(self, described: Floats | None) -> Floats | None:
        """Return Dirichlet counts (m, K) of users with covariates (m, P); None where these make no difference."""
        regression = self.regression
        return None if described is None or regression is None else regression.counts_of(described)

    def prior_of(self, described: Floats | None) -> WeightPrior | None:
        """Return the prior of the weights of one person with covariates (1, P); None if it is everybody's."""
        counts = self.prior_counts(described)
        if counts is None:
            return None
        return WeightPrior(counts[0] / counts[0].sum(), float(counts[0].sum()), self.membership_prior.error)

    def describe_users(self, users: Labels, people: Any) -> Floats | None:
        """Return covariates (m, P) of users, zeros for those who are not in a table; None without covariates."""
        design = self.covariates
        if people is None:
            return None if design is None else np.zeros((len(users), design.n_columns))
        return self._known_covariates().matrix_of(people, users)[0]

    def describe(self, people: Any) -> Floats:
        """Return covariates (m, P) of people: a description such as ``{"age": 34}``, a list of these, or a frame."""
        return self._known_covariates().matrix(people)

    def fold_in(self, answers: Any = None, *, about: Any = None) -> "Person":
        """Infer the weights of one new person; the model stays as it is.

        Parameters
        ----------
        answers : sequence of (winner, loser), Comparisons, Ratings, Rankings, data frame or None, default=None
            Pairs of item labels, or what one user compared, rated or ranked; None for somebody who has not answered
            anything yet.
        about : dict or None, default=None
            Covariates of the person, such as ``{"age": 34}``, where the model was fitted with some; what is left out
            counts as average.

        Returns
        -------
        Person
            Weights with intervals, the order of all items, predictions, and which pairs to ask next.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If an item is unknown or compared with itself, the comparisons are not of exactly one user, or the model
            does not know a covariate.
        ParameterError
            If the model was fitted without covariates and ``about`` is given.
        """
        check_is_fitted(self)
        return self._person(answers, None if about is None else self.describe(about))

    @abstractmethod
    def _person(self, answers: Any, described: Floats | None = None) -> "Person":
        """Fold in one person with covariates (1, P)."""

    def next_pair(self, answers: Any = None, *, about: Any = None) -> tuple[Any, Any]:
        """Return the pair of items to ask a new person about next: the one with the largest expected information gain.

        Parameters
        ----------
        answers : sequence of (winner, loser), Comparisons, data frame or None, default=None
            What the person has answered so far, as for ``fold_in``.
        about : dict or None, default=None
            Covariates of the person, as for ``fold_in``.

        Returns
        -------
        tuple
            Labels of two items.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the answers are not valid, or every pair was asked.
        """
        return models.first_pair(self.fold_in(answers, about=about))

    def transform(self, X: Any, *, unknown: Unknown = "error", people: Any = None) -> Any:
        """Infer the weights of users from their comparisons; the model stays as it is.

        Parameters
        ----------
        X : Comparisons, Store or data frame
            Comparisons of users, known or new; whatever a fit said about them does not count.
        unknown : {"error", "ignore"}, default="error"
            Whether to raise an error for items that the model does not know, or to skip their comparisons with a
            warning. A user with none left gets the mean weights.
        people : data frame, path or None, default=None
            Covariates of the users, where the model was fitted with some; users without a row count as average.

        Returns
        -------
        ndarray of shape (n_users, K) or data frame
            One row per user, see ``PreferenceModel.transform``.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the comparisons are not valid, or have unknown items and ``unknown="error"``.
        ParameterError
            If the model was fitted without covariates and ``people`` is given.

        Warns
        -----
        SkippedWarning
            If comparisons of unknown items were skipped.
        """
        if people is not None:
            self._known_covariates()
            people = Covariates.read(people)
        return self._as_output(*self._weights_of(X, unknown, people))

    def _tells_more(self, people: Any) -> bool:
        """Check whether covariates change what is predicted of users; raise where the model knows none."""
        check_is_fitted(self)
        if people is not None:
            self._known_covariates()
        return people is not None and (self.regression is not None or self.draw_slopes_ is not None)

    def _infer_described(self, comparisons: Comparisons, people: Any) -> Floats:
        described = None if people is None else self.describe_users(comparisons.users, people)
        return self._infer_weights(comparisons, described)

    @abstractmethod
    def memberships(self, comparisons: Any = None, described: Floats | None = None) -> list[Any]:
        """Return the model's own users, or those of comparisons of its own items, once for every member; described:
        their covariates (m, P)."""

    @abstractmethod
    def _infer_weights(self, comparisons: Comparisons, described: Floats | None = None) -> Floats:
        """Weights of users (M, K), given comparisons of the model's own items, and covariates (M, P)."""

    def predict_new(self, asked: Any, test: Any, *, people: Any = None) -> Floats:
        """Probability of what happened in test comparisons, (n,), of new users who were asked others before.

        Users who are only in ``test`` were asked nothing. people: covariates of the users.
        """
        if not self._tells_more(people):
            return super().predict_new(asked, test)
        asked, test = (self._in_own_items(as_comparisons(X)) for X in (asked, test))
        asked = add_users(asked, test.users)
        users = self.memberships(asked, self.describe_users(asked.users, people))
        rows = look_up(test.users, asked.users, "user")[test.user_of_each()]
        chances = self.probabilities(users, rows, test.winners, test.losers)
        own = self._user_effects(asked, users)
        return chances if own is None else own.shift(chances, rows, test.winners, test.losers)

    def predict_proba(self, X: Any, *, people: Any = None) -> Floats:
        """Predict the probability that a user prefers one item to another.

        Parameters
        ----------
        X : data frame
            Columns user, left, right. Users that the model does not know get the mean weights.
        people : data frame, path or None, default=None
            Covariates of users that the model does not know, who then get the expected weights of people like them.

        Returns
        -------
        ndarray of shape (n,)
            Probability that the left item is preferred.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If columns or users are missing, or an item is unknown or compared with itself.
        ParameterError
            If the model was fitted without covariates and ``people`` is given.
        """
        chances = super().predict_proba(X)
        if not self._tells_more(people):
            return chances
        columns = data.as_columns(X)
        users, left, right = (data.find_column(columns, role, None) for role in ("user", "left", "right"))
        new = look_up(users, self.users_, "user") < 0
        if new.any():
            (codes,), labels = encode(as_series(users, "user").filter(pl.Series(new)))
            sides = [self.find_items(side, name)[new] for side, name in ((left, "left"), (right, "right"))]
            known = self.memberships(no_answers(labels, self.items_), self.describe_users(labels, people))
            chances[new] = self.probabilities(known, codes, *sides)
        return chances

    def effects(self, covariate: str | None = None, level: float = LEVEL) -> pl.DataFrame:
        """Return who follows which ranking: shares of the rankings by covariate, with intervals.

        A share is the expected weight of a ranking among people with a level who are otherwise like everybody in the
        data. Levels of numbers are quantiles. Figures of fewer than five people are null. Intervals of a fit
        to comparisons use at most 1,500 scores, of the items compared most, and of more than 200,000 comparisons those
        of every n-th user.

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
            share, lower, upper; difference (to the first level that is shown), difference_lower, difference_upper;
            people (who have the level) and probability (that the difference has the direction it seems to have).

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
        return effects_of(design, some_rows(self._people), self._coefficient_draws, names, level)

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
        draws = self._coefficient_draws
        found = Interval.of(draw_shares(draws, rows, sizes), level)
        sample = draw_shares(draws, some_rows(self._people)).mean(axis=0)
        rankings = np.arange(1, len(sample) + 1)
        return pl.DataFrame(
            {"ranking": rankings, "share": found.mean, "lower": found.lower, "upper": found.upper, "sample": sample}
        )


def no_answers(users: Labels, items: Labels) -> Comparisons:
    """Return users who have not answered anything."""
    nothing = np.zeros(0, np.int32)
    return Comparisons(nothing, nothing, np.zeros(len(users) + 1, np.int64), items, users, rated=False)


def add_users(comparisons: Comparisons, users: Labels) -> Comparisons:
    """Add users who have not answered anything, unless they are there."""
    new = users[look_up(users, comparisons.users, "user") < 0]
    if not len(new):
        return comparisons
    offsets = np.append(comparisons.offsets, np.full(len(new), comparisons.offsets[-1]))
    labels = object_array([*comparisons.users.tolist(), *new.tolist()])
    return replace(comparisons, offsets=offsets, users=labels, ratings=None)


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
                {
                    **head,
                    "ranking": k + 1,
                    **{key: None if hidden else float(figure) for key, figure in figures.items()},
                    "people": each.people,
                }
            )
    order = [
        "attribute",
        "level",
        "value",
        "ranking",
        "share",
        "lower",
        "upper",
        "difference",
        "difference_lower",
        "difference_upper",
        "people",
        "probability",
    ]
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

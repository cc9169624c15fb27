"""RatingPredictor: star ratings from a model that has only seen comparisons."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np

from plurank.choices import RatingTies
from plurank.data.build import refuse_missing
from plurank.data.coded import RatingTable, list_exclusions
from plurank.data.columns import as_columns, find_column
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels, look_up
from plurank.data.rated import Ratings
from plurank.data.ratings import compare_rated, read_rated
from plurank.exceptions import (
    Argument,
    ConvergenceWarning,
    DataError,
    ParameterError,
    SkippedWarning,
)
from plurank.inference.ordinal import OrdinalRatings, fit_stars, level_likelihoods
from plurank.models.base import RankingModel
from plurank.models.prediction import Memberships
from plurank.models.sklearn_api import Estimator, check_is_fitted
from plurank.random import (
    RandomState,
    as_generator,
    draw_seed,
    spawn,
    uniforms_of,
)
from plurank.types import Codes, Floats, Integers, Masks
from plurank.validation import check_choice

Rule = Literal["calibrated", "most-likely"]
N_FOLDS = 5
PAIRS_PER_RATING = 20  # enough to fold somebody in
MOST_LEVELS = 100
BLOCK_PAIRS = 2**20  # that are held at once
EQUALLY = 1e-9  # likely are stars whose log-likelihoods differ by no more: by rounding


class RatingPredictor(Estimator):
    """Predict the ratings that users would give to items, from a fitted ranking model and ratings seen before.

    Users that the model does not know are folded in by their ratings. Users without ratings, and items that the model
    does not know, are treated as typical ones.

    Parameters
    ----------
    model : RankingModel
        Any fitted model.
    rule : {"calibrated", "most-likely"}, default="calibrated"
        "calibrated" learns how each user uses the levels, given the model's utilities of the items they rated; a model
        that was fitted to ratings itself knows that already, from its thresholds.
        "most-likely" is the rule of the paper: the level under which the comparisons with the user's other ratings are
        most likely, the lowest of several equally likely ones.
    ties : {"ignore", "both", "random"}, default="ignore"
        With "most-likely": what two equal ratings give, as in ``Comparisons.from_ratings``.
    integers : bool, default=False
        With "calibrated": whether to predict the level nearest to the expected rating instead of the expected rating.
    random_state : int, numpy.random.Generator or None, default=0
        Seed.

    Attributes
    ----------
    levels_ : ndarray of shape (L,)
        The values that ratings have, ascending.

    References
    ----------
    The rule "most-likely" is that of section 6.4 of W. Ding, P. Ishwar and V. Saligrama (2015), "A Topic Modeling
    Approach to Ranking", AISTATS.

    Examples
    --------
    >>> import plurank, polars as pl
    >>> import numpy as np
    >>> rng, users, items = np.random.default_rng(0), np.repeat(np.arange(60), 8), np.tile(np.arange(8), 60)
    >>> stars = np.clip(np.round(1 + items / 2 + 1.5 * rng.normal(size=480)), 1, 5)
    >>> ratings = pl.DataFrame({"user": users, "item": items, "rating": stars})
    >>> model = plurank.SingleRanking().fit(plurank.Comparisons.from_ratings(ratings))
    >>> predictor = plurank.RatingPredictor(model).fit(ratings)
    >>> low, high = predictor.predict(pl.DataFrame({"user": [0, 0], "item": [0, 7]}))
    >>> bool(low < high)
    True
    """

    levels_: Floats
    _law: OrdinalRatings | None
    _direct: Any

    def __init__(
        self,
        model: RankingModel,
        rule: Rule = "calibrated",
        *,
        ties: RatingTies = "ignore",
        integers: bool = False,
        random_state: RandomState = 0,
    ) -> None:
        self.model = model
        self.rule = rule
        self.ties = ties
        self.integers = integers
        self.random_state = random_state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "levels_")

    def __sklearn_clone__(self) -> Self:
        # a copy of the model would have forgotten its fit
        return type(self)(**self.get_params(deep=False))

    def fit(self, X: Any, y: None = None, *, columns: Mapping[str, str] | None = None) -> Self:  # noqa: ARG002
        """Learn from ratings how users use the levels.

        Parameters
        ----------
        X : Ratings or data frame
            The ratings; a frame has columns user, item, rating.
        y : None
            Ignored; scikit-learn passes it.
        columns : mapping of str to str or None, default=None
            Names of your columns by role: user, item, rating.

        Returns
        -------
        RatingPredictor
            The fitted predictor itself.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the ratings are not valid, have more than 100 levels, or are all of items that the model does not know.
        ParameterError
            If a parameter is not valid.

        Warns
        -----
        SkippedWarning
            If rows were left out, such as those without a rating.
        ConvergenceWarning
            If the calibration had not converged; it is kept.
        """
        self._check_parameters()
        rated = read_rated(X.to_frame() if isinstance(X, Ratings) else X, "rating", columns)
        for sentence in list_exclusions(rated.excluded):
            warnings.warn(sentence, SkippedWarning, stacklevel=2)
        levels = np.unique(rated.values)
        if len(levels) > MOST_LEVELS:
            raise DataError(
                f"expected at most {MOST_LEVELS} different ratings, got {len(levels):,}. Round them to levels."
            )
        folding, calibrating, coins = spawn(as_generator(self.random_state), 3)
        codes = look_up(rated.item_labels, self.model.items_, "item")
        if (codes < 0).all():
            asked, known = (labels[:1].tolist()[0] for labels in (rated.item_labels, self.model.items_))
            raise DataError(
                f"the model knows none of the items rated, such as {asked!r:.60}; it knows {known!r:.60} and others. "
                "Rate items that it was fitted to, under the same names."
            )
        self._rated = replace(rated, items=codes[rated.items], item_labels=self.model.items_)
        self._coin_seed = draw_seed(coins)
        self._direct = self._law = None
        if self.rule == "calibrated" and self.model.posterior is not None and len(self.model.posterior.scale.values):
            self._direct = self.model.posterior
            self._memberships, self._folded = self._fold_in_ratings()
            self.levels_ = self._direct.scale.values
            return self
        self._memberships, self._folded = self._fold_in(folding)
        self._law = self._calibrate(calibrating) if self.rule == "calibrated" else None
        self.levels_ = levels
        return self

    def _fold_in_ratings(self) -> tuple[list[Any], Labels]:
        """Return draws of the model's users and of those it does not know, and the labels of the latter."""
        rated, known = self._rated, self.model.memberships()
        is_new = (look_up(rated.user_labels, self.model.users_, "user") < 0)[rated.user_of_each()]
        is_new &= rated.items >= 0
        if not is_new.any():
            return known, rated.user_labels[:0]
        said = Ratings.from_table(rated.select(is_new)).without_silent_users()
        new = self.model.memberships(self._direct.in_own_items(said))
        return [old.join(more) for old, more in zip(known, new, strict=False)], said.users  # one of several draws does

    def _check_parameters(self) -> None:
        if not isinstance(self.model, RankingModel):
            raise ParameterError(parameter="model", expected="a fitted model of plurank", got=type(self.model).__name__)
        check_is_fitted(self.model)
        check_choice("rule", self.rule, Rule)
        check_choice("ties", self.ties, RatingTies)
        if not isinstance(self.integers, bool):
            raise ParameterError(parameter="integers", expected="True or False", got=f"{self.integers!r:.80}")

    def _fold_in(self, rng: np.random.Generator) -> tuple[list[Memberships], Labels]:
        """Return the weights of the model's users and of those it does not know, and the labels of the latter."""
        is_new = look_up(self._rated.user_labels, self.model.users_, "user") < 0
        comparisons = self._compare(np.repeat(is_new, np.diff(self._rated.offsets)), rng)
        known, folded = self.model.memberships(), comparisons.users
        if not len(comparisons):
            return known, folded
        return [old.join(new) for old, new in zip(known, self.model.memberships(comparisons), strict=True)], folded

    def _compare(self, keep: Masks, rng: np.random.Generator) -> Comparisons:
        """Make comparisons of some of the ratings, (n,)."""
        known = self._rated.select(keep & (self._rated.items >= 0))
        return Comparisons.from_table(compare_rated(known, "ignore", PAIRS_PER_RATING, rng))

    def _calibrate(self, rng: np.random.Generator) -> OrdinalRatings:
        """Fit how stars follow from utilities, each of somebody who was folded in without the star itself."""
        rated, users = self._rated, self._rated.user_of_each()
        drawing, *children = spawn(rng, 1 + N_FOLDS)
        folds, known = _draw_folds(users, drawing), rated.items >= 0
        utilities = np.zeros(len(users))
        for fold, child in enumerate(children):
            comparisons = self._compare(folds != fold, child)
            asked = (folds == fold) & known
            rows = look_up(rated.user_labels, comparisons.users, "user")[users[asked]]
            people = self.model.memberships(comparisons)
            utilities[asked] = self.model.utilities(people, rows, rated.items[asked])
        utilities[~known] = utilities[known].mean() if known.any() else 0.0
        law = fit_stars(users, utilities, rated.values, len(rated.user_labels))
        if not law.converged:
            message = "how people use stars was still changing at the last round; the fit is kept."
            warnings.warn(message, ConvergenceWarning, stacklevel=3)
        return law

    def predict(self, X: Any) -> Floats:
        """Predict ratings.

        Parameters
        ----------
        X : data frame
            Columns user, item.

        Returns
        -------
        ndarray of shape (n,)
            Expected ratings; levels with ``integers=True`` or ``rule="most-likely"``.

        Raises
        ------
        NotFittedError
            If the predictor is not fitted.
        DataError
            If columns or values are missing.
        ParameterError
            If ``rule`` was changed after the fit.
        """
        users, items = self._read_questions(X)
        if self._direct is not None or self._law is not None:
            means = self._level_chances(users, items) @ self.levels_
            return _nearest(self.levels_, means) if self.integers else means
        return self._most_likely(users, items)

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of each level.

        Parameters
        ----------
        X : data frame
            Columns user, item.

        Returns
        -------
        ndarray of shape (n, L)
            One column for each of ``levels_``.

        Raises
        ------
        NotFittedError
            If the predictor is not fitted.
        DataError
            If columns or values are missing.
        ParameterError
            If ``rule`` is "most-likely", which has no probabilities, or was changed after the fit.
        """
        users, items = self._read_questions(X)
        if self._direct is None and self._law is None:
            raise ParameterError(
                (Argument("rule", "most-likely"), " gives ratings without probabilities."),
                parameter="rule",
                hint=("Use ", Argument("rule", "calibrated"), "."),
            )
        return self._level_chances(users, items)

    def _read_questions(self, frame: Any) -> tuple[Any, Codes]:
        """Return users as they are called and items as the model numbers them, -1 for unknown ones."""
        check_is_fitted(self)
        if (self._direct is None and self._law is None) == (self.rule == "calibrated"):
            raise ParameterError(
                f"rule was changed to {self.rule!r} after the fit.", parameter="rule", hint="Fit again."
            )
        columns = as_columns(frame)
        users, items = (find_column(columns, role, None) for role in ("user", "item"))
        refuse_missing(users.rename("user"))
        refuse_missing(items.rename("item"))
        return users, look_up(items, self.model.items_, "item")

    def _rows(self, users: Any) -> Codes:
        """Return the rows of users among those of the model and those folded in, -1 for others."""
        known, folded = (look_up(users, labels, "user") for labels in (self.model.users_, self._folded))
        n_known = len(self.model.users_)
        return np.where(known >= 0, known, np.where(folded >= 0, n_known + folded, -1)).astype(np.int32)

    def _level_chances(self, users: Any, items: Codes) -> Floats:
        known = items >= 0
        if self._direct is not None:
            counts = self._direct.scale.counts
            chances = np.tile(counts / counts.sum(), (len(items), 1))  # of an item that nobody has rated
            chances[known] = self._direct.level_chances(self._memberships, self._rows(users)[known], items[known])
            return chances
        law = self._law
        assert law is not None
        utilities = np.full(len(items), law.centre)
        utilities[known] = self.model.utilities(self._memberships, self._rows(users)[known], items[known])
        return law.probabilities(look_up(users, self._rated.user_labels, "user"), utilities)

    def _most_likely(self, users: Any, items: Codes) -> Floats:
        """Apply the paper's rule; where nothing can be compared, give the level nearest to the user's mean."""
        raters = look_up(users, self._rated.user_labels, "user").astype(np.int64)
        found = _nearest(self.levels_, _mean_ratings(self._rated)[raters])
        everybody = self._rows(users)
        for block, rows, pairs in self._blocks_of_pairs(raters, items):
            others, asked = self._rated.items[pairs], items[block][rows]
            wins = self.model.probabilities(self._memberships, everybody[block][rows], asked, others)
            coins = uniforms_of(self._coin_seed, pairs * len(self.model.items_) + asked)
            levels = np.searchsorted(self.levels_, self._rated.values[pairs])
            size = (len(items[block]), len(self.levels_))
            likelihoods = level_likelihoods(rows, levels, wins, coins, *size, self.ties)
            compared = np.bincount(rows, minlength=size[0]) > 0
            likeliest = likelihoods >= likelihoods.max(axis=1, keepdims=True) - EQUALLY
            found[block] = np.where(compared, self.levels_[likeliest.argmax(axis=1)], found[block])
        return found

    def _blocks_of_pairs(self, raters: Integers, items: Codes) -> Iterator[tuple[slice, Integers, Integers]]:
        """Return blocks of questions and, for each, which question meets which rating of the same person."""
        begins = self._rated.offsets[raters]
        sizes = np.where((raters >= 0) & (items >= 0), self._rated.offsets[raters + 1] - begins, 0)
        edges = np.searchsorted(np.cumsum(sizes), np.arange(0, sizes.sum(), BLOCK_PAIRS))
        for begin, end in pairwise(np.unique([0, *edges, len(items)])):
            block = slice(begin, end)
            rows = np.repeat(np.arange(end - begin), sizes[block])
            first = np.cumsum(sizes[block]) - sizes[block]
            pairs = begins[block][rows] + np.arange(len(rows)) - first[rows]
            differs = (self._rated.items[pairs] != items[block][rows]) & (self._rated.items[pairs] >= 0)
            yield block, rows[differs], pairs[differs]


def _draw_folds(users: Integers, rng: np.random.Generator) -> Integers:
    """Deal the ratings of every user, (n,), sorted by user, out to folds, as equally as can be."""
    order = np.lexsort((rng.random(len(users)), users))
    counts = np.bincount(users)
    dealt = np.arange(len(users)) - np.repeat(np.cumsum(counts) - counts, counts)
    folds = np.empty(len(users), dtype=np.int64)
    folds[order] = (dealt + rng.integers(N_FOLDS, size=len(counts))[users[order]]) % N_FOLDS
    return folds


def _mean_ratings(rated: RatingTable) -> Floats:
    """Mean rating of every user, and last that of all, (M + 1,)."""
    n = np.diff(rated.offsets)
    sums = np.bincount(rated.user_of_each(), rated.values, len(n))
    return np.append(sums / np.maximum(n, 1), rated.values.mean())


def _nearest(levels: Floats, values: Floats) -> Floats:
    """Return the level nearest to each value, (n,)."""
    return levels[np.searchsorted((levels[1:] + levels[:-1]) / 2.0, values)]

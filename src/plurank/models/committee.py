"""A committee of items for the population that a model was fitted to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.encoding import look_up
from plurank.exceptions import Argument, DataError, ParameterError
from plurank.inference.common_ground import LEAST_SHAPE
from plurank.inference.posterior import SEED
from plurank.inference.questions import choose_committee, pack_rows
from plurank.text import percent
from plurank.types import Floats, Masks
from plurank.validation import (
    check_numbers,
    check_positive,
    check_share,
    check_whole,
)

if TYPE_CHECKING:
    from plurank.mixed.leaderboard import ScoredRankings

MOST_ROWS = 40_000  # people times draws
MOST_MARKS = 2**27  # people times draws times items, a byte each
MOST_PEOPLE = 2_000
LEAST_DRAWS, N_DRAWS = 10, 40
HIGHLY = 10  # an item is ranked highly within the first tenth of all


@dataclass(frozen=True)
class Committee:
    """Items chosen so that as many users as possible find one that they rank highly.

    ``MixedRanking.committee`` makes one; ``str(committee)`` is a sentence.

    Attributes
    ----------
    items : list
        Labels of the items, the one that serves most users first.
    texts : list of str
        What to display for them.
    share_served, lower, upper : float
        The share of users who have one of the items among their first ``top``, with the bounds of its interval.
    top : int
        How many of a user's items count as ranked highly.
    guarantee : float
        The least share of the best possible coverage; 1.0 where all committees were tried, 0.0 where nothing is
        promised because both size and budget are limited.
    cost : float or None
        What the items cost together.
    left_out : polars.DataFrame
        One row per camp: ranking, people (who follow it most), served, lower, upper (shares), left_out (people expected
        to find none).

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(60, 8, 2, 20, random_state=0)
    >>> chosen = plurank.MixedRanking(2, random_state=0).fit(made.comparisons).committee(2)
    >>> 0 <= chosen.lower <= chosen.share_served <= chosen.upper <= 1
    True
    """

    items: list[Any]
    texts: list[str]
    share_served: float
    lower: float
    upper: float
    top: int
    guarantee: float
    cost: float | None
    left_out: pl.DataFrame

    def summary(self) -> dict[str, Any]:
        """Return everything as plain Python values, for JSON.

        Returns
        -------
        dict
            All attributes; ``left_out`` as a list of rows.
        """
        return {**vars(self), "left_out": self.left_out.to_dicts()}

    def __str__(self) -> str:
        served = f"{percent(self.share_served)} of people ({percent(self.lower)} to {percent(self.upper)})"
        return f"{', '.join(self.texts)}: {served} find one among their first {self.top}."


def choose_items(
    model: "ScoredRankings", size: int | None, cost: Any, budget: float | None, top: int | None, level: float
) -> Committee:
    """Choose a committee; see :meth:`MixedRanking.committee`."""
    check_share("level", level)
    if not len(model.users_):
        raise ParameterError("nobody has answered yet, so there is nobody to serve. Fit a model to answers first.")
    n_items = len(model.items_)
    first = max(1, -(-n_items // HIGHLY)) if top is None else check_whole("top", top, 1)
    if first >= n_items:
        expected = f"less than {n_items}, the number of items"
        raise ParameterError(parameter="top", expected=expected, got=str(first))
    costs = _read_costs(model, cost, budget)
    if size is None and budget is None:
        without = ("an integer >= 1 without ", Argument("cost"), " and ", Argument("budget"))
        raise ParameterError(parameter="size", expected=without, got="None")
    most = n_items if size is None else min(check_whole("size", size, 1), n_items)
    if costs is not None and costs.min() > float(budget or 0.0):
        expected = f"at least {costs.min():g}, the cost of the cheapest item"
        raise ParameterError(parameter="budget", expected=expected, got=f"{budget!r}")
    people, marks = _draw_favourites(model, first)
    choice = choose_committee(pack_rows(marks.reshape(-1, n_items)), most, costs, budget)
    served: Masks = np.any(marks[:, :, choice.items], axis=2)  # (draws, people)
    return Committee(
        model.items_[choice.items].tolist(),
        [model.item_text(item) for item in choice.items],
        *_interval_of_shares(served.mean(axis=1), level),
        first,
        choice.guarantee,
        None if costs is None else float(costs[choice.items].sum()),
        _by_camp(model, people, served, level),
    )


def _read_costs(model: "ScoredRankings", cost: Any, budget: float | None) -> Floats | None:
    if (cost is None) != (budget is None):
        raise ParameterError((Argument("cost"), " and ", Argument("budget"), " require each other; got one of them."))
    if cost is None:
        return None
    check_positive("budget", budget)
    if isinstance(cost, Mapping):
        codes = look_up(list(cost), model.items_, "item")
        costs = np.full(len(model.items_), np.nan)
        costs[codes[codes >= 0]] = check_numbers("cost", list(cost.values()))[codes >= 0]
        if np.isnan(costs).any():
            missing = model.items_[np.isnan(costs)].tolist()
            some = f"{len(missing):,} items, such as {missing[0]!r:.60}"
            raise DataError((Argument("cost"), f" has no entry for {some}."), parameter="cost", hint="Add them.")
    else:
        costs = check_numbers("cost", cost)
        if costs.shape != model.items_.shape:
            expected = f"one number for each of the {len(model.items_):,} items of items_"
            raise DataError(parameter="cost", expected=expected, got=f"shape {costs.shape}")
    if not (costs > 0).all():
        raise ParameterError(parameter="cost", expected="positive numbers", got=f"{costs.min():g}")
    return costs


def _draw_favourites(model: "ScoredRankings", top: int) -> tuple[NDArray[np.int64], Masks]:
    """Draw what people have among their first items: people's numbers, and marks (draws, people, Q).

    Drawn are scores, weights, and how far people's own tastes are from the rankings they follow.
    """
    n_users, n_items = model.user_weights_.shape[0], len(model.items_)
    most_rows = min(MOST_ROWS, MOST_MARKS // n_items)
    most_people = int(np.clip(most_rows // LEAST_DRAWS, 1, MOST_PEOPLE))
    people = np.arange(0, n_users, 1 + n_users // most_people)
    n_draws = int(np.clip(most_rows // len(people), LEAST_DRAWS, N_DRAWS))
    values, vectors = np.linalg.eigh(model.score_correlations_)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rng = np.random.default_rng([SEED, 4])
    shapes = np.maximum(model.user_concentration_[people, None] * model.user_weights_[people], LEAST_SHAPE)
    marks = np.zeros((n_draws, len(people), n_items), dtype=bool)
    for draw in range(n_draws):
        errors = model.score_errors_ * (rng.standard_normal(model.scores_.shape) @ root.T)
        weights = rng.standard_gamma(shapes)
        weights /= weights.sum(axis=1, keepdims=True)
        liking = weights @ (model.scores_ + errors).T
        liking += _draw_own_tastes(model, liking.shape, rng)
        first = np.argpartition(-liking, top - 1, axis=1)[:, :top]
        np.put_along_axis(marks[draw], first, True, axis=1)
    return people, marks


def _draw_own_tastes(model: "ScoredRankings", shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draw how far people's likings of items (n, Q) are from the rankings they follow.

    An item rated or ranked once has one error in all its comparisons, the logistic one of a choice, so that a person's
    order has a Gumbel error an item (Plackett-Luce). Where people answered pairs, it is the scale of user effects.
    """
    if getattr(model, "from_ratings_", False):
        return rng.gumbel(size=shape)
    return (model.user_effect_scale_ or 0.0) * rng.standard_normal(shape)


def _interval_of_shares(shares: Floats, level: float) -> tuple[float, float, float]:
    tail = (1.0 - level) / 2.0
    lower, upper = np.quantile(shares, (tail, 1.0 - tail))
    mean = float(shares.mean())
    return mean, min(float(lower), mean), max(float(upper), mean)  # of a skewed distribution the mean may lie outside


def _by_camp(model: "ScoredRankings", people: NDArray[np.int64], served: Masks, level: float) -> pl.DataFrame:
    main = model.user_weights_.argmax(axis=1)
    rows: list[tuple[float | None, ...]] = []
    for k in range(len(model.mean_weights_)):
        own, n_people = main[people] == k, int((main == k).sum())
        if not own.any():
            rows.append((k + 1, n_people, None, None, None, None))
            continue
        share, lower, upper = _interval_of_shares(served[:, own].mean(axis=1), level)
        rows.append((k + 1, n_people, share, lower, upper, n_people * (1.0 - share)))
    schema = {"ranking": pl.Int64, "people": pl.Int64, "served": pl.Float64, "lower": pl.Float64, "upper": pl.Float64,
              "left_out": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")

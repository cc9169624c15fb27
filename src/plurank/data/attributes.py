"""Attributes: how one covariate becomes columns of a design matrix, learned once and kept with the model.

Columns have mean zero over those it was learned from, so that a row of zeros is their average.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import polars as pl

from plurank.data.covariates import SHOWN, UNKNOWN, as_numeric, read_levels, read_numbers
from plurank.data.encoding import look_up
from plurank.exceptions import DataError
from plurank.text import shorten
from plurank.types import Floats, Masks
from plurank.validation import is_number

LEAST = {"user": 5, "item": 2}  # fewer than these have a level in common: it is pooled with others
LEAST_PEOPLE = LEAST["user"]  # of fewer no figure is shown
MOST_LEVELS, MOST_VALUES = 50, 1000  # levels of their own; different values that may be pooled
MANY_MISSING = 0.05  # share of missing values from which on being missing has a column of its own
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)  # of a number, at which effects are shown; or at all of so few values
LONG_TEXT = 40  # characters of a value, on average, from which on a column of many values is prose
LARGEST_NUMBER, LARGEST = 1e12, 1e100  # of a value, and of anything that describes an attribute
OTHER = "other"
NUMBER = re.compile(r"\d[\d,]*(\.\d+)?")  # in levels such as "<18", "18-24", "$25,000 - $49,999"
BELOW, ABOVE = re.compile(r"<|\bless\b|\bunder\b", re.IGNORECASE), re.compile(r">|\+|\bmore\b|\bover\b", re.IGNORECASE)


class Level(NamedTuple):
    """A value of an attribute at which effects are shown: what to call it, and how many have it.

    ``value`` is a level of a category, or a number: a quantile, for which all with a number count, or one of few.
    """

    label: str
    value: str | float
    people: int


@dataclass(frozen=True)
class Number:
    """A number, standardised: ``(basis(x) - center) @ rotation``; missing values are zeros.

    The basis is x itself or, with ``knots``, a natural cubic spline. The columns are uncorrelated and of variance 1.
    Where many values are missing, this has a column of its own.
    """

    name: str
    center: tuple[float, ...]
    rotation: tuple[tuple[float, ...], ...]
    shown: tuple[Level, ...]
    n_people: int
    n_missing: int
    knots: tuple[float, ...] = ()

    kind = "number"

    @classmethod
    def learn(cls, name: str, series: pl.Series, n_columns: int = 1) -> Self:
        """Learn from numbers, null where missing, that are not all alike; ``n_columns`` > 1 makes a spline."""
        values = series.drop_nulls().to_numpy()
        knots = _place_knots(values, n_columns)
        basis = _natural_spline(values, knots)
        center = basis.mean(axis=0)
        scale = np.abs(basis - center).max(axis=0)  # cubes are far larger than the number itself
        upper = np.linalg.qr((basis - center) / scale, mode="r")
        rotation = np.linalg.inv(upper) * np.sqrt(len(values)) * np.sign(np.diag(upper)) / scale[:, None]
        return cls(
            name,
            tuple(center.tolist()),
            tuple(map(tuple, rotation.tolist())),
            _choose_levels(values),
            len(values),
            len(series) - len(values),
            tuple(knots.tolist()),
        )

    @property
    def has_missing(self) -> bool:
        """Whether being missing has a column of its own."""
        return _are_many(self.n_missing, self.n_people + self.n_missing)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        more = [f"{self.name} (curve {number})" for number in range(1, len(self.center))]
        return [self.name, *more, *([f"{self.name}: {UNKNOWN}"] if self.has_missing else [])]

    @property
    def levels(self) -> list[Level]:
        """Values at which effects are shown, and the missing where they have a column."""
        return [*self.shown, *([Level(UNKNOWN, UNKNOWN, self.n_missing)] if self.has_missing else [])]

    def matrix(self, series: pl.Series) -> Floats:
        """Return the columns, (n, P), of values of any type; raise where one is no number."""
        numbers = as_numeric(series)
        return self._columns(numbers.fill_null(self.center[0]).to_numpy(), numbers.is_null().to_numpy())

    def row(self, value: str | float) -> Floats:
        """Return the columns of one value, or of a missing one, (P,)."""
        if value == UNKNOWN and self.has_missing:
            return self._columns(np.zeros(1), np.ones(1, np.bool_))[0]
        return self.matrix(pl.Series(self.name, [value]))[0]

    def _columns(self, values: Floats, missing: Masks) -> Floats:
        columns = (_natural_spline(values, np.array(self.knots)) - self.center) @ np.array(self.rotation)
        columns[missing] = 0.0
        if not self.has_missing:
            return columns
        share = self.n_missing / (self.n_people + self.n_missing)
        return np.column_stack([columns, missing - share])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"kind": self.kind, **asdict(self)}

    @classmethod
    def from_dict(cls, packed: dict[str, Any]) -> Self:
        """Return what plain values, read from a file, describe; raise a ValueError where they describe nothing."""
        center, knots = (_as_floats(packed[part]) for part in ("center", "knots"))
        shown = tuple(map(_unpack_level, _sequence(packed["shown"])))
        rotation = tuple(_as_floats(row) for row in _sequence(packed["rotation"]))
        n_people, n_missing = (_natural(packed[part]) for part in ("n_people", "n_missing"))
        n_columns = len(center)
        sound = (
            n_columns == max(len(knots) - 1, 1)
            and [len(row) for row in rotation] == [n_columns] * n_columns
            and len(shown) > 0
            and n_people > 0
            and all(low < high for low, high in pairwise(knots))
        )
        if not sound:
            raise ValueError("a number among the covariates is not described as expected")
        return cls(_text(packed["name"]), center, rotation, shown, n_people, n_missing, knots)


@dataclass(frozen=True)
class Category:
    """A category: one column for each level, 1 or 0 less the share of the level; unknown levels are zeros.

    ``pooled`` are rare levels that are all called "other". Where many values are missing, this is a level; otherwise
    they are zeros.
    """

    name: str
    names_of_levels: tuple[str, ...]
    counts: tuple[int, ...]
    pooled: tuple[str, ...]

    kind = "category"

    @classmethod
    def learn(cls, name: str, series: pl.Series, order: Sequence[str] = (), least: int = LEAST_PEOPLE) -> Self:
        """Learn from text, null where missing; levels in the given order, otherwise sorted.

        Levels of fewer than ``least`` are pooled.
        """
        present = series.drop_nulls()
        counted = present.value_counts(name="n").sort("n", present.name, descending=[True, False])
        common = counted.head(MOST_LEVELS).filter(pl.col("n") >= least)[present.name].to_list()
        rare = counted.filter(~pl.col(present.name).is_in(common))[present.name].to_list()
        if len(rare) == 1 and len(common) < MOST_LEVELS:
            common, rare = [*common, *rare], []
        levels = _order_levels(set(common) - {OTHER}, order)
        if rare or OTHER in common:
            levels.append(OTHER)
        n = dict(counted.iter_rows())
        n[OTHER] = sum(n[level] for level in {*rare, *({OTHER} & {*common})})
        counts = [n[level] for level in levels]
        n_missing = len(series) - len(present)
        if _are_many(n_missing, len(series)):
            levels, counts = [*levels, UNKNOWN], [*counts, n_missing]
        return cls(name, tuple(levels), tuple(counts), tuple(sorted(set(rare) - {OTHER})))

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [f"{self.name}: {level}" for level in self.names_of_levels]

    @property
    def levels(self) -> list[Level]:
        """Levels at which effects are shown."""
        return [Level(level, level, n) for level, n in zip(self.names_of_levels, self.counts, strict=True)]

    def matrix(self, series: pl.Series) -> Floats:
        """Return the columns, (n, P), of values of any type."""
        texts = read_levels(series).fill_null(UNKNOWN)
        known = pl.Series([*self.names_of_levels, *self.pooled], dtype=pl.String)
        codes = look_up(texts, known.to_numpy(), self.name)
        n_levels = len(self.names_of_levels)
        if self.pooled:
            codes = np.where(codes >= n_levels, self.names_of_levels.index(OTHER), codes)
        rows = np.vstack([np.eye(n_levels) - np.array(self.counts) / sum(self.counts), np.zeros(n_levels)])
        return rows[codes]

    def row(self, value: str | float) -> Floats:
        """Return the columns of one level, (P,); raise where it is unknown."""
        columns = self.matrix(pl.Series(self.name, [value], strict=False))[0]
        if not columns.any():
            levels = ", ".join(self.names_of_levels)
            raise DataError(f"{self.name} has no level {shorten(repr(value), SHOWN)}; its levels are {levels}.")
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"kind": self.kind, **asdict(self)}

    @classmethod
    def from_dict(cls, packed: dict[str, Any]) -> Self:
        """Return what plain values, read from a file, describe; raise a ValueError where they describe nothing."""
        levels, pooled = (tuple(map(_text, _sequence(packed[part]))) for part in ("names_of_levels", "pooled"))
        counts = tuple(map(_natural, _sequence(packed["counts"])))
        different = len({*levels, *pooled}) == len(levels) + len(pooled)
        if not different or len(levels) < 2 or len(counts) != len(levels) or not sum(counts):
            raise ValueError("a category among the covariates is not described as expected")
        if pooled and OTHER not in levels:
            raise ValueError("levels are pooled, but into none")
        return cls(_text(packed["name"]), levels, counts, pooled)


Attribute = Number | Category
KINDS: dict[str, type[Number] | type[Category]] = {Number.kind: Number, Category.kind: Category}


def unpack_attribute(packed: Any) -> Attribute:
    """Return the attribute that plain values, read from a file, describe; raise a ValueError where they are none."""
    if not isinstance(packed, dict) or packed.get("kind") not in KINDS:
        raise ValueError("a covariate is not described as expected")
    return KINDS[packed["kind"]].from_dict(packed)


def show_number(value: float) -> str:
    """Return a number as a label has it: integers whole, others with three digits."""
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 1000 else f"{value:.3g}"


def _order_levels(levels: Collection[str], order: Sequence[str]) -> list[str]:
    """Sort levels by a given order, otherwise by the number that all begin a range with, otherwise by their text."""
    place = {level: at for at, level in enumerate(order)}
    numbers = {level: NUMBER.search(level) for level in levels}
    if place or not all(numbers.values()):
        return sorted(levels, key=lambda level: (place.get(level, len(place)), level))
    first = {level: float(found[0].replace(",", "")) for level, found in numbers.items() if found}
    side = {level: bool(ABOVE.search(level)) - bool(BELOW.search(level)) for level in levels}
    return sorted(levels, key=lambda level: (first[level], side[level], level))


def _choose_levels(values: Floats) -> tuple[Level, ...]:
    """Return all values where they are few, otherwise the quantiles that differ."""
    different, counts = np.unique(values, return_counts=True)
    if len(different) <= len(QUANTILES):
        return tuple(
            Level(show_number(value), value, n) for value, n in zip(different.tolist(), counts.tolist(), strict=True)
        )
    places = np.quantile(values, QUANTILES).tolist()
    first = {value: share for share, value in sorted(zip(QUANTILES, places, strict=True), reverse=True)}
    return tuple(Level(f"{first[value]:.0%} ({show_number(value)})", value, len(values)) for value in sorted(first))


def _are_many(n_missing: int, n: int) -> bool:
    return n_missing >= LEAST_PEOPLE and n_missing >= MANY_MISSING * n


# Which kind of attribute a column is, or why it can be none.

Form = Literal["any", "number", "category"]  # what a formula makes of a column
REMEDIES = {
    "the same for everyone": "It tells nobody apart.",
    "without any value": "Fill it in.",
    "dates or times": "Turn them into numbers, such as years.",
    "with values beyond 1e12": "Use another unit, or take logarithms.",
    "different for nearly everyone, as ids are": "Group its values.",
    "free text": "Sort it into a few groups.",
    "made of values that hardly anybody shares": "Group its values.",
    "not a number": "Write C(...) for a category.",
}


def learn_attribute(
    series: pl.Series, form: Form = "any", n_columns: int = 1, least: int = LEAST_PEOPLE
) -> Attribute | str:
    """Return the attribute that a column makes, or why it makes none: one of ``REMEDIES``."""
    if series.dtype.is_temporal():
        return "dates or times"
    if form != "category" and series.dtype.is_numeric() and (series.abs() > LARGEST_NUMBER).any():
        return "with values beyond 1e12"
    numbers = None if form == "category" else read_numbers(series)
    if numbers is not None and not _is_constant(numbers):
        return Number.learn(series.name, numbers, n_columns)
    if form == "number" and numbers is None:
        return "not a number"
    return _learn_category(series, least)


def _is_constant(numbers: pl.Series) -> bool:
    values = numbers.drop_nulls().to_numpy()
    return not len(values) or bool(np.ptp(values) <= 1e-9 * np.abs(values).max())


def _learn_category(series: pl.Series, least: int) -> Category | str:
    texts = read_levels(series)
    present = texts.drop_nulls()
    n, n_values = len(present), present.n_unique()
    if not n:
        return "without any value"
    shared = present.value_counts(name="n").filter(pl.col("n") >= least)["n"].sum()
    if n_values > MOST_VALUES or shared < n / 2:
        if present.str.len_chars().mean() > LONG_TEXT:  # type: ignore[operator]
            return "free text"
        few = n_values < 0.8 * n
        return "made of values that hardly anybody shares" if few else "different for nearly everyone, as ids are"
    order = series.dtype.categories.to_list() if isinstance(series.dtype, pl.Enum) else ()
    learned = Category.learn(series.name, texts, order, least)
    return learned if len(learned.counts) > 1 else "the same for everyone"


# Natural cubic splines.


def _place_knots(values: Floats, n_columns: int) -> Floats:
    if n_columns == 1:
        return np.empty(0)
    knots = np.unique(np.quantile(values, np.linspace(0, 1, n_columns + 1), method="inverted_cdf"))
    return knots if len(knots) > 2 else np.empty(0)


def _natural_spline(values: Floats, knots: Floats) -> Floats:
    """Return x and the truncated powers of a natural cubic spline, (n, knots - 1); without knots x alone, (n, 1).

    Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, equations (5.4) and (5.5).
    """
    if not len(knots):
        return values[:, None].astype(np.float64)
    cubes = np.maximum(values[:, None] - knots, 0.0) ** 3
    slopes = (cubes[:, :-1] - cubes[:, -1:]) / (knots[-1] - knots[:-1])
    return np.column_stack([values, slopes[:, :-1] - slopes[:, -1:]])


# Checks of what a file says.


def _sequence(value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise ValueError("covariates are not described as expected")
    return list(value)


def _as_floats(value: Any) -> tuple[float, ...]:
    numbers = _sequence(value)
    if not all(is_number(number) and abs(number) <= LARGEST for number in numbers):
        raise ValueError("covariates are not described in numbers")
    return tuple(float(number) for number in numbers)


def _unpack_level(packed: Any) -> Level:
    label, value, people = _sequence(packed)
    return Level(_text(label), _as_floats([value])[0], _natural(people))


def _natural(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise ValueError("people are not counted")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("covariates and their levels are not named by text")
    return value

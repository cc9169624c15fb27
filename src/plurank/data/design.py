"""The design matrix of covariates: learned from a table once, kept with a model as plain values, and used for others.

``Design.learn(table, users)`` returns the description and the matrix (n, P) of the users of a fit. Users without a row
are rows of zeros, which stand for the average user.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Self

import numpy as np
import polars as pl

from plurank.data.attributes import LARGEST, LEAST, REMEDIES, Attribute, learn_attribute, unpack_attribute
from plurank.data.coded import Exclusion, check_exclusions, list_exclusions
from plurank.data.covariates import Covariates, Key, Match, Series, as_rows
from plurank.data.encoding import Labels
from plurank.data.formulas import Term, Terms, parse_formula
from plurank.exceptions import DataError
from plurank.text import listing, shorten
from plurank.types import Floats, Integers, Masks
from plurank.validation import is_number

TOLERANCE = 1e-8  # share of a column's variance that must be its own
SPLINE, MANY_VALUES = 3, 20  # columns of a feature of items with so many different values
MOST_LISTED = 5  # columns in a sentence
NOT_DESCRIBED = "covariates are not described as expected"


@dataclass(frozen=True)
class Product:
    """The interaction of several attributes: products of their columns, less their ``means``."""

    attributes: tuple[str, ...]
    means: tuple[float, ...]

    @property
    def name(self) -> str:
        """How formulas write it: "age:style"."""
        return ":".join(self.attributes)


@dataclass(frozen=True)
class Design:
    """How covariates become a matrix: attributes, their products, and what was left out of the table.

    ``names`` are its P columns; ``matrix`` describes others, ``vary`` asks what if all had one level.
    """

    key: Key
    attributes: tuple[Attribute, ...]
    products: tuple[Product, ...] = ()
    formula: str | None = None
    excluded: tuple[Exclusion, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def learn(cls, source: Any, labels: Labels, key: Key = "user", formula: str | None = None) -> tuple[Self, Floats]:
        """Learn from the rows of those in the data; return the design, and their matrix (n, P)."""
        table = Covariates.read(source, key)
        match = table.match(labels)
        series = table.take(match.rows[match.rows >= 0])
        if formula is None:
            terms = Terms(tuple(Term(name, n_columns=_count_columns(values, key)) for name, values in series.items()))
        else:
            terms = parse_formula(formula, list(series))
        attributes, left_out = _learn_attributes(series, terms.single, LEAST[key])
        matrix = _fill_columns(attributes, series, int((match.rows >= 0).sum()))
        left_out |= _find_redundant(attributes, matrix)
        if formula is not None:
            _refuse_unusable(left_out)
        kept = tuple(attribute for attribute in attributes if attribute.name not in left_out)
        if not kept:
            why = "; ".join(f"{name}: {why}" for name, why in left_out.items()) or f"it has no column but the {key}"
            raise DataError(f"no column of the table can be a covariate: {shorten(why, 400)}.")
        if len(kept) < len(attributes):
            used = [attribute.name not in left_out for attribute in attributes for _ in attribute.names]
            matrix = matrix[:, used]
        excluded = (*_exclude(left_out, len(series)), *match.excluded)
        products = _learn_products(kept, matrix, terms.products)
        design = cls(key, kept, products, formula, excluded, tuple(match.notes))
        return design, _scatter(design._with_products(matrix), match.rows >= 0)

    @property
    def n_columns(self) -> int:
        """Number of columns, P."""
        return len(self.names)

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [name for names in self._names.values() for name in names]

    @property
    def column_attributes(self) -> list[str]:
        """The attribute, or product, that each column belongs to."""
        return [attribute for attribute, names in self._names.items() for _ in names]

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        names = {attribute.name: attribute.names for attribute in self.attributes}
        for product in self.products:
            combined = names[product.attributes[0]]
            for other in product.attributes[1:]:
                combined = [f"{first} × {second}" for first in combined for second in names[other]]
            names[product.name] = combined
        return names

    def attribute(self, name: str) -> Attribute:
        """Return an attribute by name; raise, with those known, where there is none."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise DataError(f"there is no attribute {shorten(repr(name), 60)}; the model knows {self._known}.")

    @property
    def _known(self) -> str:
        return listing([attribute.name for attribute in self.attributes])

    def matrix(self, rows: Any) -> Floats:
        """Return the matrix, (n, P), of one description ``{"age": 34}``, a list of these, a frame or a table.

        What a description leaves out, or a level that is unknown, counts as average: zeros. What is given as missing
        (None, an empty cell) is treated as in the fit.
        """
        if isinstance(rows, (list, tuple)):
            return np.vstack([np.empty((0, self.n_columns)), *map(self.matrix, rows)])
        series = as_rows(rows)
        if isinstance(rows, Mapping):
            for name in series:
                self.attribute(name)
            return self._describe(series) if series else np.zeros((1, self.n_columns))
        return self._describe(series)

    def matrix_of(self, source: Any, labels: Labels) -> tuple[Floats, Match]:
        """Return the matrix of users, or items, who may be in a table, zeros for those who are not; and who is."""
        table = Covariates.read(source, self.key)
        match = table.match(labels)
        known = match.rows >= 0
        return _scatter(self._describe(table.take(match.rows[known])), known), match

    def _describe(self, series: Series) -> Floats:
        if not any(attribute.name in series for attribute in self.attributes):
            raise DataError(
                f"none of the columns {shorten(', '.join(series), 200)} is a covariate of the model, which knows "
                f"{self._known}."
            )
        n = len(next(iter(series.values())))
        return self._with_products(_fill_columns(self.attributes, series, n))

    def vary(self, matrix: Floats, name: str, value: str | float) -> Floats:
        """Return a matrix, (n, P), in which all have one value of an attribute, and keep their other ones."""
        places = _place_columns(self.attributes)
        varied = matrix[:, : sum(map(len, places.values()))].copy()
        varied[:, places[self.attribute(name).name]] = self.attribute(name).row(value)
        return self._with_products(varied)

    def _with_products(self, columns: Floats) -> Floats:
        """Append products to the columns of attributes."""
        made = []
        places = _place_columns(self.attributes)
        for each in self.products:
            product, known = _multiply([columns[:, places[name]] for name in each.attributes])
            made.append(np.where(known[:, None], product - each.means, 0.0))
        return np.hstack([columns, *made]) if made else columns

    @property
    def reports(self) -> list[str]:
        """Sentences on columns and rows that were left out, and on users without a row."""
        return [*list_exclusions(self.excluded), *self.notes]

    def describe(self) -> str:
        """Return what the covariates are, and what was left out."""
        return "; ".join([self.formula or self._known, *(sentence.rstrip(".") for sentence in self.reports)])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "key": self.key,
            "attributes": [attribute.to_dict() for attribute in self.attributes],
            "products": [{"attributes": [*each.attributes], "means": [*each.means]} for each in self.products],
            "formula": self.formula,
            "excluded": [each.to_dict() for each in self.excluded],
            "notes": [*self.notes],
        }

    @classmethod
    def from_dict(cls, packed: Any) -> Self:
        """Return what plain values, read from a file, describe; raise a ValueError where they describe nothing."""
        parts = ("key", "attributes", "products", "formula", "excluded", "notes")
        if not isinstance(packed, dict) or sorted(packed) != sorted(parts):
            raise ValueError(NOT_DESCRIBED)
        attributes = tuple(map(unpack_attribute, packed["attributes"]))
        products = tuple(map(_unpack_product, packed["products"]))
        formula, excluded, notes = packed["formula"], packed["excluded"], packed["notes"]
        sound = (
            packed["key"] in ("user", "item")
            and attributes
            and (formula is None or isinstance(formula, str))
            and check_exclusions(excluded)
            and isinstance(notes, list)
            and all(isinstance(note, str) for note in notes)
        )
        if not sound:
            raise ValueError(NOT_DESCRIBED)
        made = tuple(Exclusion(**each) for each in excluded)
        design = cls(packed["key"], attributes, products, formula, made, tuple(notes))
        _check_products(design)
        return design


def _unpack_product(packed: Any) -> Product:
    sound = isinstance(packed, dict) and packed.keys() == {"attributes", "means"}
    if not sound or not all(isinstance(part, list) for part in packed.values()):
        raise ValueError(NOT_DESCRIBED)
    names, means = packed["attributes"], packed["means"]
    if len(names) < 2 or not all(is_number(mean) and abs(mean) <= LARGEST for mean in means):
        raise ValueError(NOT_DESCRIBED)
    return Product(tuple(names), tuple(means))


def _check_products(design: Design) -> None:
    names = [each.name for each in (*design.attributes, *design.products)]
    known = {attribute.name for attribute in design.attributes}
    if len({*names}) < len(names) or not all(known.issuperset(product.attributes) for product in design.products):
        raise ValueError(NOT_DESCRIBED)
    for product in design.products:
        n_columns = np.prod([len(design.attribute(name).names) for name in product.attributes])
        if len(product.means) != n_columns:
            raise ValueError(NOT_DESCRIBED)


# Learning.


def _count_columns(values: pl.Series, key: Key) -> int:
    """Return how many columns a number has unless a formula says it: of items with many values it is a spline."""
    return SPLINE if key == "item" and values.n_unique() >= MANY_VALUES else 1


def _learn_attributes(series: Series, terms: tuple[Term, ...], least: int) -> tuple[list[Attribute], dict[str, str]]:
    """Return the attributes that columns make, and why others make none."""
    found = {term.column: learn_attribute(series[term.column], term.form, term.n_columns, least) for term in terms}
    made = [attribute for attribute in found.values() if not isinstance(attribute, str)]
    return made, {name: why for name, why in found.items() if isinstance(why, str)}


def _refuse_unusable(left_out: dict[str, str]) -> None:
    """Raise for the first column that a formula names and that cannot be used."""
    for name, why in left_out.items():
        remedy = REMEDIES.get(why, "Leave it out of the formula.")
        raise DataError(f"{name} cannot be a covariate: it is {why}. {remedy}")


def _place_columns(attributes: Sequence[Attribute]) -> dict[str, range]:
    """Return where the columns of attributes are in a matrix, side by side."""
    ends = np.cumsum([0, *(len(attribute.names) for attribute in attributes)]).tolist()
    return {attribute.name: range(*ends[at : at + 2]) for at, attribute in enumerate(attributes)}


def _fill_columns(attributes: Sequence[Attribute], series: Series, n: int) -> Floats:
    """Return the columns of attributes, (n, P); zeros where nothing is given."""
    places = _place_columns(attributes)
    matrix = np.zeros((n, sum(map(len, places.values()))))
    for attribute in attributes:
        if attribute.name in series:
            place = places[attribute.name]
            matrix[:, place.start : place.stop] = attribute.matrix(series[attribute.name])
    return matrix


def _find_redundant(attributes: Sequence[Attribute], matrix: Floats) -> dict[str, str]:
    """Return which attributes say nothing beyond those before them, and what they are determined by."""
    places = {name: np.array(place) for name, place in _place_columns(attributes).items()}
    gram = matrix.T @ matrix
    redundant: dict[str, str] = {}
    kept: list[str] = []
    for name, own in places.items():
        if kept and _is_spanned(gram, own, np.concatenate([places[other] for other in kept])):
            alone = [other for other in kept if _is_spanned(gram, own, places[other])]
            redundant[name] = f"determined by {alone[0] if alone else 'other columns'}"
        else:
            kept.append(name)
    return redundant


def _is_spanned(gram: Floats, own: Integers, others: Integers) -> bool:
    """Check, by their inner products, whether columns of mean zero are linear combinations of others."""
    cross = gram[np.ix_(others, own)]
    inverse = np.linalg.pinv(gram[np.ix_(others, others)], rcond=1e-10, hermitian=True)
    total = np.diag(gram)[own]
    return bool((total - np.sum(cross * (inverse @ cross), axis=0) <= TOLERANCE * total).all())


def _learn_products(
    attributes: Sequence[Attribute], matrix: Floats, names: tuple[tuple[str, ...], ...]
) -> tuple[Product, ...]:
    places, products = _place_columns(attributes), []
    for parts in names:
        product, known = _multiply([matrix[:, places[name]] for name in parts])
        products.append(Product(parts, tuple((product.sum(axis=0) / max(known.sum(), 1)).tolist())))
    return tuple(products)


def _multiply(parts: list[Floats]) -> tuple[Floats, Masks]:
    """Multiply every column of each part with every column of the others, (n, P1 P2 ...), and mark known rows, (n,).

    Where nothing is known of one of the attributes, all its columns are zero.
    """
    product = reduce(lambda first, second: (first[:, :, None] * second[:, None, :]).reshape(len(first), -1), parts)
    return product, np.all([part.any(axis=1) for part in parts], axis=0)


def _scatter(matrix: Floats, known: Masks) -> Floats:
    """Return the rows of those who are known, (n_known, P), among rows of zeros for others, (n, P)."""
    if known.all():
        return matrix
    rows = np.zeros((len(known), matrix.shape[1]))
    rows[known] = matrix
    return rows


def _exclude(left_out: dict[str, str], n_columns: int) -> tuple[Exclusion, ...]:
    """Return an exclusion for each reason, which names the columns."""
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out.items():
        by_reason.setdefault(why, []).append(name)
    return tuple(
        Exclusion("column", len(names), n_columns, f"{why} ({_list_some(names)})") for why, names in by_reason.items()
    )


def _list_some(names: list[str]) -> str:
    more = len(names) - MOST_LISTED
    shown = [shorten(name, 40) for name in names]
    return ", ".join(shown) if more <= 0 else f"{', '.join(shown[:MOST_LISTED])} and {more:,} more"

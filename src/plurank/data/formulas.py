"""Formulas of covariates, ``age + C(zip) + cr(income, df=4) + age:style``: which columns, and in which form.

The package formulaic takes formulas apart. It evaluates nothing: what a formula may call are ``C`` (a category) and
``cr`` (a natural cubic spline), which :mod:`plurank.data.attributes` computes, so that models are files without code.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plurank.data.attributes import Form
from plurank.exceptions import DataError, ParameterError, extra
from plurank.text import count, listing, reason_of, shorten

EXAMPLE = "such as 'age + C(zip) + cr(income, df=4) + age:style'"
SPLINE_COLUMNS, MOST_COLUMNS = 4, 20  # of a spline, unless told, and at most


@dataclass(frozen=True)
class Term:
    """A column in the form in which a formula uses it."""

    column: str
    form: Form = "any"
    n_columns: int = 1


@dataclass(frozen=True)
class Terms:
    """What a formula asks for: columns by themselves, and products of several."""

    single: tuple[Term, ...]
    products: tuple[tuple[str, ...], ...] = ()


def parse_formula(formula: str, columns: Sequence[str]) -> Terms:
    """Take a formula of these columns apart; "." stands for all of them."""
    found = [tuple(_read_factor(factor, columns) for factor in factors) for factors in _list_factors(formula, columns)]
    single = tuple(dict.fromkeys(factors[0] for factors in found if len(factors) == 1))
    names = [term.column for term in single]
    for name in names:
        if names.count(name) > 1:
            raise _wrong(formula, f"{name} is in it in two forms. Keep one.")
    products = tuple(factors for factors in found if len(factors) > 1)
    for factors in products:
        lacking = [term.column for term in factors if term not in single]
        if lacking:
            product = ":".join(term.column for term in factors)
            raise _wrong(formula, f"{product} needs {listing(lacking)} by itself, too: write * instead of :.")
    if not single:
        raise _wrong(formula, "it has no covariate.")
    return Terms(single, tuple(tuple(term.column for term in factors) for factors in products))


def _list_factors(formula: str, columns: Sequence[str]) -> list[list[Any]]:
    if not isinstance(formula, str) or not formula.strip():
        raise ParameterError(parameter="formula", expected=f"a formula, {EXAMPLE}", got=repr(formula))
    with extra("formula", "A formula"):
        from formulaic import Formula
        from formulaic.errors import FormulaicError
        from formulaic.formula import SimpleFormula
    try:
        found = Formula.from_spec(formula, context={"__formulaic_variables_available__": list(columns)})
    except (FormulaicError, SyntaxError) as error:
        said = re.sub(r"\x1b\[[0-9;]*m|[⧛⧚]", "", reason_of(error))
        raise _wrong(formula, f"{said}.") from None
    if not isinstance(found, SimpleFormula):
        raise _wrong(formula, "it has two sides; write the covariates only.")
    terms = [list(term.factors) for term in found]
    return [factors for factors in terms if factors[0].eval_method.value != "literal"]


def _read_factor(factor: Any, columns: Sequence[str]) -> Term:
    if factor.eval_method.value == "lookup":
        return Term(_check_term(factor.expr, columns))
    call = ast.parse(factor.expr, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in ("C", "cr"):
        raise _wrong(factor.expr, "only C(column), a category, and cr(column, df=4), a spline, can be computed.")
    if len(call.args) != 1 or not isinstance(call.args[0], ast.Name):
        raise _wrong(factor.expr, "expected the name of one column in parentheses.")
    column = _check_term(call.args[0].id, columns)
    if call.func.id == "C":
        _refuse_options(factor.expr, call, ())
        return Term(column, "category")
    _refuse_options(factor.expr, call, ("df",))
    given = call.keywords[0].value if call.keywords else ast.Constant(SPLINE_COLUMNS)
    n_columns = given.value if isinstance(given, ast.Constant) else None
    if not isinstance(n_columns, int) or not 2 <= n_columns <= MOST_COLUMNS:
        raise _wrong(factor.expr, f"df must be an integer from 2 to {MOST_COLUMNS}, got {ast.unparse(given)}.")
    return Term(column, "number", n_columns)


def _refuse_options(expression: str, call: ast.Call, known: Sequence[str]) -> None:
    unknown = [str(option.arg) for option in call.keywords if option.arg not in known]
    if unknown:
        raise _wrong(expression, f"unknown {count(len(unknown), 'option')[2:]} {listing(unknown)}.")


def _check_term(name: str, columns: Sequence[str]) -> str:
    if name not in columns:
        raise DataError(f"there is no covariate {name!r}; the columns are {shorten(', '.join(columns), 200)}.")
    return name


def _wrong(formula: str, why: str) -> ParameterError:
    return ParameterError(f"the formula {shorten(formula, 80)!r} cannot be read: {why}", parameter="formula")

"""Formulas of covariates."""

import json
from importlib.util import find_spec

import numpy as np
import polars as pl
import pytest

from plurank import DataError, MissingExtraError, ParameterError
from plurank.data.design import Design
from plurank.data.formulas import Term, parse_formula

N = 300
USERS = np.arange(N)
needs_formulaic = pytest.mark.skipif(find_spec("formulaic") is None, reason="formulaic is not installed")
COLUMNS = ["age", "style", "zip", "my column"]


@pytest.fixture
def people(rng):
    return pl.DataFrame(
        {
            "user": USERS,
            "age": rng.normal(40, 10, N),
            "style": rng.choice(["bold", "mild"], N),
            "zip": rng.integers(0, 8, N),
            "code": [f"c{at}" for at in range(N)],
        }
    )


@needs_formulaic
@pytest.mark.parametrize(
    ("formula", "single", "products"),
    [
        ("age", [Term("age")], ()),
        ("~ age + style - 1", [Term("age"), Term("style")], ()),
        ("age + `my column`", [Term("age"), Term("my column")], ()),
        ("C(zip) + cr(age)", [Term("zip", "category"), Term("age", "number", 4)], ()),
        ("cr(age, df=6)", [Term("age", "number", 6)], ()),
        ("age * style", [Term("age"), Term("style")], (("age", "style"),)),
        (".", [Term(name) for name in COLUMNS], ()),
    ],
)
def test_formulas_say_which_columns_in_which_form(formula, single, products):
    found = parse_formula(formula, COLUMNS)
    assert (list(found.single), found.products) == (single, products)


@needs_formulaic
@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        ("age +", r"the formula 'age \+' cannot be read: Operator"),
        ("age ~ style", "it has two sides; write the covariates only"),
        ("1", "it has no covariate"),
        ("np.log(age)", "only C.column., a category, and cr.column, df=4., a spline, can be computed"),
        ("__import__('os')", "only C.column., a category"),
        ("{age + 1}", "only C.column., a category"),
        ("C(age, 3)", "expected the name of one column in parentheses"),
        ("C('age')", "expected the name of one column in parentheses"),
        ("cr(age, k=3)", "unknown option k"),
        ("cr(age, df=99)", "df must be an integer from 2 to 20, got 99"),
        ("cr(age, df=style)", "df must be an integer from 2 to 20"),
        ("age + cr(age)", "age is in it in two forms"),
        ("age + age:style", "age:style needs style by itself, too: write . instead of :"),
    ],
)
def test_formulas_that_cannot_be_meant_are_refused(formula, sentence):
    with pytest.raises(ParameterError, match=sentence):
        parse_formula(formula, COLUMNS)


@needs_formulaic
def test_an_unknown_column_is_named():
    with pytest.raises(DataError, match="there is no covariate 'height'; the columns are age, style, zip, my column"):
        parse_formula("height", COLUMNS)


@needs_formulaic
@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        (
            "age + code",
            "code cannot be a covariate: it is different for nearly everyone, as ids are. Group its val",
        ),
        ("cr(style)", r"style cannot be a covariate: it is not a number. Write C\(...\) for a category."),
    ],
)
def test_what_is_asked_for_by_name_must_be_usable(people, formula, sentence):
    with pytest.raises(DataError, match=sentence):
        Design.learn(people, USERS, formula=formula)


@needs_formulaic
def test_a_category_of_numbers_and_a_spline_have_their_columns(people):
    design, matrix = Design.learn(people, USERS, formula="C(zip) + cr(age, df=3)")
    assert design.names == [*(f"zip: {at}" for at in range(8)), "age", "age (curve 1)", "age (curve 2)"]
    np.testing.assert_allclose(design.matrix(people), matrix, atol=1e-10)


@needs_formulaic
def test_an_interaction_is_a_product_that_vanishes_where_one_part_is_unknown(people):
    design, matrix = Design.learn(people, USERS, formula="age * style")
    assert design.names[3:] == ["age × style: bold", "age × style: mild"]
    assert design.column_attributes[3:] == ["age:style"] * 2
    np.testing.assert_allclose(matrix[:, 3] - matrix[0, 3], matrix[:, 0] * matrix[:, 1] - matrix[0, 0] * matrix[0, 1])
    np.testing.assert_allclose(matrix.mean(axis=0), 0, atol=1e-12)
    assert not design.matrix({"age": 90})[0, 1:].any()
    varied = design.vary(matrix, "style", "mild")
    np.testing.assert_allclose(varied, design.matrix(people.with_columns(style=pl.lit("mild"))))
    assert Design.from_dict(json.loads(json.dumps(design.to_dict()))) == design


@pytest.mark.parametrize("formula", ["", "  ", 7])
def test_what_is_no_formula_is_refused(formula):
    with pytest.raises(ParameterError, match="formula must be a formula, such as 'age"):
        parse_formula(formula, COLUMNS)


def test_a_formula_without_formulaic_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "formulaic.errors", None)
    monkeypatch.setitem(__import__("sys").modules, "formulaic", None)
    with pytest.raises(MissingExtraError, match=r"A formula needs formulaic.*: pip install 'plurank\[formula\]'"):
        parse_formula("age", COLUMNS)

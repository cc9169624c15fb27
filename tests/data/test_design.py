"""How covariates become a design matrix."""

import json
from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank import DataError
from plurank.data.attributes import Category, Level, Number
from plurank.data.coded import list_exclusions
from plurank.data.design import Design

N = 200
USERS = np.arange(N)


def table(**columns):
    return pl.DataFrame({"user": USERS, **columns}, strict=False)


def cycle(*values):
    return [values[at % len(values)] for at in range(N)]


@pytest.fixture
def people(rng):
    return table(
        age=rng.normal(40, 10, N),
        style=rng.choice(["bold", "fruity", "mild"], N),
        fan=rng.random(N) < 0.3,
        income=[None if at % 4 == 0 else float(at) for at in range(N)],
    )


def learn(frame, **options):
    return Design.learn(frame, USERS, **options)


def why_not(**columns):
    """What is said of a column beside one that can be used."""
    design, _ = learn(table(sound=cycle("a", "b", "c"), **columns))
    assert [attribute.name for attribute in design.attributes] == ["sound"]
    return " ".join(list_exclusions(design.excluded))


def test_numbers_are_standardised_and_a_category_has_a_column_for_each_level(people):
    design, matrix = learn(people.select("user", "age", "style"))
    assert design.names == ["age", "style: bold", "style: fruity", "style: mild"]
    assert design.column_attributes == ["age", "style", "style", "style"]
    age = people["age"].to_numpy()
    np.testing.assert_allclose(matrix[:, 0], (age - age.mean()) / age.std())
    is_bold = (people["style"] == "bold").to_numpy()
    np.testing.assert_allclose(matrix[:, 1], is_bold - is_bold.mean())


def test_columns_have_mean_zero_and_learned_rows_are_described_alike(people):
    design, matrix = learn(people)
    np.testing.assert_allclose(matrix.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(design.matrix(people), matrix)
    assert matrix.dtype == np.float64
    assert matrix.shape == (N, design.n_columns)


def test_those_without_a_row_are_average(people):
    design, matrix = Design.learn(people.head(50), USERS)
    assert matrix[:50].any(axis=1).all()
    assert not matrix[50:].any()
    assert design.notes == (
        "150 of 200 users have no row in the table of people; nothing is known about them, and they count as average.",
    )
    again, match = design.matrix_of(people.head(50), USERS)
    np.testing.assert_array_equal(again, matrix)
    assert match.n_without_row == 150


def test_rows_about_others_are_not_learned_from(people):
    design, _ = Design.learn(people, USERS[:100])
    only, _ = Design.learn(people.head(100), USERS[:100])
    assert design.attributes == only.attributes
    assert list_exclusions(design.excluded) == ["100 of 200 rows left out: about users without votes."]


def test_few_missing_values_are_average_and_many_have_a_column():
    few = [None, None, *range(N - 2)]
    design, matrix = learn(table(age=few))
    assert design.names == ["age"]
    np.testing.assert_array_equal(matrix[:2], 0)
    design, matrix = learn(table(age=[*cycle(None, 1, 2, 3)]))
    assert design.names == ["age", "age: (missing)"]
    assert matrix[0].tolist() == [0.0, 0.75]
    assert design.matrix({"age": None}).tolist() == [[0.0, 0.75]], "as in the fit"
    assert design.matrix({}).tolist() == [[0.0, 0.0]], "not asked is not missing"


def test_a_category_has_a_level_for_many_missing_values():
    design, matrix = learn(table(style=cycle("a", "b", None, "")))
    assert design.attributes[0].levels == [
        Level("a", "a", 50),
        Level("b", "b", 50),
        Level("(missing)", "(missing)", 100),
    ]
    np.testing.assert_allclose(matrix[2], [-0.25, -0.25, 0.5])


def test_answers_that_are_given_or_not_are_a_category():
    design, _ = learn(table(newsletter=cycle("yes", None)))
    assert design.names == ["newsletter: yes", "newsletter: (missing)"]
    design, _ = learn(table(newsletter=cycle(1, None)))
    assert design.names == ["newsletter: 1", "newsletter: (missing)"]


def test_rare_levels_are_pooled_and_stay_pooled():
    style = [*["rare one"] * 3, *["rare two"] * 4, *cycle("a", "b")[7:]]
    design, matrix = learn(table(style=style))
    assert design.names == ["style: a", "style: b", "style: other"]
    assert [level.people for level in design.attributes[0].levels] == [96, 97, 7]
    np.testing.assert_array_equal(design.matrix({"style": "rare two"})[0], matrix[0])
    np.testing.assert_array_equal(design.matrix({"style": "other"})[0], matrix[0])


def test_a_single_rare_level_keeps_its_name():
    design, _ = learn(table(style=[*["rare"] * 3, *cycle("a", "b")[3:]]))
    assert design.names == ["style: a", "style: b", "style: rare"]


def test_at_most_fifty_levels_have_a_column_of_their_own():
    n = 1000
    frame = pl.DataFrame({"user": range(n), "town": [f"town {at % 80:02}" for at in range(n)]})
    design, _ = Design.learn(frame, np.arange(n))
    assert (design.n_columns, design.names[-1]) == (51, "town: other")
    fifty = frame.with_columns(town=pl.format("town {}", pl.col("user") % 50))
    assert Design.learn(fifty, np.arange(n))[0].n_columns == 50


def test_features_of_items_are_pooled_only_where_an_item_is_alone():
    frame = pl.DataFrame({"item": range(6), "body": ["suv", "suv", "van", "van", "mini", "bus"]})
    design, _ = Design.learn(frame, np.arange(6), key="item")
    assert design.names == ["body: suv", "body: van", "body: other"]


def test_unknown_levels_are_average(people):
    design, _ = learn(people)
    assert not design.matrix({"style": "nutty"}).any()
    known = design.matrix({"style": "bold", "fan": True})
    np.testing.assert_allclose(known[:, design.names.index("fan: true")], 1 - people["fan"].mean())


def test_a_description_says_as_much_as_it_likes(people):
    design, _ = learn(people)
    one, two, nothing = design.matrix([{"age": 50}, {"age": "50", "style": "mild"}, {}])
    assert one[0] == two[0] == pytest.approx((50 - people["age"].mean()) / people["age"].std(ddof=0))
    assert not one[1:].any()
    assert not nothing.any()
    assert design.matrix([]).shape == (0, design.n_columns)
    with pytest.raises(DataError, match="there is no attribute 'agee'; the model knows age, style, fan and income"):
        design.matrix({"agee": 50})
    with pytest.raises(DataError, match="age must be a number, as it was in the fit, got 'old'"):
        design.matrix({"age": "old"})
    with pytest.raises(
        DataError, match="none of the columns height is a covariate of the model, which knows age, style"
    ):
        design.matrix(pl.DataFrame({"height": [1]}))


def test_frames_may_lack_columns_and_have_others(people):
    design, _ = learn(people)
    frame = people.select("user", "age", height=pl.lit(1))
    expected = design.matrix([{"age": age} for age in people["age"]])
    np.testing.assert_array_equal(design.matrix(frame), expected)


def test_levels_of_an_ordered_category_keep_their_order():
    sizes = pl.Series(cycle("small", "large", "middle"), dtype=pl.Enum(["small", "middle", "large"]))
    design, _ = learn(table(size=sizes))
    assert [level.label for level in design.attributes[0].levels] == ["small", "middle", "large"]


@pytest.mark.parametrize(
    "ordered",
    [
        ["<18 years", "18-24 years", "25-34 years", ">65 years"],
        ["Less than 1", "1", "2", "More than 2"],
        ["$0 - $24,999", "$25,000 - $99,999", "$100,000 - $149,999", "$150,000+"],
        ["9 or under", "10", "11+"],
        ["almost 1", "none", "some 2"],
    ],
)
def test_levels_of_ranges_are_in_the_order_of_their_numbers(ordered):
    design, _ = learn(table(asked=cycle(*sorted(ordered))))
    assert [level.label for level in design.attributes[0].levels] == ordered


def test_numbers_are_shown_at_quantiles_or_at_each_of_few_values():
    design, _ = learn(table(age=np.arange(N), stars=cycle(1, 2, 3, 4, 5), share=np.arange(N) ** 2 / 1e6))
    age, stars, share = design.attributes
    assert [level.label for level in age.levels] == ["10% (19.9)", "25% (49.8)", "50% (99.5)", "75% (149)", "90% (179)"]
    assert age.levels[2] == Level("50% (99.5)", 99.5, N)
    assert stars.levels[1] == Level("2", 2.0, 40)
    assert share.levels[0].label == "10% (0.000396)"
    skewed, _ = learn(table(visits=[*[0] * 150, *range(50)]))
    assert [level.label for level in skewed.attributes[0].levels] == ["10% (0)", "90% (29.1)"]


def test_all_have_one_level_and_keep_the_others(people):
    design, matrix = learn(people)
    varied = design.vary(matrix, "style", "bold")
    np.testing.assert_allclose(varied, design.matrix(people.with_columns(style=pl.lit("bold"))))
    varied = design.vary(matrix, "age", 30.0)
    np.testing.assert_allclose(varied, design.matrix(people.with_columns(age=30.0)))
    missing = design.vary(matrix, "income", "(missing)")
    np.testing.assert_allclose(missing, design.matrix(people.with_columns(income=None)))
    with pytest.raises(DataError, match="style has no level 'nutty'; its levels are bold, fruity, mild"):
        design.vary(matrix, "style", "nutty")
    with pytest.raises(DataError, match="there is no attribute 'height'"):
        design.vary(matrix, "height", 1)


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ([None] * N, "without any value"),
        (["x"] * N, "the same for everyone"),
        ([7] * N, "the same for everyone"),
        ([f"u{at}" for at in range(N)], "different for nearly everyone, as ids are"),
        ([f"I like coffee very much, and more so for reason {at}" for at in range(N)], "free text"),
        ([f"street {at // 3}" for at in range(N)], "made of values that hardly anybody shares"),
        ([date(2020, 1, 1)] * N, "dates or times"),
        ([1e13 + at for at in range(N)], "with values beyond 1e12"),
        ([float("inf"), *range(N - 1)], "with values beyond 1e12"),
        ([{"a": "A", "b": "B", "c": "C"}[level] for level in cycle("a", "b", "c")], "determined by sound"),
        (cycle("vowel", "consonant", "consonant"), "determined by sound"),
    ],
)
def test_columns_that_cannot_be_used_are_left_out_and_listed(column, reason):
    assert why_not(other=column) == f"1 of 2 columns left out: {reason} (other)."


def test_reasons_name_all_their_columns():
    columns = {f"constant {at}": ["x"] * N for at in range(7)}
    listed = "constant 0, constant 1, constant 2, constant 3, constant 4 and 2 more"
    assert why_not(**columns) == f"7 of 8 columns left out: the same for everyone ({listed})."


def test_a_sum_of_others_is_left_out(rng):
    first, second = rng.normal(size=(2, N))
    design, _ = learn(table(first=first, second=second, total=first + 2 * second))
    assert list_exclusions(design.excluded) == ["1 of 3 columns left out: determined by other columns (total)."]


def test_a_table_without_any_covariate_is_refused():
    with pytest.raises(DataError, match="no column of the table can be a covariate: wave: the same for everyone"):
        learn(table(wave=[1] * N))
    with pytest.raises(DataError, match="no column of the table can be a covariate: it has no column but the user"):
        learn(table())


numbers = st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=30, max_size=30)
levels = st.lists(
    st.one_of(st.none(), st.sampled_from(["a", "b", "c", "other", "(missing)"])), min_size=30, max_size=30
)


@given(numbers, levels, st.lists(st.booleans(), min_size=30, max_size=30))
def test_any_table_is_centred_described_alike_and_survives_a_file(number, level, flag):
    frame = pl.DataFrame(
        {
            "user": range(30),
            "number": pl.Series(number, dtype=pl.Float64),
            "level": level,
            "flag": flag,
            "fixed": range(30),
        }
    )
    design, matrix = Design.learn(frame, np.arange(30))
    np.testing.assert_allclose(matrix.mean(axis=0), 0, atol=1e-8)
    again = Design.from_dict(json.loads(json.dumps(design.to_dict())))
    assert again == design
    np.testing.assert_allclose(again.matrix(frame), matrix, atol=1e-8)
    for attribute in design.attributes:
        assert len({level.label for level in attribute.levels}) == len(attribute.levels)
        for each in attribute.levels:
            assert np.isfinite(design.vary(matrix, attribute.name, each.value)).all()


@pytest.fixture
def packed(people):
    return json.loads(json.dumps(learn(people)[0].to_dict()))


def spoil(packed, *path, value):
    *before, last = path
    for step in before:
        packed = packed[step]
    packed[last] = value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("key",), "thing"),
        (("attributes",), []),
        (("attributes", 0), {"kind": "secret"}),
        (("attributes", 0, "name"), 7),
        (("attributes", 0, "name"), "style"),
        (("attributes", 0, "center"), []),
        (("attributes", 0, "center"), [float("nan")]),
        (("attributes", 0, "rotation"), [[1.0, 2.0]]),
        (("attributes", 0, "rotation"), [["1"]]),
        (("attributes", 0, "knots"), [1.0, 0.0]),
        (("attributes", 0, "shown"), []),
        (("attributes", 0, "shown"), [["10%", 3.0]]),
        (("attributes", 0, "shown", 0, 2), -1),
        (("attributes", 0, "n_people"), 0),
        (("attributes", 0, "n_missing"), 1.5),
        (("attributes", 1, "names_of_levels"), ["a", "a", "b"]),
        (("attributes", 1, "names_of_levels"), ["a"]),
        (("attributes", 1, "counts"), [0, 0, 0]),
        (("attributes", 1, "counts"), [True, 1, 1]),
        (("attributes", 1, "pooled"), ["x", "y"]),
        (("products",), [{"attributes": ["age", "style"], "means": [0.0]}]),
        (("products",), [{"attributes": ["age", "height"], "means": [0.0]}]),
        (("products",), [{"attributes": ["age"], "means": [0.0]}]),
        (("products",), ["age"]),
        (("formula",), 7),
        (("excluded",), "none"),
        (("notes",), [7]),
    ],
)
def test_descriptions_that_are_none_are_refused(packed, path, value):
    assert Design.from_dict(packed).n_columns
    spoil(packed, *path, value=value)
    with pytest.raises((ValueError, KeyError, TypeError)):
        Design.from_dict(packed)


@pytest.mark.parametrize("other", [None, [], {}, {"key": "user"}])
def test_what_is_no_description_is_refused(other):
    with pytest.raises(ValueError, match="not described as expected"):
        Design.from_dict(other)


def test_a_spline_is_linear_beyond_the_data_and_can_bend_within(rng):
    values = rng.normal(40, 10, N)
    number = Number.learn("age", pl.Series("age", values), 4)
    assert number.names == ["age", "age (curve 1)", "age (curve 2)", "age (curve 3)"]
    columns = number.matrix(pl.Series("age", values))
    np.testing.assert_allclose(columns.T @ columns / N, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(columns[:, 0], (values - values.mean()) / values.std())
    beyond = number.matrix(pl.Series("age", values.max() + np.arange(5.0)))
    np.testing.assert_allclose(np.diff(beyond, 2, axis=0), 0, atol=1e-7)
    wave = np.sin(values / 10)
    fitted = columns @ np.linalg.lstsq(columns, wave - wave.mean(), rcond=None)[0]
    assert np.corrcoef(fitted, wave)[0, 1] > 0.98  # 0.996 with this seed; the linear column alone gives far less


def test_a_spline_of_two_values_is_a_line():
    number = Number.learn("fan", pl.Series("fan", [0.0, 1.0] * 10), 4)
    assert (number.knots, number.names) == ((), ["fan"])


def test_a_category_of_nothing_common_pools_all():
    category = Category.learn("style", pl.Series("style", ["a", "b", "c", "c"]))
    assert (category.names_of_levels, category.counts) == (("other",), (4,))


def test_numbers_of_items_with_many_values_are_splines():
    table = pl.DataFrame({"item": np.arange(30), "year": np.arange(30.0) ** 2, "doors": np.arange(30) % 3})
    design, matrix = Design.learn(table, np.arange(30), "item")
    assert design.column_attributes == ["year", "year", "year", "doors"]
    np.testing.assert_allclose(np.cov(matrix[:, :3].T, bias=True), np.eye(3), atol=1e-9)
    people = table.rename({"item": "user"})
    assert Design.learn(people, np.arange(30))[0].column_attributes == ["year", "doors"]

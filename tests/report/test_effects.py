"""Who follows which ranking: figures, sentences and a section of the report."""

import altair
import polars as pl
import pytest

import plurank
from plurank import ParameterError
from plurank.report.effects import describe_effects, order_attributes, pivot
from plurank.report.figures.effects import draw_effects
from tests.report.made_effects import make_effects, with_effects

CAUSAL = ("because", "cause", "effect", "leads to", "makes people", "influence", "due to")


@pytest.fixture
def effects():
    return make_effects()


def panels(chart):
    spec = chart.to_dict()
    altair.Chart.from_dict(spec).to_dict()  # checks that it is Vega-Lite
    return spec["vconcat"], spec["datasets"]


def marks(panel):
    return [layer["mark"]["type"] for layer in panel["layer"]]


def test_categories_are_dots_with_intervals_and_numbers_curves_with_bands(effects):
    drawn, _ = panels(draw_effects(effects, 0.9))
    assert [panel["title"]["text"] for panel in drawn] == [
        "By style", "By age · 1,190 people; (missing) is in the numbers", "By gender", "By cups",
    ]  # fmt: skip
    assert [marks(panel) for panel in drawn] == [
        ["rule", "point", "text"], ["area", "line", "point"], ["rule", "point"], ["rule", "point"],
    ]  # fmt: skip


def test_a_number_of_few_values_is_drawn_by_value(effects):
    drawn, tables = panels(draw_effects(effects.filter(pl.col("attribute") == "cups"), 0.9))
    rows = tables[drawn[0]["layer"][1]["data"]["name"]]
    assert [row["level"] for row in rows[::3]] == ["1 · 500", "2 · 1,000"]


def test_what_is_drawn_are_the_shares_and_their_intervals(effects):
    drawn, tables = panels(draw_effects(effects, 0.9))
    rows = tables[drawn[0]["layer"][1]["data"]["name"]]
    assert len(rows) == 9, "three levels of three rankings, without the one of three people"
    assert rows[3] == {
        "level": "<i>fruity</i> · about 655", "at": None, "people": "about 655", "ranking": "1",
        "share": pytest.approx(0.7), "lower": pytest.approx(0.66), "upper": pytest.approx(0.74),
    }  # fmt: skip


def test_levels_of_few_people_are_named_and_no_figure_of_them_is_given(effects):
    drawn, tables = panels(draw_effects(effects, 0.9))
    hidden = tables[drawn[0]["layer"][2]["data"]["name"]]
    assert hidden == [{"level": "nutty · fewer than 5", "text": "not shown"}]
    head, rows = pivot(effects)
    assert head == ["attribute", "level", "people", "ranking 1", "ranking 2", "ranking 3"]
    assert rows[2] == ["style", "nutty", "fewer than 5", "not shown", "not shown", "not shown"]
    assert [row[2] for row in rows[:4]] == ["about 410", "about 655", "fewer than 5", "about 120"]
    assert rows[4] == ["age", "10% (23)", "1,190", "50% (46% to 54%)", "30% (26% to 34%)", "20% (16% to 24%)"]


def test_a_share_of_nearly_all_stays_on_the_axis():
    chart = draw_effects(make_effects((0.8, 0.2)), 0.9)
    for panel in chart.to_dict()["vconcat"]:
        channel = "y" if "area" in marks(panel) else "x"
        assert panel["layer"][1]["encoding"][channel]["scale"]["domain"] == [0, 1.0]


def test_the_largest_clear_differences_are_told_first_and_the_rest_is_named(effects):
    assert order_attributes(effects)[:2] == ["style", "age"]
    sentences, rest = describe_effects(effects)
    assert sentences == [
        "style: ranking 1 has a share of 70% for <i>fruity</i> (66% to 74%, about 655 people), and of 51% for bold "
        "(47% to 55%, about 410 people); a difference of 20 points (16 to 24).",
        "age: ranking 1 has a share of 70% at 61 (66% to 74%), and of 50% at 23 (46% to 54%); a difference of 20 "
        "points (16 to 24).",
    ]
    assert rest == "No clear difference was found by gender and cups. 1 level with fewer than 5 people is not shown."


def test_at_most_five_differences_are_told(effects):
    style = effects.filter(pl.col("attribute") == "style")
    many = pl.concat([style.with_columns(attribute=pl.lit(f"style {n}")) for n in range(7)])
    sentences, rest = describe_effects(many)
    assert len(sentences) == 5
    assert rest.startswith("2 more attributes with a clear difference: see the numbers.")


def test_no_wording_is_causal(effects):
    sentences, rest = describe_effects(effects)
    said = " ".join([*sentences, rest, draw_effects(effects, 0.9).to_dict()["description"]]).lower()
    assert [word for word in CAUSAL if word in said] == []


def test_models_draw_their_effects_and_others_say_how_to_get_some(mixed, models):
    drawn = with_effects(mixed).plot.effects()
    assert len(drawn.to_dict()["vconcat"]) == 4
    assert len(with_effects(mixed).plot.effects("style").to_dict()["vconcat"]) == 1
    with pytest.raises(ParameterError, match=r"without covariates.*Give them to fit\(..., people=table\)"):
        mixed.plot.effects()
    with pytest.raises(ParameterError, match="a SingleRanking knows no covariates of its users"):
        models("SingleRanking").plot.effects()


@pytest.mark.parametrize("ending", [".svg", ".png"])
def test_figures_of_effects_can_be_saved(effects, tmp_path, ending):
    path = tmp_path / f"effects{ending}"
    draw_effects(effects, 0.9).save(path)
    assert path.stat().st_size > 1000


def test_a_report_says_who_follows_which_ranking(mixed, tmp_path):
    path = tmp_path / "report.html"
    plurank.write_report(with_effects(mixed), path)
    text = path.read_text(encoding="utf-8")
    section = text[text.index('<section id="followers">') :].partition("</section>")[0]
    assert "<h2>Who follows which ranking</h2>" in section
    assert "No clear difference was found by gender and cups." in section
    assert "do not say why" in section
    assert "fewer than 5" in section
    assert "&lt;i&gt;fruity&lt;/i&gt;" in section
    assert "<i>fruity" not in text
    assert 'href="#followers"' in text
    plurank.write_report(mixed, path)
    assert "followers" not in path.read_text(encoding="utf-8")

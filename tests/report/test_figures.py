"""Figures show what they say, and any label survives in them."""

import json

import altair
import numpy as np
import pytest

import plurank
from plurank import DataError, ParameterError
from plurank.report.charts import save_figure
from plurank.report.figures.people import corners_of
from plurank.report.figures.places import spread_out
from plurank.report.theme import names_of, whole_axis
from tests.report.conftest import MAKERS, ODD

FIGURES = {
    "rankings": lambda model, data: model.plot.rankings(),
    "places": lambda model, data: model.plot.places(1),
    "contested": lambda model, data: model.plot.contested(),
    "weights": lambda model, data: model.plot.weights(model.users_[3]),
    "mean weights": lambda model, data: model.plot.weights(),
    "people": lambda model, data: model.plot.people(),
    "convergence": lambda model, data: model.plot.convergence(),
    "calibration": lambda model, data: model.plot.calibration(data),
    "comparisons": lambda model, data: model.plot.comparisons(data),
}
WITHOUT_CONTESTED = set(MAKERS) - {"MixedRanking"}  # have one ranking, or no posterior
WITH_A_HISTORY = {"MixedRanking", "ClusteredRanking"}


def rows_of(chart, field):
    """All rows of a chart's data that have a field, once for every set of data they are in."""
    spec = chart.to_dict()
    assert '"url"' not in json.dumps(spec)
    return [row for rows in spec["datasets"].values() for row in rows if field in row]


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("kind", MAKERS)
def test_every_model_draws_every_figure_or_says_why_not(kind, figure, models, small):
    model = models(kind)
    impossible = {
        "people": kind == "SingleRanking",
        "contested": kind in WITHOUT_CONTESTED,
        "convergence": kind not in WITH_A_HISTORY,
    }.get(figure, False)
    if impossible:
        with pytest.raises(ParameterError, match=r"\.$"):
            FIGURES[figure](model, small)
        return
    spec = FIGURES[figure](model, small).to_dict()
    altair.Chart.from_dict(spec).to_dict()  # checks that it is Vega-Lite
    assert spec["title"]["text"] in spec["description"]
    json.dumps(spec)


@pytest.mark.parametrize("figure", FIGURES)
def test_odd_labels_are_drawn(figure, mixed, small, tmp_path):
    save_figure(FIGURES[figure](mixed, small), tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    assert text.startswith("<svg")
    assert "<script>" not in text
    if figure in ("rankings", "places"):
        assert "&lt;script&gt;alert(1)" in text
        assert "datum['x'].y" in text
        assert "👩‍🚀" in text


def test_rankings_have_every_item_at_its_places(mixed):
    rows = rows_of(mixed.plot.rankings(), "place")
    places = {(row["item"], row["ranking"]): row["place"] for row in rows}
    names = names_of(ODD)
    for k, ranking in enumerate(mixed.rankings_, start=1):
        labels = mixed.items_[ranking].tolist()
        assert sorted(place for (_, at), place in places.items() if at == k) == list(range(1, 9))
        assert places["a, b; c", k] == labels.index("a, b; c") + 1
    assert len({item for item, _ in places}) == len(names) == 8


def test_of_many_items_only_the_best_and_the_dividing_are_shown(wide):
    items = {row["item"] for row in rows_of(wide.plot.rankings(), "ranking")}
    assert 12 <= len(items) <= 18
    assert "of 40 items" in wide.plot.rankings().to_dict()["description"]
    assert len({row["item"] for row in rows_of(wide.plot.rankings(top=3), "ranking")}) <= 9


def test_places_have_intervals_where_the_model_has_them(mixed, models):
    board = mixed.leaderboard(2)
    rows = rows_of(mixed.plot.places(2, top=5), "lower")
    assert [row["upper"] for row in rows[:5]] == board["upper"].to_list()[:5]
    assert not rows_of(models("TopicRanking").plot.places(2), "lower")


@pytest.mark.parametrize(("ranking", "top"), [(0, 5), (4, 5), (1, 0), ("one", 5)])
def test_rankings_that_are_not_there_are_refused(ranking, top, mixed):
    with pytest.raises(ParameterError):
        mixed.plot.places(ranking, top)


def test_weights_are_the_users_own(mixed):
    rows = rows_of(mixed.plot.weights(mixed.users_[3]), "weight")[:3]
    np.testing.assert_allclose([row["weight"] for row in rows], mixed.user_weights_[3])
    assert all(row["lower"] <= row["weight"] <= row["upper"] for row in rows)
    with pytest.raises(DataError, match="does not know"):
        mixed.plot.weights("nobody")


def test_people_are_drawn_between_the_rankings_they_follow(mixed, wide, models):
    spots = np.array([(row["x"], row["y"]) for row in rows_of(mixed.plot.people(), "x") if set(row) == {"x", "y"}])
    np.testing.assert_allclose(spots, mixed.user_weights_ @ corners_of(3))
    many = [row for row in rows_of(wide.plot.people(), "x") if set(row) == {"x", "y"}]
    assert len(many) == 2_000
    assert "2,000 of 2,100 people, drawn at random" in wide.plot.people().to_dict()["description"]
    bars = rows_of(models("TopicRanking").plot.people(), "people")
    assert sum(row["people"] for row in bars) == 150


def test_calibration_counts_every_comparison_once(mixed, small):
    rows = rows_of(mixed.plot.calibration(small), "n")
    unique = {row["predicted"]: row["n"] for row in rows}
    assert sum(unique.values()) == len(small)
    assert min(unique) >= 0.5


def test_groups_of_items_are_drawn(mixed):
    apart = plurank.Comparisons.from_arrays([1, 1, 2], ["a", "c", "a"], ["b", "d", "b"])
    assert "2 groups" in json.dumps(mixed.plot.comparisons(apart).to_dict())


def test_a_bar_that_is_alone_does_not_fill_the_figure(mixed):
    alike = plurank.Comparisons.from_arrays([1, 1, 2, 2], ["a", "b", "a", "b"], ["b", "c", "b", "c"])
    _, people = mixed.plot.comparisons(alike).to_dict()["vconcat"]  # no panel of groups where there is one group
    assert people["encoding"]["x"]["scale"]["domain"] == [0, 5]


def test_a_selection_marks_what_was_chosen(small):
    selection = plurank.select_rankings(small, [1, 2], "probability", random_state=0, max_iter=5)
    chart = selection.plot()
    rows = rows_of(chart, "held_out")
    assert {row["n_rankings"] for row in rows} == {1, 2}
    assert f"How many rankings? {selection.n_rankings}" in chart.to_dict()["title"]["text"]


@pytest.mark.parametrize(
    ("ending", "begin"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("json", b"{"), ("html", b"<!DOCTYPE html>")]
)
def test_figures_are_saved_in_four_ways(ending, begin, mixed, tmp_path):
    save_figure(mixed.plot.weights(), tmp_path / f"figure.{ending}")
    content = (tmp_path / f"figure.{ending}").read_bytes()
    assert content.startswith(begin)
    if ending == "html":
        assert b"<script src=" not in content
        assert b"<link" not in content
    assert [path.name for path in tmp_path.iterdir()] == [f"figure.{ending}"]


def test_a_label_cannot_end_the_script_of_a_page(mixed, tmp_path):
    mixed.plot.rankings().save(tmp_path / "figure.html")
    text = (tmp_path / "figure.html").read_text()
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert text.count("</script>") == 2


def test_charts_are_shown_and_can_be_changed(mixed, tmp_path):
    chart = mixed.plot.weights()
    assert repr(chart) == f"<chart: {chart.to_dict()['description']}>"
    assert chart._repr_svg_().startswith("<svg")
    chart.to_dict()["title"]["text"] = "not mine"
    assert chart.to_dict()["title"]["text"] != "not mine"
    save_figure(altair.Chart.from_dict(chart.to_dict()).properties(width=100), tmp_path / "narrow.svg")
    assert (tmp_path / "narrow.svg").read_text().startswith("<svg")


def test_rows_that_several_layers_draw_are_kept_once(mixed):
    spec = mixed.plot.weights(mixed.users_[3]).to_dict()
    assert len(spec["datasets"]) == 1
    assert len(spec["layer"]) == 5
    assert {layer["data"]["name"] for layer in spec["layer"]} == set(spec["datasets"])


@pytest.mark.parametrize(("name", "error"), [("figure.gif", ParameterError), ("nowhere/figure.png", DataError)])
def test_figures_are_not_saved_where_they_cannot_be(name, error, mixed, tmp_path):
    with pytest.raises(error):
        save_figure(mixed.plot.weights(), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_nothing_is_drawn_before_a_fit():
    with pytest.raises(Exception, match="not fitted"):
        plurank.MixedRanking(2, mixing="probability").plot  # noqa: B018


def test_labels_that_are_cut_alike_stay_apart():
    names = names_of(["x" * 100, "x" * 101, 1, "1", ""])
    assert len(set(names)) == 5
    assert max(len(name) for name in names) < 40


@pytest.mark.parametrize("wanted", [[1, 1, 1], [1, 2, 9], [10, 10, 9, 1], [5]])
def test_labels_are_moved_apart_and_keep_their_order(wanted):
    found = spread_out(wanted, 1.5, 10)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(np.array(found)[order]) >= 1.5 - 1e-9).all()
    assert min(found) >= 1 - 1e-9
    assert max(found) <= 10 + 1e-9


@pytest.mark.parametrize(("low", "high"), [(1, 1), (1, 12), (1, 100), (0, 1_000_000), (37, 39)])
def test_ticks_are_whole_and_few(low, high):
    values = whole_axis(low, high)["values"]
    assert values[0] == low
    assert values == sorted(set(values))
    assert len(values) <= 16

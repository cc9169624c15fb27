"""The report: one HTML page that needs no network and no script."""

from datetime import date
from importlib.metadata import version
from importlib.resources import files
from os import PathLike
from typing import Any

import polars as pl
from jinja2 import Environment, StrictUndefined

from plurank.baselines.quality import check_model, held_out_quality
from plurank.data.diagnostics import Summary
from plurank.engine.blocks import as_source
from plurank.exceptions import ParameterError, PlurankError
from plurank.inference.posterior import LEVEL
from plurank.io import check_target, write_beside
from plurank.metrics.predictions import Quality
from plurank.models.base import RankingModel
from plurank.models.consensus import TOO_FEW
from plurank.models.sklearn_api import check_is_fitted
from plurank.report import sections, story
from plurank.report.camps import FEWEST, Camp, camps_of
from plurank.report.effects import find_effects, order_attributes
from plurank.report.figures.contested import draw_agreement, draw_contested
from plurank.report.figures.data import draw_comparisons
from plurank.report.figures.effects import draw_effects
from plurank.report.figures.evaluation import draw_calibration, draw_selection
from plurank.report.figures.people import draw_people
from plurank.report.figures.places import draw_rankings
from plurank.report.ground import (
    HOW,
    NO_UNCERTAINTY,
    ONE_RANKING,
    Ground,
    agreement_table,
    describe_ground,
    find_ground,
    ground_table,
    list_empty,
    list_ground,
)
from plurank.report.page_blocks import Figure, Table, figure
from plurank.report.texts import has_statements
from plurank.store.store import Store
from plurank.types import Progress, silent

TITLE = "What people prefer"
N_DRAWN = 6  # items of each list, or covariates, in a figure
NOT_MEASURED = (
    "How well the model predicts was not measured, because that takes the comparisons. Run: "
    "plurank report MODEL COMPARISONS -o report.html"
)


def write_report(
    model: RankingModel,
    path: str | PathLike[str],
    comparisons: Any = None,
    *,
    test: Any = None,
    title: str | None = None,
    with_people: bool = False,
    random_state: int = 0,
    on_progress: Progress = silent,
) -> None:
    """Write a report about a fitted model: one HTML page that loads nothing from elsewhere.

    Parameters
    ----------
    model : RankingModel
        A fitted model.
    path : str or path
        The file to write; it is complete or absent.
    comparisons : Comparisons, Store, data frame or None, default=None
        The comparisons that the model was fitted to. With these, the page shows data-quality problems, and the model
        and one ranking are fitted again to part of them and judged on the rest. A model fitted to ratings, votes or
        rankings has looked for problems and judged itself already.
    test : Comparisons, Store, data frame or None, default=None
        Test comparisons to judge both on instead; they are then fitted to all of ``comparisons``.
    title : str or None, default=None
        Title of the page; None is "What people prefer".
    with_people : bool, default=False
        Whether to name the users nearest to each ranking, and to state numbers of fewer than five users.
    random_state : int, default=0
        Seed of what is held out.
    on_progress : callable, default=silent
        Called with the name of a stage and the share of it that is done.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    DataError
        If the comparisons are not valid, or the file cannot be written there.
    ParameterError
        If ``model`` is not a model of plurank.
    MissingExtraError
        If what draws pages is not installed: ``pip install 'plurank[report]'``.

    Examples
    --------
    >>> import plurank, pathlib
    >>> votes = plurank.Comparisons.from_arrays([1, 2, 3], ["tea", "tea", "milk"], ["milk", "juice", "juice"])
    >>> plurank.write_report(plurank.SingleRanking().fit(votes), "report.html")
    >>> pathlib.Path("report.html").read_text().startswith("<!DOCTYPE html>")
    True
    """
    check_model(model)
    check_is_fitted(model)
    target = check_target(path)
    source = None if comparisons is None else as_source(comparisons)
    # a model of ratings was fitted to more than their comparisons, and has measured itself
    described = None if model.posterior is not None else source
    quality, reason = _measure(model, described, test, random_state, on_progress)
    data = model.data_ if described is None else described.summary()
    on_progress("drawing", 0.0)
    text = _render(model, source, data, quality, reason, title or TITLE, on_progress, with_people=with_people)
    with write_beside(target) as beside:
        beside.write_text(text, encoding="utf-8")
    on_progress("done", 1.0)


def _measure(
    model: RankingModel, source: Any, test: Any, random_state: int, on_progress: Progress
) -> tuple[Quality | None, str]:
    """Return how good the model is, or a sentence that says why nobody knows."""
    if source is None:
        return (Quality.from_dict(model.quality_), "") if model.quality_ else (None, NOT_MEASURED)
    try:
        found = held_out_quality(model, source, test=test, random_state=random_state, on_progress=on_progress)
    except PlurankError as error:
        return None, f"How well the model predicts could not be measured: {error}"
    return found, ""


def _render(
    model: RankingModel,
    source: Any,
    data: Summary | None,
    quality: Quality | None,
    reason: str,
    title: str,
    on_progress: Progress,
    *,
    with_people: bool,
) -> str:
    resources = files("plurank.report")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((resources / "page.html.jinja").read_text(encoding="utf-8"))
    camps = camps_of(model, with_people=with_people)
    ground = _find_ground(model)
    effects = find_effects(model)
    on_ground = "" if ground is None else describe_ground(model, ground)
    fewest = 1 if with_people else FEWEST
    summary = model.summary()
    return template.render(
        title=title,
        style=(resources / "page.css").read_text(encoding="utf-8"),
        story=story.tell_story(model, summary, data, quality, camps, on_ground, fewest=fewest),
        numbers=story.key_figures(summary, data, quality),
        health=sections.health(model, data),
        rankings=sections.rankings(model, camps, ground),
        who=sections.who(model, with_people=with_people) if len(model.rankings_) > 1 else None,
        agreement=on_ground or (ONE_RANKING if len(model.rankings_) == 1 else NO_UNCERTAINTY),
        lists=None if ground is None else list_ground(model, ground, fewest),
        committee=sections.committee(model, ground, camps),
        how=HOW,
        in_lists=has_statements(model),
        empty="" if ground is None else list_empty(ground),
        n_too_few=0 if ground is None else ground.n_labelled(TOO_FEW),
        judged=None if quality is None else sections.judged(model, quality),
        not_judged=reason,
        influence=story.influence_of(summary),
        selection=summary.get("selection"),
        by_covariate=sections.by_covariate(effects),
        figures=_draw(model, source, quality, camps, ground, effects, summary.get("selection"), fewest, on_progress),
        settings=sections.settings(summary),
        versions=sections.versions(),
        method=sections.name_method(summary),
        made=f"{date.today():%d %B %Y}",
        version=version("plurank"),
    )


def _find_ground(model: RankingModel) -> Ground | None:
    """Return what is common ground, or None where the model has one ranking or gives no uncertainty."""
    try:
        return find_ground(model)
    except ParameterError:
        return None


def _draw(
    model: RankingModel,
    source: Any,
    quality: Quality | None,
    camps: list[Camp],
    ground: Ground | None,
    effects: pl.DataFrame | None,
    selection: dict[str, Any] | None,
    fewest: int,
    on_progress: Progress,
) -> dict[str, Figure]:
    """Draw what this model has, each figure with the numbers in it."""
    places = sections.places_table(model)
    wanted: dict[str, tuple[Any, Table | None]] = {"rankings": (lambda: draw_rankings(model, None, ground), places)}
    if len(model.rankings_) > 1:
        wanted["people"] = (lambda: draw_people(model, fewest), sections.shares_table(camps))
    if effects is not None:
        named = order_attributes(effects)[:N_DRAWN]
        shown = pl.concat([effects.filter(pl.col("attribute") == name) for name in named])
        wanted["effects"] = (lambda: draw_effects(shown, LEVEL), sections.effects_table(effects))
    if ground is not None and any(ground.lists.values()):
        if ground.agreement is not None:
            shares = agreement_table(model, ground, fewest)
            wanted["agreement"] = (lambda: draw_agreement(model, N_DRAWN, ground, fewest), shares)
        known = ground_table(model, ground)
        wanted["contested"] = (lambda: draw_contested(model, N_DRAWN, ground), known)
    if quality is not None:
        bins = sections.bins_table(quality)
        wanted["calibration"] = (lambda: draw_calibration(quality.calibration), bins)
    if selection is not None and selection["candidates"]:
        wanted["selection"] = (lambda: draw_selection(selection), sections.selection_table(selection))
    if source is not None and not isinstance(source, Store):
        wanted["comparisons"] = (lambda: draw_comparisons(source, fewest), None)
    drawn = {}
    for number, (name, (draw, rows)) in enumerate(wanted.items()):
        on_progress("drawing", number / len(wanted))
        drawn[name] = figure(draw(), number, rows)
    return drawn

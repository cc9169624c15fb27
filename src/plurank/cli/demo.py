"""``plurank demo``: a tour in a few seconds, on simulated users."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import plurank
from plurank.cli import options
from plurank.cli.output import check_output, emit_json, out, progress, written
from plurank.cli.summaries import print_legend
from plurank.cli.tables import plain_table, ranking_tables, weight_bars
from plurank.exceptions import MissingExtraError, extra
from plurank.text import percent

if TYPE_CHECKING:
    from rich.console import Console

    from plurank import (
        Comparisons,
        MixedRanking,
        Simulation,
        TopicRanking,
    )
    from plurank.models.base import RankingModel
    from plurank.types import Progress

N_PEOPLE, N_CHOICES, CONCENTRATION = 400, 40, 1.0
FIRST_NAMES = (
    "Ada", "Bruno", "Chloe", "Daniel", "Elif", "Farid", "Grace", "Hugo", "Ines", "Jonas",
    "Kira", "Liam", "Mei", "Noah", "Olga", "Pablo", "Rosa", "Samir", "Tara", "Viktor",
)  # fmt: skip
# three camps of holidaymakers, each with its order of the same twelve things, best first
CAMPS = {
    "sea": (
        "beach nap", "sea swim", "sailing", "spa", "street food", "wine tasting",
        "concert", "old town", "camping", "mountain hike", "museum", "climbing",
    ),
    "mountains": (
        "mountain hike", "climbing", "camping", "sailing", "sea swim", "old town",
        "street food", "wine tasting", "spa", "museum", "beach nap", "concert",
    ),
    "city": (
        "museum", "old town", "concert", "street food", "wine tasting", "spa",
        "sea swim", "beach nap", "mountain hike", "sailing", "camping", "climbing",
    ),
}  # fmt: skip
CAMP_SIZES = (0.45, 0.3, 0.25)
N_SHOWN = 3  # people
PAGE, TITLE = "plurank-demo-report.html", "What simulated holidaymakers prefer"
NEXT = """Next, with your own file, one comparison per row (user, winner, loser):

  plurank show votes.csv                            summary and data-quality warnings
  plurank fit votes.csv -o model.plurank            choose the number of rankings, and fit them
  plurank show model.plurank --user ID              weights and top items of one user
  plurank report model.plurank votes.csv            HTML report
  plurank predict model.plurank pairs.csv           predict preferences

Ratings, votes or ballots instead of comparisons? plurank fit takes them as they are."""


class Story(NamedTuple):
    """The simulated users, the models fitted to most of their choices, and the choices held out."""

    made: "Simulation"
    train: "Comparisons"
    test: "Comparisons"
    model: "MixedRanking"
    paper: "TopicRanking"
    single: "MixedRanking"
    order: list[int]  # which ranking found is which camp's


def demo_command(seed: options.Seed = 0, as_json: options.JsonFlag = False) -> None:
    """Show what plurank does, on simulated users.

    Simulates 400 holidaymakers of three camps, each with 40 choices between two activities; fits the camps'
    rankings from the choices alone, and compares them with the truth. Writes a report with figures,
    plurank-demo-report.html, into the current folder. Takes a few seconds.

    \b
    Examples:
      plurank demo
      plurank demo --seed 7
    """
    page = check_output(Path(PAGE))
    with progress("simulating users", announce=True) as on_progress:
        story = _tell(seed, on_progress)
        reason = _write_page(story, page, seed, on_progress)
    if as_json:
        emit_json({**_describe(story), "report": None if reason else PAGE})
    else:
        _print_demo(story, reason)


def _write_page(story: Story, page: Path, seed: int, on_progress: "Progress") -> str:
    """Write the page; return the reason where a package it needs is not installed."""
    try:
        with extra("report", "the page"):
            from plurank.report.page import write_report
    except MissingExtraError as error:
        return str(error)
    write_report(
        story.model, page, story.train, test=story.test, title=TITLE, random_state=seed, on_progress=on_progress
    )
    written.append(page)
    return ""


def _tell(seed: int, on_progress: "Progress") -> Story:
    made = make_people(seed)
    train, test = made.comparisons.split(random_state=seed)
    model = plurank.MixedRanking(len(CAMPS), mixing="probability", random_state=seed)
    model.fit(train, on_progress=on_progress)
    paper = plurank.TopicRanking(len(CAMPS), random_state=seed).fit(train, on_progress=on_progress)
    single = plurank.MixedRanking(1, random_state=seed).fit(train, on_progress=on_progress)
    order = plurank.align(model.items_[model.rankings_], list(CAMPS.values())).tolist()
    return Story(made, train, test, model, paper, single, order)


def make_people(seed: int) -> "Simulation":
    """Simulate the people, and give them names."""
    import numpy as np

    items = sorted(CAMPS["sea"])
    rankings = [[items.index(item) for item in camp] for camp in CAMPS.values()]
    made = plurank.simulate(
        N_PEOPLE, comparisons_per_user=N_CHOICES, concentration=CONCENTRATION, random_state=seed,
        mean_weights=CAMP_SIZES, rankings=rankings, items=items,
    )  # fmt: skip
    names = [f"{FIRST_NAMES[n % len(FIRST_NAMES)]} {n // len(FIRST_NAMES) + 1}" for n in range(N_PEOPLE)]
    return replace(made, comparisons=replace(made.comparisons, users=np.array(names, dtype=object)))


def _describe(story: Story) -> dict[str, Any]:
    models = {"three_rankings": story.model, "paper": story.paper, "one_ranking": story.single}
    scores = {
        name: {"accuracy": model.accuracy(story.test), "log_likelihood": model.score(story.test)}
        for name, model in models.items()
    }
    return {
        **story.model.summary(items=True),
        "simulated": True,
        "n_comparisons": len(story.made.comparisons),
        "n_held_out": len(story.test),
        "truth": {camp: list(items) for camp, items in CAMPS.items()},
        "found": {camp: story.order[c] + 1 for c, camp in enumerate(CAMPS)},
        "ranking_error": _ranking_error(story.model),
        "paper_ranking_error": _ranking_error(story.paper),
        "held_out": scores,
    }


def _ranking_error(model: "RankingModel") -> float:
    return plurank.ranking_error(model.items_[model.rankings_], list(CAMPS.values()))


def _print_demo(story: Story, no_page: str) -> None:
    console = out()
    console.print(
        f"These people are simulated: {N_PEOPLE} holidaymakers, each asked {N_CHOICES} times which "
        "of two things they would rather do. They come from three camps (sea, mountains, city), and most are "
        "a bit of each. plurank saw four fifths of the choices, and nothing about camps.\n"
    )
    _print_rankings(console, story)
    _print_people(console, story)
    _print_choices(console, story)
    _print_scores(console, story)
    page = f"{PAGE} in this folder. Open it in a browser."
    console.print(f"All of this as a page with figures: {no_page or page}\n", soft_wrap=bool(no_page))
    console.print(NEXT)


def _print_rankings(console: "Console", story: Story) -> None:
    console.print("The rankings it found, and how much people follow each:", style="bold")
    described = story.model.summary(items=True)
    shown = [described["rankings"][k] for k in story.order]
    console.print(ranking_tables(console, shown, described["n_items"], list(CAMPS)))
    print_legend(console, described, described["n_items"])
    error, paper = _ranking_error(story.model), _ranking_error(story.paper)
    verdict = "All pairs stand in the true order" if error < 1e-9 else f"{error:.1%} of pairs stand the wrong way round"
    sizes = ", ".join(f"{camp} {percent(size)}" for camp, size in zip(CAMPS, CAMP_SIZES, strict=True))
    console.print(
        f"{verdict} (ranking error {error:.3f}; with the paper's method {paper:.3f}). The true shares: {sizes}.\n"
    )


def _print_people(console: "Console", story: Story) -> None:
    console.print("How much some of them follow each ranking:", style="bold")
    for user in range(N_SHOWN):
        console.print(str(story.made.comparisons.users[user]))
        weights, truth = story.model.user_weights_[user, story.order], story.made.user_weights[user]
        remarks = [f"(truth {percent(share)})" for share in truth]
        console.print(weight_bars(weights.tolist(), remarks, list(CAMPS)))
    console.print()


def _print_choices(console: "Console", story: Story) -> None:
    """Show the first held-out choice of each of some people."""
    import polars as pl

    chosen = story.test.to_frame().unique("user", keep="first", maintain_order=True).head(2 * N_SHOWN)
    rows = [(user, *sorted((winner, loser)), winner) for user, winner, loser in chosen.rows()]
    asked = pl.DataFrame(rows, schema=["user", "left", "right", "chosen"], orient="row")
    table = plain_table("Held-out choice")
    for name in ("between", "predicted", "chose"):
        table.add_column(name)
    for (user, left, right, winner), p in zip(rows, story.model.predict_proba(asked), strict=True):
        guess = f"{left} {percent(p)}" if p >= 0.5 else f"{right} {percent(1 - p)}"
        table.add_row(user, f"{left}, {right}", guess, winner)
    console.print(table)


def _print_scores(console: "Console", story: Story) -> None:
    table = plain_table("Predicting the held-out fifth", "accuracy", "log-likelihood")
    models: dict[str, RankingModel] = {
        "three rankings": story.model,
        "three, by the paper's method": story.paper,
        "one ranking for everybody": story.single,
    }
    for name, model in models.items():
        table.add_row(name, percent(model.accuracy(story.test)), f"{model.score(story.test):.3f}")
    table.add_row("guessing", percent(plurank.accuracy([0.5])), f"{plurank.log_likelihood([0.5]):.3f}")
    console.print(table)
    console.print("These people choose just as the paper's model says, which suits its method.\n", style="dim")

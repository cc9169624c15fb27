"""Summaries of fitted models and their users: plain values, printed as JSON or as tables.

All models have rankings and weights. What a class of models adds is its entry in EXTENSIONS.
"""

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console, RenderableType

from plurank.cli.consensus import (
    camp_remarks,
    describe_common_ground,
    flag_handfuls,
    print_common_ground,
)
from plurank.cli.tables import (
    divided_tables,
    facts,
    favourites_table,
    left_out,
    novel_pairs_table,
    ranking_tables,
    weight_bars,
)
from plurank.data.exclusions import Exclusion
from plurank.exceptions import DataError
from plurank.text import count, label, percent, shorten

if TYPE_CHECKING:
    from plurank import MixedRanking, TopicRanking
    from plurank.models.base import RankingModel

Facts = list[tuple[str, str]]
N_DIVIDED = 5
SEPARATION = {
    "whitened": "Pairs were separated in a whitened embedding of the comparisons.",
    "entries": "Pairs were separated by single entries of E, as in the paper.",
    "rows": (
        "The diagonal of E is incomplete (some pairs were never compared twice by one user), so distances between "
        "whole rows of E were used instead of single entries."
    ),
}
SCORES = "a score per item; the higher one is more likely to win (bradley-terry)"
MIXINGS = {
    "probability": "each comparison follows one of the user's rankings (probability)",
    "utility": "each comparison follows the weighted average of the rankings' scores (utility)",
}
RATED = "derived from ratings or rankings: a user's n items count as about {rating_weight}n - 1{close} observations"


class Extension(NamedTuple):
    """What one class of models adds to the summary that all have in common."""

    values: Callable[[Any], dict[str, Any]]  # of a model
    ranking_values: Callable[[Any, int], dict[str, Any]]  # of one of its rankings, counted from 0
    user_values: Callable[[Any, str], dict[str, Any]]  # of one of its users
    facts: Callable[[dict[str, Any]], Facts]  # about the values, for people
    table: Callable[[list[dict[str, Any]]], RenderableType] | None = None  # of the rankings' values


def describe_model(model: "RankingModel") -> dict[str, Any]:
    """Return the summary of a model in plain Python values; rankings are counted from 1."""
    from plurank.metrics.rankings import most_divided_items
    from plurank.models.fields import plain
    from plurank.report.descriptions import describe_mixing

    extension = EXTENSIONS.get(type(model).__name__, PLAIN)
    common_ground, influence = describe_common_ground(model), getattr(model, "influence", None)
    # where uncertainty is known, places alone are not reported
    divided = most_divided_items(model.rankings_, 0 if common_ground is not None else N_DIVIDED)
    texts = model.item_texts_ or [str(item) for item in model.items_.tolist()]
    return {
        "model": type(model).__name__,
        "settings": {name: plain(value) for name, value in model.get_params().items()},
        "n_users": len(model.users_),
        "n_items": len(model.items_),
        "excluded": (model.data_ or {}).get("excluded", []),
        "concentration": float(model.concentration_),
        "mixing_in_words": describe_mixing(model),
        "camps": model.camps().to_dicts(),
        "common_ground": common_ground,
        "influence": None if influence is None else {**influence.to_dict(), "sentence": influence.sentence},
        **extension.values(model),
        "n_iter": int(model.n_iter_),
        "converged": bool(model.converged_),
        "rankings": [
            {
                "ranking": k + 1,
                "mean_weight": float(model.mean_weights_[k]),
                "items": model.items_[order].tolist(),
                "texts": [texts[code] for code in order],
                **extension.ranking_values(model, k),
            }
            for k, order in enumerate(model.rankings_)
        ],
        "most_divided": [
            {"item": plain(model.items_[code]), "text": texts[code], "places": places}
            for code, places in zip(divided.items, divided.places.tolist(), strict=True)
        ],
    }


def describe_user(model: "RankingModel", user: str, top: int) -> dict[str, Any]:
    """Return one user's weights and top items in plain Python values."""
    from plurank.data.encoding import look_up

    code = int(look_up([user], model.users_, "user")[0])
    if code < 0:
        some = ", ".join(shorten(repr(known), 60) for known in model.users_[:3].tolist())
        raise DataError(f"unknown user {user!r:.60}. The model has {count(len(model.users_), 'user')}, such as {some}.")
    items = model.rank(user).head(top).to_dicts()
    texts = _texts_of(model, [row["item"] for row in items])
    return {
        "user": user,
        "n_items": len(model.items_),
        "weights": model.user_weights_[code].tolist(),
        **EXTENSIONS.get(type(model).__name__, PLAIN).user_values(model, user),
        "items": [{**row, "text": text} for row, text in zip(items, texts, strict=True)],
    }


def print_model(console: Console, described: dict[str, Any], top: int) -> None:
    """Print the summary of a model: rankings, differences, weights, and how it was fitted."""
    rankings, extension = described["rankings"], EXTENSIONS.get(described["model"], PLAIN)
    console.print(ranking_tables(console, rankings, top))
    print_legend(console, described, top)
    if described["most_divided"]:
        console.print("\nWhere these orders differ most, the places of:", style="bold")
        console.print("This kind of model has no uncertainty of places.", style="dim")
        console.print(divided_tables(console, described["most_divided"]))
    if len(rankings) > 1 and all(ranking["items"] == rankings[0]["items"] for ranking in rankings):
        console.print("\nAll rankings have the same order: one may be enough.", style="yellow")
    if described["common_ground"] is not None:
        console.print()
        print_common_ground(console, described["common_ground"], len(rankings))
    if len(rankings) > 1:
        console.print("\nHow much people follow each, on average, and how many follow it most:", style="bold")
        console.print(weight_bars([ranking["mean_weight"] for ranking in rankings], camp_remarks(described["camps"])))
    for warning in flag_handfuls(described["camps"]) if len(rankings) > 1 else []:
        console.print(f"! {warning}", style="yellow")
    if described["influence"] is not None and described["influence"]["flagged"]:
        console.print(f"! {described['influence']['sentence']}", style="yellow")
    console.print(f"{described['mixing_in_words']}\n")
    if extension.table is not None:
        console.print(extension.table(rankings))
    console.print(facts([*_common_facts(described), *extension.facts(described), *_settings(described)]))


def print_legend(console: Console, described: dict[str, Any], top: int) -> None:
    """Print what the numbers in the table of rankings mean."""
    legend = []
    if described["n_items"] > top:
        legend.append(f"The best {top:,} of {described['n_items']:,} items each.")
    if any(map(_has_intervals, described["rankings"], repeat(top))):
        sure = percent(described["interval_level"])
        legend.append(f"Next to an item: its {sure} interval of places.")
    if legend:
        console.print(" ".join(legend), style="dim")


def _has_intervals(ranking: dict[str, Any], top: int) -> bool:
    return ranking.get("lower", [])[:top] != ranking.get("upper", [])[:top]


def print_user(console: Console, described: dict[str, Any]) -> None:
    """Print the summary of a user."""
    console.print(f"{label(described['user'])} follows")
    remarks = [f"{percent(low)} to {percent(high)}" for low, high in described.get("weight_intervals", [])]
    console.print(weight_bars(described["weights"], remarks or None))
    console.print(f"\nand likes best, of {count(described['n_items'], 'item')}:")
    console.print(favourites_table(described["items"]))
    if "interval_level" in described:
        sure = percent(described["interval_level"])
        console.print(f"Intervals of weights and places have {sure} probability.", style="dim")


def _common_facts(described: dict[str, Any]) -> Facts:
    rows = [("data", f"{count(described['n_users'], 'user')}, {count(described['n_items'], 'item')}")]
    rows += left_out(Exclusion(**entry) for entry in described["excluded"])
    return rows if len(described["rankings"]) == 1 else [*rows, ("concentration", f"{described['concentration']:.3g}")]


def _settings(described: dict[str, Any]) -> Facts:
    given = (f"{name} {value}" for name, value in described["settings"].items() if value is not None)
    return [("settings", ", ".join(given))]


def _flips(described: dict[str, Any]) -> Facts:
    share = 100 * described["flip_probability"]
    return [("flip probability", f"{share:.2g}% of comparisons contradict the user's rankings")]


def _topic_values(model: "TopicRanking") -> dict[str, Any]:
    return {"flip_probability": float(model.flip_probability_), "separation_statistic": model.separation_statistic_}


def _topic_ranking(model: "TopicRanking", k: int) -> dict[str, Any]:
    pair = model.novel_pairs_[k]
    return {
        "novel_pair": None if pair is None else list(pair),
        "novel_pair_texts": None if pair is None else _texts_of(model, pair),
        "solid_angle": float(model.solid_angles_[k]),
        "intransitive_triples": int(model.intransitive_triples_[k]),
    }


def _texts_of(model: "RankingModel", items: Sequence[Any]) -> list[str]:
    """Return what to show for some items of a model."""
    from plurank.data.encoding import look_up

    return [model.item_text(int(code)) for code in look_up(list(items), model.items_, "item")]


def _topic_facts(described: dict[str, Any]) -> Facts:
    detection = f"{described['settings']['detection']}. {SEPARATION[described['separation_statistic']]}"
    rows = [*_flips(described), ("detection", detection)]
    if not described["converged"]:
        rows.append(("polishing", f"not converged after {described['n_iter']} iterations"))
    return rows


def _mixed_values(model: "MixedRanking") -> dict[str, Any]:
    from plurank.inference.posterior import LEVEL

    return {
        "score_scale": float(model.score_scale_),
        "rated": bool(model.from_ratings_),
        "rating_weight": float(model.rating_weight_),
        **{name: float(value) for name, value in _own_number(model, ()).items()},
        "interval_level": LEVEL,
    }


def _mixed_ranking(model: "MixedRanking", k: int) -> dict[str, Any]:
    leaderboard = model.leaderboard(k + 1)
    own = {name: float(value[k]) for name, value in _own_number(model, ("K",)).items()}
    return {**leaderboard.select("score", "lower", "upper").to_dict(as_series=False), **own}


def _own_number(model: "MixedRanking", shape: tuple[str, ...]) -> dict[str, Any]:
    """Return the parameter of orders, if it has this shape: one number for all, or one per ranking."""
    from plurank.mixed.mallows import ORDERS

    kind = ORDERS.get(model.component)
    return {kind.attribute[:-1]: getattr(model, kind.attribute)} if kind and kind.shape == shape else {}


def _mixed_user(model: "MixedRanking", user: str) -> dict[str, Any]:
    from plurank.inference.posterior import LEVEL

    intervals = [list(row) for row in model.weight_intervals(user).select("lower", "upper").rows()]
    return {"weight_intervals": intervals, "interval_level": LEVEL}


def _mixed_facts(described: dict[str, Any]) -> Facts:
    from plurank.mixed.mallows import ORDERS

    settings = described["settings"]
    kind = ORDERS.get(settings["component"])
    rows = [("a ranking is", SCORES if kind is None else kind.about), ("mixing", MIXINGS[settings["mixing"]])]
    if "flip_probability" in described:
        rows += _flips(described)
    if described["rated"]:
        rating_weight = described["rating_weight"]
        times = (
            {"rating_weight": "", "close": ""}
            if rating_weight == 1
            else {"rating_weight": f"{rating_weight:g} (", "close": ")"}
        )
        rows.append(("comparisons", RATED.format(**times)))
    if settings["ensemble"] > 1:
        rows.append(("predictions", f"averages of {settings['ensemble']} fits"))
    if not described["converged"]:
        rows.append(("fit", f"not converged after {count(described['n_iter'], 'iteration')}"))
    return rows


PLAIN = Extension(lambda _: {}, lambda _, __: {}, lambda _, __: {}, lambda _: [])
EXTENSIONS = {
    "TopicRanking": Extension(_topic_values, _topic_ranking, lambda _, __: {}, _topic_facts, novel_pairs_table),
    "MixedRanking": Extension(_mixed_values, _mixed_ranking, _mixed_user, _mixed_facts),
}

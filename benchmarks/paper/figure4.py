"""Figure 4: how likely held-out comparisons are, for every way to make comparisons from ratings.

MovieLens-1M, the 100 most rated movies, K = 10. Upper: new comparisons of known users, training and probe ratings of
the BPMF authors' split made into comparisons separately; predictive log-likelihood. Lower: new users, the first 4,000
users train and all comparisons of the others are tested; left to right, as in the paper. Both per comparison.

    python -m benchmarks.paper.figure4 --data FOLDER [--only NAME ...] [--draw]

Both (ties are a comparison each way) and Random (ties are tossed) put comparisons into the test that nobody can
predict, so that all methods do worse there. Column apart: the mean distance between the rankings that were found.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl

import plurank
from benchmarks.common import RESULTS, parse_to_draw, parser_of, write_results
from benchmarks.movielens import read_ratings
from benchmarks.paper.figures import colours, save_figure, shapes
from plurank.baselines.fjs import FJS
from plurank.baselines.single_ranking import SingleRanking
from plurank.metrics.rankings import kendall_distances
from plurank.models.base import RankingModel

K = 10
FIRST_USERS = 4000
LIKELIHOOD = "RP, prior by likelihood"
METHODS: dict[str, Callable[[int], RankingModel]] = {
    "RP (the paper)": lambda k: plurank.TopicRanking(k, "printed", random_state=0),
    LIKELIHOOD: lambda k: plurank.TopicRanking(k, "printed", prior="likelihood", random_state=0),
    "FJS": lambda k: FJS(k),
    "one ranking": lambda _: SingleRanking(),
    "whitened": lambda k: plurank.TopicRanking(k, random_state=0),
    "MixedRanking": lambda k: plurank.MixedRanking(k, random_state=0),
    "MixedRanking, utility": lambda k: plurank.MixedRanking(k, mixing="utility", random_state=0),
}
SETTINGS = [(pairs, ties) for pairs in ("full", "partial") for ties in ("both", "ignore", "random")]


def tasks(folder: Path) -> Iterator[tuple[str, str, plurank.Comparisons, plurank.Comparisons]]:
    """Give task, setting, training and test comparisons."""
    ratings, probe = read_ratings(folder)
    train = ratings["top 100"]
    everything = pl.concat([train, probe])
    sides = {
        "new comparisons": (train, probe),
        "new users": (
            everything.filter(pl.col("user") <= FIRST_USERS),
            everything.filter(pl.col("user") > FIRST_USERS),
        ),
    }
    for task, frames in sides.items():
        for pairs, ties in SETTINGS:
            made = [plurank.Comparisons.from_ratings(f, pairs, ties, random_state=0) for f in frames]
            yield task, f"{pairs}, {ties}", *made


def fit(name: str, k: int, train: plurank.Comparisons) -> RankingModel:
    """Fit K rankings; FJS, which finds no more of them than pooled shares tell apart, as many as it finds."""
    try:
        return METHODS[name](k).fit(train)
    except plurank.NotIdentifiableError:
        if name != "FJS" or k == 1:
            raise
        return fit(name, k - 1, train)


def measure(
    task: str, setting: str, name: str, train: plurank.Comparisons, test: plurank.Comparisons
) -> dict[str, object]:
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plurank.ConvergenceWarning)
        model = fit(name, K, train)
    fitted = time.perf_counter()
    new = task == "new users"
    score = model.score(test, method="left-to-right", random_state=0) if new else model.score(test)
    row = {
        "key": f"{task}, {setting}, {name}", "task": task, "setting": setting, "method": name,
        "n_rankings": len(model.rankings_), "apart": round(apart(model), 4), "n_train": len(train),
        "n_test": len(test), "log_likelihood": round(score, 5), "fit_seconds": round(fitted - begin, 1),
        "score_seconds": round(time.perf_counter() - fitted, 1), "seed": 0,
    }  # fmt: skip
    print(row, flush=True)
    return row


def apart(model: RankingModel) -> float:
    """Mean distance between the rankings found: 0 where all are the same, 0.5 where they have nothing in common."""
    distances = kendall_distances(model.rankings_, model.rankings_)
    return float(distances[np.triu_indices(len(distances), 1)].mean()) if len(distances) > 1 else 0.0


def draw() -> None:
    table = pl.read_csv(RESULTS / "paper/figure4.csv")
    base = alt.Chart(table).encode(
        x=alt.X(
            "setting:N", title=None, sort=[f"{pairs}, {ties}" for pairs, ties in SETTINGS], axis=alt.Axis(labelAngle=0)
        ),
        y=alt.Y("log_likelihood:Q", title="log-likelihood per comparison", scale=alt.Scale(zero=False)),
        color=colours("method", list(METHODS)),
        shape=shapes("method", list(METHODS)),
    )
    halves = [
        base.mark_point(filled=True, size=90).transform_filter(alt.datum.task == task).properties(
            width=620, height=230, title=task.capitalize()
        )
        for task in ("new comparisons", "new users")
    ]  # fmt: skip
    save_figure(alt.vconcat(*halves), "figure4")


def check_order() -> None:
    """Say where FJS is above RP, or RP above MixedRanking."""
    scores = {row["key"]: row["log_likelihood"] for row in pl.read_csv(RESULTS / "paper/figure4.csv").to_dicts()}
    for key, value in scores.items():
        where, name = key.rsplit(", ", 1) if not key.endswith(", utility") else key.split(", MixedRanking")
        if name == "FJS" and scores.get(f"{where}, RP (the paper)", value) < value:
            print(f"{where}: FJS {value} is above RP {scores[f'{where}, RP (the paper)']}")
        if name == "RP (the paper)" and scores.get(f"{where}, MixedRanking", 0.0) < value:
            print(f"{where}: RP {value} is above MixedRanking {scores[f'{where}, MixedRanking']}")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS))
    given = parse_to_draw(parser)
    if not given.draw:
        for task, setting, train, test in tasks(given.data):
            rows = [measure(task, setting, name, train, test) for name in given.only]
            write_results("paper/figure4", rows, replacing="key")
    check_order()
    draw()


if __name__ == "__main__":
    main()

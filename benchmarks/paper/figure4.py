"""Figure 4: how likely held-out comparisons are, for every way to make comparisons from ratings.

MovieLens-1M, the 100 most rated movies, K = 10. Upper: new comparisons of known users, training and probe ratings of
the BPMF authors' split made into comparisons separately; predictive log-likelihood. Lower: new users, the first 4,000
users train and all comparisons of the others are tested; left to right, as in the paper. Both per comparison.

    python -m benchmarks.paper.figure4 --data FOLDER [--runs 1] [--only NAME ...] [--draw]

Runs differ in the seed of the method (for RP: its directions), not in the comparisons. Points are means over the runs,
bars one standard error each way. What is in the results already is not measured again; remove its rows for that.
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
LIKELIHOOD = "RP as printed, prior by likelihood"
RATED = "MixedRanking, ratings"  # fitted to the ratings that comparisons are made from
METHODS: dict[str, Callable[[int, int], RankingModel]] = {
    "RP": lambda k, seed: plurank.TopicRanking(k, "projections", random_state=seed),
    "RP as printed": lambda k, seed: plurank.TopicRanking(k, "printed", random_state=seed),
    LIKELIHOOD: lambda k, seed: plurank.TopicRanking(k, "printed", prior="likelihood", random_state=seed),
    "FJS": lambda k, _: FJS(k),
    "one ranking": lambda *_: SingleRanking(),
    "whitened": lambda k, seed: plurank.TopicRanking(k, random_state=seed),
    "MixedRanking": lambda k, seed: plurank.MixedRanking(k, mixing="probability", random_state=seed),
    "MixedRanking, utility": lambda k, seed: plurank.MixedRanking(k, mixing="utility", random_state=seed),
    RATED: lambda k, seed: plurank.MixedRanking(k, random_state=seed),
}
DRAWN = [name for name in METHODS if name != LIKELIHOOD]
ABOVE_FJS = ("full, ignore", "partial, ignore")  # settings in which RP has to be, for new users
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


def fit(name: str, k: int, train: plurank.Comparisons, seed: int) -> RankingModel:
    """Fit K rankings; FJS, which finds no more of them than pooled shares tell apart, as many as it finds."""
    if name == RATED:
        return fit_ratings(k, plurank.Ratings.from_table(train.ratings), seed)
    try:
        return METHODS[name](k, seed).fit(train)
    except plurank.NotIdentifiableError:
        if name != "FJS" or k == 1:
            raise
        return fit(name, k - 1, train, seed)


_rated: dict[tuple[int, int, int], RankingModel] = {}


def fit_ratings(k: int, ratings: plurank.Ratings, seed: int) -> RankingModel:
    """Fit K rankings to ratings, once for all ways to make comparisons from them."""
    key = k, len(ratings), seed
    if key not in _rated:
        _rated.clear()
        _rated[key] = METHODS[RATED](k, seed).fit(ratings)
    return _rated[key]


def key_of(task: str, setting: str, name: str, seed: int) -> str:
    return f"{task}, {setting}, {name}, {seed}"


def measure(
    task: str, setting: str, name: str, seed: int, train: plurank.Comparisons, test: plurank.Comparisons
) -> dict[str, object]:
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plurank.ConvergenceWarning)
        model = fit(name, K, train, seed)
    fitted = time.perf_counter()
    new = task == "new users"
    score = model.score(test, method="left-to-right", random_state=0) if new else model.score(test)
    row = {
        "key": key_of(task, setting, name, seed), "task": task, "setting": setting, "method": name,
        "n_rankings": len(model.rankings_), "apart": round(apart(model), 4), "n_train": len(train),
        "n_test": len(test), "log_likelihood": round(score, 5), "fit_seconds": round(fitted - begin, 1),
        "score_seconds": round(time.perf_counter() - fitted, 1), "seed": seed,
    }  # fmt: skip
    print(row, flush=True)
    return row


def apart(model: RankingModel) -> float:
    """Mean distance between the rankings found: 0 where all are the same, 0.5 where they have nothing in common."""
    distances = kendall_distances(model.rankings_, model.rankings_)
    return float(distances[np.triu_indices(len(distances), 1)].mean()) if len(distances) > 1 else 0.0


def summarise() -> pl.DataFrame:
    """Mean and standard error of the log-likelihood over the runs, for every task, setting and method."""
    score = pl.col("log_likelihood")
    error = (score.std() / pl.len().sqrt()).fill_null(0.0)
    table = pl.read_csv(RESULTS / "paper/figure4.csv").group_by("task", "setting", "method", maintain_order=True)
    return table.agg(score.mean(), low=score.mean() - error, high=score.mean() + error, error=error, runs=pl.len())


def draw() -> None:
    base = alt.Chart(summarise().filter(pl.col("method").is_in(DRAWN))).encode(
        x=alt.X(
            "setting:N", title=None, sort=[f"{pairs}, {ties}" for pairs, ties in SETTINGS], axis=alt.Axis(labelAngle=0)
        ),
        color=colours("method", DRAWN),
    )
    y = alt.Y("log_likelihood:Q", title="log-likelihood per comparison", scale=alt.Scale(zero=False))
    bars = base.mark_rule(strokeWidth=2, opacity=0.6).encode(y=alt.Y("low:Q"), y2="high:Q")
    points = base.mark_point(filled=True, size=90).encode(y=y, shape=shapes("method", DRAWN))
    halves = [
        alt.layer(bars, points).transform_filter(alt.datum.task == task).properties(
            width=620, height=230, title=task.capitalize()
        )
        for task in ("new comparisons", "new users")
    ]  # fmt: skip
    save_figure(alt.vconcat(*halves), "figure4")


def check_order() -> None:
    """Print where FJS is above RP, or RP above MixedRanking; fail where RP is below FJS and must not be."""
    means = {(row["task"], row["setting"], row["method"]): row["log_likelihood"] for row in summarise().to_dicts()}
    failed = []
    for (task, setting, name), value in means.items():
        rp = means.get((task, setting, "RP"), np.nan)
        if name == "FJS" and rp < value:
            print(f"{task}, {setting}: FJS {value:.4f} is above RP {rp:.4f}")
            failed += [setting] if task == "new users" and setting in ABOVE_FJS else []
        if name == "MixedRanking" and rp > value:
            print(f"{task}, {setting}: RP {rp:.4f} is above MixedRanking {value:.4f}")
    if failed:
        raise SystemExit(f"new users, {' and '.join(failed)}: expected RP above FJS")


def known_keys() -> set[str]:
    path = RESULTS / "paper/figure4.csv"
    return set(pl.read_csv(path)["key"]) if path.exists() else set()


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS))
    given = parse_to_draw(parser)
    if not given.draw:
        known = known_keys()
        for task, setting, train, test in tasks(given.data):
            wanted = [(name, seed) for name in given.only for seed in range(given.runs)]
            missing = [each for each in wanted if key_of(task, setting, *each) not in known]
            if missing:
                rows = [measure(task, setting, name, seed, train, test) for name, seed in missing]
                write_results("paper/figure4", rows, replacing="key")
    draw()
    check_order()


if __name__ == "__main__":
    main()

"""Table 2: root mean square error of predicted stars, MovieLens-1M in the split of the BPMF authors.

Predicted are the probe ratings of the 100 most rated movies. PMF and BPMF learn from the stars themselves; RP (the
paper's method) and MixedRanking learn rankings from comparisons alone, and from the stars only how each person uses
them. The paper's own figures stand beside ours. Nothing is tuned on the probe: PMF's regularisation is chosen on a
tenth of the training ratings.

    python -m benchmarks.paper.table2 --data FOLDER [--only NAME ...] [--rankings 10 15 20] [--runs 1] [--draw]
    python -m benchmarks.paper.table2 --data FOLDER --only "rule on BPMF"

Runs differ in the seed of the method; the figure has their mean, with bars of one standard error each way. "rule on
BPMF" applies the paper's rule for stars to the preferences of BPMF's posterior mean: what the rule makes of a model
that is as good as stars allow.

FOLDER has train.csv.gz and probe.csv.gz with columns user, item, rating. PMF and BPMF need `pip install '.[bench]'`.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

import plurank
from benchmarks.common import RESULTS, parse_to_draw, parser_of, write_results
from benchmarks.movielens import compare, read_ratings
from benchmarks.paper.figures import measured_curves, save_figure
from plurank.baselines.single_ranking import SingleRanking
from plurank.models.base import RankingModel

Floats = NDArray[np.float64]
Predictions = Iterator[tuple[str, Floats]]
PAPER = {
    "PMF": {10: 1.0491, 15: 0.9127, 20: 0.9250},
    "BPMF": {10: 0.8254, 15: 0.8236, 20: 0.8213},
    "RP, most likely star": {10: 0.8840, 15: 0.8780, 20: 0.8721},
    "BPMF-int": {10: 0.8723, 15: 0.8734, 20: 0.8678},
}
BOUNDS = {  # K = 10
    ("MixedRanking", "top 100"): 0.838,
    ("MixedRanking", "all movies"): 0.815,
    ("MixedRanking, integers", "all movies"): 0.864,
}
DRAWN = ["PMF", "BPMF", "RP", "MixedRanking", "BPMF, the paper's"]
MEMBERS = 4
BURN_IN, SAMPLES = 200, 800
NOISES = (0.25, 0.5, 1.0, 2.0)  # of a difference of stars; BPMF's own is sqrt(2 / precision) = 1
REGULARISATION = (0.001, 0.01, 0.1)


def pmf(train: pl.DataFrame, probe: pl.DataFrame, k: int, *_: object) -> Predictions:
    from benchmarks.paper.stars import predict_pmf

    yield "PMF", predict_pmf(train, probe, k, REGULARISATION)


def bpmf(train: pl.DataFrame, probe: pl.DataFrame, k: int, *_: object) -> Predictions:
    from benchmarks.paper.stars import predict_bpmf

    stars = predict_bpmf(train, probe, k, BURN_IN, SAMPLES)
    yield "BPMF", stars
    yield "BPMF-int", np.clip(np.round(stars), 1.0, 5.0)


def rule_on_bpmf(train: pl.DataFrame, probe: pl.DataFrame, k: int, *_: object) -> Predictions:
    """Predict by the paper's rule from what BPMF's posterior mean prefers; its own noise of a difference is 1."""
    from benchmarks.paper.stars import most_likely_stars, predict_bpmf

    expected = predict_bpmf(train, pl.concat([train, probe]), k, BURN_IN, SAMPLES)
    own = expected[len(train) :]
    yield "BPMF, the same run", own
    yield "BPMF-int, the same run", np.clip(np.round(own), 1.0, 5.0)
    for noise in NOISES:
        yield f"BPMF, most likely star, noise {noise}", most_likely_stars(train, probe, expected, noise)


def rp(train: pl.DataFrame, probe: pl.DataFrame, k: int, trained_on: str, seed: int) -> Predictions:
    """Predict by the paper's model with the paper's rule, and with ours."""
    yield from by_both_rules("RP", "projections", train, probe, k, trained_on, seed)


def printed(train: pl.DataFrame, probe: pl.DataFrame, k: int, trained_on: str, seed: int) -> Predictions:
    yield from by_both_rules("RP as printed", "printed", train, probe, k, trained_on, seed)


def by_both_rules(
    name: str, detection: Any, train: pl.DataFrame, probe: pl.DataFrame, k: int, trained_on: str, seed: int
) -> Predictions:
    model = plurank.TopicRanking(k, detection, random_state=seed).fit(compare(trained_on, train))
    for ties in ("ignore", "both", "random"):
        rule = f"{name}, most likely star" + ("" if ties == "ignore" else f", ties {ties}")
        yield rule, plurank.RatingPredictor(model, "most-likely", ties=ties).fit(train).predict(probe)
    yield from calibrated(name, model, train, probe)


def one_ranking(train: pl.DataFrame, probe: pl.DataFrame, _: int, trained_on: str, *__: object) -> Predictions:
    """Predict by one ranking for all, and by no ranking at all: what the others have to be better than."""
    yield "always 4 stars", np.full(len(probe), 4.0)
    model = SingleRanking().fit(compare(trained_on, train))
    yield "one ranking, most likely star", plurank.RatingPredictor(model, "most-likely").fit(train).predict(probe)
    yield from calibrated("one ranking", model, train, probe)


def mixed(train: pl.DataFrame, probe: pl.DataFrame, k: int, trained_on: str, seed: int) -> Predictions:
    model = plurank.MixedRanking(k, mixing="utility", ensemble=MEMBERS, random_state=seed)
    model.fit(compare(trained_on, train))
    yield "MixedRanking, most likely star", plurank.RatingPredictor(model, "most-likely").fit(train).predict(probe)
    yield from calibrated("MixedRanking", model, train, probe)


def calibrated(name: str, model: RankingModel, train: pl.DataFrame, probe: pl.DataFrame) -> Predictions:
    predictor = plurank.RatingPredictor(model).fit(train)
    yield name, predictor.predict(probe)
    yield f"{name}, integers", predictor.set_params(integers=True).predict(probe)


METHODS: dict[str, tuple[Callable[..., Predictions], tuple[str, ...]]] = {
    "PMF": (pmf, ("top 100", "all movies")),
    "BPMF": (bpmf, ("top 100", "all movies")),
    "rule on BPMF": (rule_on_bpmf, ("top 100",)),
    "one ranking": (one_ranking, ("top 100",)),
    "RP": (rp, ("top 100", "all movies")),
    "RP as printed": (printed, ("top 100", "all movies")),
    "MixedRanking": (mixed, ("top 100", "all movies")),
}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--trained-on", nargs="+", choices=("top 100", "all movies"), default=["top 100", "all movies"])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--rankings", nargs="+", type=int, default=[10, 15, 20])
    given = parse_to_draw(parser)
    if not given.draw:
        measure(given)
    draw()


def measure(given: argparse.Namespace) -> None:
    trains, probe = read_ratings(given.data)
    truth = probe["rating"].to_numpy().astype(float)
    for name in given.only:
        run, where = METHODS[name]
        for k in [1] if name == "one ranking" else given.rankings:
            for trained_on in [place for place in where if place in given.trained_on]:
                for seed in range(given.runs):
                    begin, rows = time.perf_counter(), []
                    for method, stars in run(trains[trained_on], probe, k, trained_on, seed):
                        error = float(np.sqrt(np.mean((stars - truth) ** 2)))
                        rows.append(
                            {
                                "row": f"{method}, {trained_on}, K={k}, seed={seed}", "method": method,
                                "trained_on": trained_on, "n_rankings": k, "rmse": round(error, 4),
                                "paper": PAPER.get(method, {}).get(k, "") if trained_on == "top 100" else "",
                                "n_test": len(truth), "seconds": round(time.perf_counter() - begin, 1), "seed": seed,
                            }
                        )  # fmt: skip
                        print(rows[-1], flush=True)
                    write_results("paper/table2", rows, replacing="row")
                    check_bounds(rows)


def draw() -> None:
    """Draw the error of real-valued stars against the number of rankings or factors, the paper's BPMF beside."""
    rmse = pl.col("rmse")
    error = (rmse.std() / pl.len().sqrt()).fill_null(0.0)
    measured = pl.read_csv(RESULTS / "paper/table2.csv").group_by("method", "trained_on", "n_rankings")
    table = measured.agg(rmse.mean(), low=rmse.mean() - error, high=rmse.mean() + error)
    paper = [
        {"method": DRAWN[-1], "trained_on": "top 100", "n_rankings": k, "rmse": value, "low": value, "high": value}
        for k, value in PAPER["BPMF"].items()
    ]
    rows = pl.concat([table.select(paper[0].keys()), pl.DataFrame(paper)]).filter(pl.col("method").is_in(DRAWN))
    x = alt.X(
        "n_rankings:Q", title="rankings or factors", scale=alt.Scale(zero=False), axis=alt.Axis(values=[10, 15, 20])
    )
    y = alt.Y("rmse:Q", title="root mean square error of stars", scale=alt.Scale(zero=False))
    halves = [
        measured_curves(part.sort("n_rankings").to_dicts(), x, y, "method", DRAWN).properties(
            width=260, height=300, title=f"Trained on {trained_on}"
        )
        for (trained_on,), part in sorted(rows.group_by("trained_on"), reverse=True)
    ]
    save_figure(alt.hconcat(*halves).resolve_scale(y="shared"), "table2")


def check_bounds(rows: list[dict[str, object]]) -> None:
    """Fail where stars are predicted worse than they have to be."""
    for row in rows:
        bound = BOUNDS.get((row["method"], row["trained_on"]), np.inf) if row["n_rankings"] == 10 else np.inf
        if row["rmse"] > bound:
            raise SystemExit(f"{row['row']}: expected at most {bound}, got {row['rmse']}")


if __name__ == "__main__":
    main()

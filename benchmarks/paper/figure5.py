"""Figure 5: how likely held-out comparisons are, against the number of rankings.

MovieLens-1M, the 100 most rated movies, new comparisons of known users, Full and Ignore, as the upper left of Figure 4.
FJS looks at all subsets of the rankings, which ends at 20 of them, and finds no more than pooled shares tell apart: see
column n_found.

    python -m benchmarks.paper.figure5 --data FOLDER [--runs 1] [--rankings 5 10 ...] [--only NAME ...] [--draw]

Runs differ in the seed of the method. Points are means over the runs, bars one standard error each way. What is in the
results already is not measured again; remove its rows for that.
"""

import time
from itertools import product

import altair as alt
import polars as pl

import plurank
from benchmarks.common import RESULTS, parse_to_draw, parser_of, write_results
from benchmarks.movielens import compare, read_ratings
from benchmarks.paper.figure4 import DRAWN, fit
from benchmarks.paper.figures import measured_curves, save_figure

RANKINGS = (5, 10, 15, 20, 25, 30)
MOST = {"FJS": 20, "one ranking": 1}


def key_of(name: str, k: int, seed: int) -> str:
    return f"{name}, {k}, {seed}"


def measure(name: str, k: int, seed: int, train: plurank.Comparisons, test: plurank.Comparisons) -> dict[str, object]:
    begin = time.perf_counter()
    model = fit(name, k, train, seed)
    row = {
        "key": key_of(name, k, seed), "method": name, "n_rankings": k, "n_found": len(model.rankings_),
        "n_train": len(train), "n_test": len(test),
        "log_likelihood": round(model.score(test), 5), "accuracy": round(model.accuracy(test), 5),
        "seconds": round(time.perf_counter() - begin, 1), "seed": seed,
    }  # fmt: skip
    print(row, flush=True)
    return row


def draw() -> None:
    score = pl.col("log_likelihood")
    error = (score.std() / pl.len().sqrt()).fill_null(0.0)
    measured = pl.read_csv(RESULTS / "paper/figure5.csv").group_by("method", "n_rankings")
    table = measured.agg(score.mean(), low=score.mean() - error, high=score.mean() + error)
    one = table.filter(pl.col("method") == "one ranking")
    # one ranking does not depend on K: a line across
    across = pl.concat([one.with_columns(n_rankings=pl.lit(k, pl.Int64)) for k in (RANKINGS[0], RANKINGS[-1])])
    rows = pl.concat([table.filter(pl.col("method") != "one ranking"), across]).sort("n_rankings")
    x = alt.X("n_rankings:Q", title="number of rankings", scale=alt.Scale(zero=False), axis=alt.Axis(values=RANKINGS))
    y = alt.Y("log_likelihood:Q", title="log-likelihood per comparison", scale=alt.Scale(zero=False))
    chart = measured_curves(rows.to_dicts(), x, y, "method", DRAWN)
    save_figure(chart.properties(width=560, height=340), "figure5")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--rankings", type=int, nargs="+", default=RANKINGS)
    parser.add_argument("--only", nargs="+", choices=DRAWN, default=DRAWN)
    given = parse_to_draw(parser)
    if not given.draw:
        ratings, probe = read_ratings(given.data)
        train, test = compare("top 100", ratings["top 100"]), plurank.Comparisons.from_ratings(probe)
        known = known_keys()
        for name in given.only:
            ks = [1] if name == "one ranking" else [k for k in given.rankings if k <= MOST.get(name, k)]
            for k, seed in product(ks, range(given.runs)):
                if key_of(name, k, seed) not in known:
                    write_results("paper/figure5", [measure(name, k, seed, train, test)], replacing="key")
    draw()


def known_keys() -> set[str]:
    path = RESULTS / "paper/figure5.csv"
    return set(pl.read_csv(path)["key"]) if path.exists() else set()


if __name__ == "__main__":
    main()

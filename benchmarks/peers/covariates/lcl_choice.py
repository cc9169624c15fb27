"""lcl-choice, a latent class logit whose classes depend on covariates, on one case; runs in its own environment.

    python -m benchmarks.peers.covariates.lcl_choice FOLDER --seconds 600

FOLDER has a case and, in validation, one inside its training data. Items are dummy variables of the utility. The number
of classes, and how much votes of a new user count, are those that predict the validation users best, with a slope for
each number of votes. No more classes are tried once half of the seconds are spent. Writes predictions.parquet (votes,
probability) and report.json.
"""

import json
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import lcl
import numpy as np
import polars as pl
from scipy.special import expit, log_expit, logit, softmax

from benchmarks.common import parser_of
from benchmarks.peers.calibration import calibrate, fit_slope
from benchmarks.peers.covariates.case import Case, Floats, read_answers, read_case

CLASSES = (2, 3, 5, 8)
COUNTS = (1.0, 0.5, 0.25)  # of a vote, in Bayes' rule
STARTS, MOST_STEPS = 3, 200
LEAST_PEOPLE = 20  # with a level of a category; others are pooled


class Coding(NamedTuple):
    """How covariates become columns, as in the training data: (name, levels), or (name, mean and deviation)."""

    categories: dict[str, list[str]]
    numbers: dict[str, tuple[float, float]]

    @classmethod
    def learn(cls, people: pl.DataFrame) -> "Coding":
        """Levels that enough people have, the most frequent one left out."""
        categories, numbers = {}, {}
        for name in people.columns:
            column = people[name]
            if name != "user" and column.dtype.is_numeric():
                numbers[name] = (float(column.mean()), float(column.std()))  # type: ignore[arg-type]
            elif name != "user":
                counts = column.fill_null("missing").value_counts(sort=True).filter(pl.col("count") >= LEAST_PEOPLE)
                categories[name] = counts[name].to_list()[1:]
        return cls(categories, numbers)

    def matrix(self, people: pl.DataFrame) -> Floats:
        """Return columns (n, P); a number that is missing is the mean, and has a column that says so."""
        columns = []
        for name, levels in self.categories.items():
            values = people[name].fill_null("missing")
            columns += [(values == level).to_numpy() for level in levels]
        for name, (mean, deviation) in self.numbers.items():
            columns.append(((people[name] - mean) / deviation).fill_null(0.0).to_numpy())
            if people[name].null_count() >= LEAST_PEOPLE:
                columns.append(people[name].is_null().to_numpy())
        return np.column_stack(columns).astype(np.float64)


class Fitted(NamedTuple):
    """Utilities (Q, C) of items by class, coefficients (1 + P, C) of memberships, and how covariates are coded."""

    utilities: Floats
    membership: Floats
    coding: Coding
    about: dict[str, Any]


def fit(case: Case, n_classes: int, seed: int) -> Fitted:
    """Fit so many classes; the first item has utility 0."""
    n_items, users = case.about["n_items"], case.train["user"].unique().sort()
    people = pl.DataFrame({"user": users}).join(case.table, "user", "left", maintain_order="left")
    coding = Coding.learn(people)
    about = pl.DataFrame(coding.matrix(people), schema=[f"x{n}" for n in range(coding.matrix(people).shape[1])])
    rows = case.train.sort("user").with_row_index("case")
    long = pl.concat(
        rows.select("user", "case", item=side, choice=pl.lit(side == "winner"), alt=pl.lit(side == "loser").cast(int))
        for side in ("winner", "loser")
    ).sort("case", "alt")
    items = [f"item{n}" for n in range(1, n_items)]
    long = long.with_columns((pl.col("item") == n).cast(pl.Float64).alias(f"item{n}") for n in range(1, n_items))
    result = lcl.LatentClassConditionalLogit(num_classes=n_classes).fit(
        long, "alt", "case", "user", choice_col="choice", case_varnames=items, dem_varnames=about.columns,
        dems_data=pl.concat([people.select("user"), about], how="horizontal"),
        options=lcl.Options(
            fit=lcl.FitOptions(seed=seed, starts=STARTS, max_em_iter=MOST_STEPS, em_tol=1e-6, num_devices=1),
            inference=lcl.InferenceOptions(skip=True),
        ),
    )  # fmt: skip
    betas, thetas = np.asarray(result.em_res.betas), np.asarray(result.em_res.thetas)
    return Fitted(
        np.vstack([np.zeros((1, n_classes)), betas]), np.hstack([np.zeros((len(thetas), 1)), thetas]), coding,
        {"converged": bool(result.converged), "steps": int(result.total_recursions)},
    )  # fmt: skip


def predict(found: Fitted, case: Case, count: float) -> dict[int, Floats]:
    """Log odds of left, (n,), for each number of votes; class posteriors of the new users by Bayes' rule."""
    users = case.questions["user"].unique(maintain_order=True)
    people = pl.DataFrame({"user": users}).join(case.table, "user", "left", maintain_order="left")
    row_of = pl.DataFrame({"user": users}).with_row_index("row")
    design = found.coding.matrix(people)
    prior = np.hstack([np.ones((len(design), 1)), design]) @ found.membership
    asked = case.asked.join(row_of, "user", maintain_order="left")
    rows = case.questions.join(row_of, "user", maintain_order="left")["row"].to_numpy()
    ahead = found.utilities[asked["winner"].to_numpy()] - found.utilities[asked["loser"].to_numpy()]
    leads = found.utilities[case.questions["left"].to_numpy()] - found.utilities[case.questions["right"].to_numpy()]
    odds = {}
    for votes in case.about["votes"]:
        told = (asked["place"] < votes).to_numpy()
        logs = np.zeros_like(prior)
        np.add.at(logs, asked["row"].to_numpy()[told], log_expit(ahead[told]))
        weights = softmax(prior + count * logs, axis=1)
        odds[votes] = logit(np.clip((weights[rows] * expit(leads)).sum(axis=1), 1e-9, 1 - 1e-9))
    return odds


def compete(folder: Path, seconds: float, seed: int) -> None:
    """Choose on the validation case, fit to all training data, predict."""
    case, inner = read_case(folder), read_case(folder / "validation")
    answers, begin = read_answers(folder / "validation"), time.perf_counter()
    tried: list[tuple[float, int, float, dict[int, float]]] = []
    for n_classes in CLASSES:
        if time.perf_counter() - begin > seconds / 2:
            break
        found = fit(inner, n_classes, seed)
        for count in COUNTS:
            odds = predict(found, inner, count)
            slopes = {votes: fit_slope(each, answers) for votes, each in odds.items()}
            chances = {votes: calibrate(each, slopes[votes]) for votes, each in odds.items()}
            logs = [np.log(np.where(answers, each, 1.0 - each)).mean() for each in chances.values()]
            tried.append((float(np.mean(logs)), n_classes, count, slopes))
        print(n_classes, found.about, round(max(tried)[0], 4), f"{time.perf_counter() - begin:.0f} s", flush=True)
    _, n_classes, count, slopes = max(tried, key=lambda each: each[0])
    tuned = time.perf_counter()
    found = fit(case, n_classes, seed)
    report = {
        "classes": n_classes, "count": count, "slopes": slopes, "classes_tried": sorted({each[1] for each in tried}),
        "tune_seconds": tuned - begin, "fit_seconds": time.perf_counter() - tuned,
        "peer_versions": f"lcl-choice={version('lcl-choice')} jax={version('jax')}", **found.about,
    }  # fmt: skip
    frames = [
        pl.DataFrame({"probability": calibrate(each, slopes[votes])}).with_columns(votes=pl.lit(votes))
        for votes, each in predict(found, case, count).items()
    ]
    pl.concat(frames).write_parquet(folder / "predictions.parquet")
    (folder / "report.json").write_text(json.dumps(report))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    compete(given.folder, given.seconds, given.seed)


if __name__ == "__main__":
    main()

"""Merge the match into a table: means over seeds, and paired differences to MixedRanking with their intervals."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from benchmarks.peers.case import read_about, read_answers
from benchmarks.peers.methods import METHODS, OURS
from benchmarks.peers.score import sums_by_user

DRAWS = 2000
KEYS = ["set", "task", "given"]
OURS_BY_TRACK = {"comparisons": OURS, "stars": "plurank_ratings"}
FIGURES = ["log_likelihood", "accuracy", "calibration_error", "fit_seconds", "tune_seconds", "peak_mib"]


def sums_of(name: str, folders: Iterable[Path]) -> pl.DataFrame:
    """Log-likelihoods by set, task, given, seed and user, of every case the method was in."""
    parts = []
    for folder in folders:
        path, about = folder / f"{name}.parquet", read_about(folder)
        if path.exists():
            users, answers = pl.read_parquet(folder / "questions.parquet")["user"], read_answers(folder)
            for (given,), own in pl.read_parquet(path).group_by("given", maintain_order=True):
                case = {"set": about["set"], "task": about["task"], "given": given, "seed": about["seed"]}
                sums = sums_by_user(users, own["probability"].to_numpy(), answers)
                parts.append(sums.with_columns(pl.lit(value).alias(key) for key, value in case.items()))
    return pl.concat(parts) if parts else pl.DataFrame()


Gap = tuple[float | None, float | None, float | None]


def paired_difference(theirs: pl.DataFrame, ours: pl.DataFrame) -> Gap:
    """Mean difference per question, theirs minus ours, and its 95 % interval; None where they share no case.

    Users are drawn, with all their seeds, and seeds, with all their users: a user's answers are alike, and so is
    whatever hangs on a seed, such as the setting chosen.
    """
    both = theirs.join(ours, on=["seed", "user"], suffix="_ours")
    if both.is_empty():
        return None, None, None
    users, seeds = (both[name].rank("dense").to_numpy() - 1 for name in ("user", "seed"))
    logs, n = np.zeros((2, users.max() + 1, seeds.max() + 1))
    logs[users, seeds] = (both["logs"] - both["logs_ours"]).to_numpy()
    n[users, seeds] = both["n"].to_numpy()
    low, high = np.quantile(draw_means(logs, n), [0.025, 0.975])
    return float(logs.sum() / n.sum()), float(low), float(high)


def draw_means(logs: NDArray[np.float64], n: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw users and seeds with replacement, many times; give the mean per question of each draw, (DRAWS,)."""
    rng = np.random.default_rng(0)
    users, seeds = (rng.multinomial(size, np.full(size, 1.0 / size), size=DRAWS) for size in logs.shape)
    sums, numbers = (((users @ values) * seeds).sum(axis=1) for values in (logs, n))
    asked = numbers > 0  # somebody drawn was asked something with a seed drawn
    return sums[asked] / numbers[asked]


def merge(folders: list[Path], rows: list[dict[str, Any]]) -> pl.DataFrame:
    """One row for every set, task, number given and method: means over seeds, and differences to ours."""
    means = pl.DataFrame(rows, infer_schema_length=None).group_by(*KEYS, "track", "method", maintain_order=True)
    table = means.agg(*FIGURES, pl.len().alias("seeds")).with_columns(pl.col(FIGURES).list.mean())
    sums = {name: sums_of(name, folders) for name in table["method"].unique()}
    differences = [_difference(row, sums, rows) for row in table.iter_rows(named=True)]
    return table.with_columns(pl.DataFrame(differences, schema=["difference", "low", "high"], orient="row"))


def _difference(row: dict[str, Any], sums: dict[str, pl.DataFrame], rows: list[dict[str, Any]]) -> Gap:
    case, ours = [pl.col(key) == row[key] for key in KEYS], OURS_BY_TRACK[row["track"]]
    if row["method"] == ours or ours not in sums:
        return None, None, None
    theirs, own = (sums[name].filter(case) if len(sums[name]) else sums[name] for name in (row["method"], ours))
    of_case = [each for each in rows if all(each[key] == row[key] for key in KEYS)]
    by_seed = [
        {each["seed"]: each["log_likelihood"] for each in of_case if each["method"] == name}
        for name in (row["method"], ours)
    ]
    if len(theirs) and theirs["seed"].n_unique() == len(by_seed[0]):
        return paired_difference(theirs, own)
    return difference_by_seed(*by_seed)


def difference_by_seed(theirs: dict[int, float], ours: dict[int, float]) -> Gap:
    """Mean difference and its 95 % interval where only the mean of each seed is known, as of earlier results."""
    gaps = np.array([theirs[seed] - ours[seed] for seed in theirs.keys() & ours.keys()])
    if len(gaps) < 2:
        return (float(gaps.mean()) if len(gaps) else None), None, None
    reach = float(stats.t.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps)))
    return float(gaps.mean()), float(gaps.mean()) - reach, float(gaps.mean()) + reach


def verdict(case: pl.DataFrame, track: str) -> str:
    """Say whether ours is first among methods of a track, and whether that could be chance.

    Differences decide, so that a method that failed on some seeds is held against ours on the others. Our own method
    with one ranking is no rival.
    """
    ours = OURS_BY_TRACK[track]
    if ours not in case["method"]:
        return "did not take part"
    own = [name for name, method in METHODS.items() if method.packages == METHODS[ours].packages]
    rivals = case.filter(pl.col("track") == track, pl.col("difference").is_not_null(), ~pl.col("method").is_in(own))
    best = rivals.sort("difference").tail(1)
    if rivals.is_empty():
        return "nobody else took part"
    if best["difference"].item() < 0:
        sure = (rivals["high"] < 0).all()
        return "first" + ("" if sure else ", but not beyond doubt")
    ahead = f"not first: {best['method'].item()} is ahead by {best['difference'].item():.4f}"
    return ahead + ("" if best["low"].item() > 0 else ", within noise")


def verdict_over_all(key: tuple[Any, ...], rows: list[dict[str, Any]]) -> str:
    """Say how the best of plurank's methods stands against all others of a case, whatever they saw, by seeds."""
    by_method: dict[str, dict[int, float]] = {}
    for row in rows:
        if all(row[name] == value for name, value in zip(KEYS, key, strict=True)):
            by_method.setdefault(row["method"], {})[row["seed"]] = row["log_likelihood"]
    ours = {name: by_method.pop(name) for name in (OURS, "plurank_ratings", "plurank_single") if name in by_method}
    if not ours or not by_method:
        return "nobody else took part"
    most = max(len(each) for each in ours.values())
    best = max((name for name in ours if len(ours[name]) == most), key=lambda name: np.mean(list(ours[name].values())))
    gaps = {name: difference_by_seed(theirs, ours[best])[0] for name, theirs in by_method.items()}
    known = {name: gap for name, gap in gaps.items() if gap is not None}
    rival = max(known, key=lambda name: known[name])
    if known[rival] < 0:
        return f"first ({best}, {-known[rival]:.4f} before {rival})"
    return f"not first: {rival} is ahead of {best} by {known[rival]:.4f}"


def write_table(path: Path, folders: list[Path], rows: list[dict[str, Any]], command: str) -> None:
    """Write the table in Markdown: a section for every case, tracks apart, and who could not take part."""
    table = merge(folders, rows)
    n_seeds = max(table["seeds"].to_list())
    lines = [
        "# The match against peers",
        "",
        f"Made by `{command}`, {n_seeds} seeds; rules and settings: `benchmarks/peers/README.md`.",
        "Difference: log-likelihood a question minus that of `plurank_mixed` or, where methods saw ratings, of "
        "`plurank_ratings`; 95 % interval: users and seeds drawn; of methods taken from earlier results, seeds alone.",
        "Methods of the stars track saw ratings, all others comparisons alone; tracks are not to be compared for rank.",
    ]
    heads = ("set", "task", "given", "plurank_mixed, comparisons only", "plurank_ratings, ratings", "all methods")
    lines += ["", f"| {' | '.join(heads)} |", "|---|---|---|---|---|---|"]
    cases = list(table.group_by(KEYS, maintain_order=True))
    for key, case in cases:
        verdicts = " | ".join([*(verdict(case, track) for track in OURS_BY_TRACK), verdict_over_all(key, rows)])
        lines.append(f"| {key[0]} | {key[1]} | {key[2] or ''} | {verdicts} |")
    for key, case in cases:
        lines += ["", f"## {key[0]}, {key[1]}" + (f" given {key[2]}" if key[2] else ""), ""]
        lines += _section(case, n_seeds)
    lines += ["", *_absent(folders)]
    path.write_text("\n".join(lines) + "\n")
    print(f"wrote {path}")


def _section(case: pl.DataFrame, n_seeds: int) -> list[str]:
    head = "| track | method | log-likelihood | difference | accuracy | calibration error | fit s | tuning s | MiB |"
    lines = [head, "|---|---|---|---|---|---|---|---|---|"]
    for row in case.sort("track", "log_likelihood", descending=[False, True]).iter_rows(named=True):
        gap = "" if row["low"] is None else f"{row['difference']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f})"
        name = row["method"] + (f" ({row['seeds']} seeds)" if row["seeds"] < n_seeds else "")
        lines.append(
            f"| {row['track']} | {name} | {row['log_likelihood']:.4f} | {gap} | {row['accuracy']:.3f} "
            f"| {row['calibration_error']:.3f} | {row['fit_seconds']:.2f} | {row['tune_seconds']:.1f} "
            f"| {row['peak_mib']:.0f} |"
        )
    return lines


def _absent(folders: list[Path]) -> list[str]:
    lines = ["## Who is missing where, and why", ""]
    for name, method in METHODS.items():
        if method.takes_new_users:
            lines.append(f"- {name}: new users' comparisons are {method.new_users}.")
        else:
            stars = "only where there are stars, and " if method.track == "stars" else ""
            lines.append(f"- {name}: {stars}not with new users, as it {method.new_users}.")
    for folder in folders:
        where = "{set}, {task}, seed {seed}".format(**read_about(folder))
        lines += [f"- {file.stem} failed on {where}: {file.read_text()}" for file in sorted(folder.glob("*.failed"))]
    return lines

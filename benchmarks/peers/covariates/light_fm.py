"""LightFM with features of items, on one case with items that nobody has compared; runs in its own environment.

    python -m benchmarks.peers.covariates.light_fm FOLDER

FOLDER has a case and, in validation, one with other items held out of the training items. A user's win share of an
item, twice its wins less its losses by their number plus one, is an interaction: with the logistic loss its sign with
its size as weight, with WARP items that won more than they lost. Features are columns of numbers and levels, or levels
alone (numbers cut at quartiles), with or without an embedding of each item of its own. The setting that predicts
validation questions best, with its best slope, predicts. Writes predictions.parquet (probability) and report.json.
"""

import itertools
import json
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from lightfm import LightFM
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.common import parser_of
from benchmarks.peers.calibration import calibrate, fit_slope
from benchmarks.peers.covariates.case import Case, read_answers, read_case

Floats = NDArray[np.float64]
SETTINGS = [
    {"loss": loss, "size": size, "alpha": alpha, "binned": binned, "own": own, "epochs": epochs}
    for loss, size, alpha, binned, own, epochs in itertools.product(
        ("logistic", "warp"), (10,), (1e-4, 1e-3), (False, True), (False, True), (10, 30)
    )
]


def features_of(table: pl.DataFrame, binned: bool, own: bool, known: NDArray[np.bool_]) -> Any:
    """Return features (Q, F): levels, numbers (or their quarters), and each known item itself."""
    columns: list[Any] = [np.ones(len(table))]
    for column in table.drop("item").iter_columns():
        if column.dtype.is_float() and not binned:
            values = column.to_numpy()
            columns.append((values - values[known].mean()) / max(values[known].std(), 1e-9))
            continue
        if column.dtype.is_float():
            cuts = np.quantile(column.to_numpy()[known], [0.25, 0.5, 0.75])
            column = pl.Series(np.searchsorted(cuts, column.to_numpy()))
        columns += [(column == level).to_numpy().astype(float) for level in column.unique().sort()]
    found = sparse.csr_matrix(np.column_stack(columns))
    return sparse.hstack([found, sparse.diags(known.astype(float))]).tocsr() if own else found


def interactions(train: pl.DataFrame, n_users: int, n_items: int, loss: str) -> tuple[Any, Any]:
    """Return interactions of users and items, and their weights."""
    wins = train.group_by("row", item="winner").len("wins")
    losses = train.group_by("row", item="loser").len("losses")
    both = wins.join(losses, ["row", "item"], "full", coalesce=True).fill_null(0).sort("row", "item")
    n, share = both["wins"] + both["losses"], both["wins"].cast(int) - both["losses"].cast(int)
    values = (2.0 * share / (n + 1)).to_numpy()
    kept = values != 0.0 if loss == "logistic" else values > 0.0
    rows, items, values = both["row"].to_numpy()[kept], both["item"].to_numpy()[kept], values[kept]
    shape = (n_users, n_items)
    signs = sparse.coo_matrix((np.sign(values).astype(np.float32), (rows, items)), shape)
    return signs, sparse.coo_matrix((np.abs(values).astype(np.float32), (rows, items)), shape)


def fit_and_predict(case: Case, setting: dict[str, Any], seed: int) -> Floats:
    """Fit, and return scores of left less those of right, (n,)."""
    users = case.train["user"].unique(maintain_order=True)
    row_of = pl.DataFrame({"user": users}).with_row_index("row")
    train, asked = (each.join(row_of, "user", "left", maintain_order="left") for each in (case.train, case.questions))
    n_items = case.about["n_items"]
    known = np.isin(np.arange(n_items), case.train["winner"].append(case.train["loser"]).unique())
    features = features_of(case.table.sort("item"), setting["binned"], setting["own"], known)
    signs, weights = interactions(train, len(users), n_items, setting["loss"])
    model = LightFM(
        setting["size"],
        loss=setting["loss"],
        item_alpha=setting["alpha"],
        user_alpha=setting["alpha"],
        random_state=seed,
    )
    model.fit(signs, item_features=features, sample_weight=weights, epochs=setting["epochs"])
    rows = asked["row"].fill_null(0).to_numpy().astype(np.int32)
    left, right = (
        model.predict(rows, asked[side].to_numpy().astype(np.int32), item_features=features)
        for side in ("left", "right")
    )
    return np.where(asked["row"].is_null().to_numpy(), 0.0, np.nan_to_num(left - right)).astype(np.float64)


def compete(folder: Path, seed: int) -> None:
    """Choose on the validation case, fit to all training data, predict."""
    case, inner, begin = read_case(folder), read_case(folder / "validation"), time.perf_counter()
    answers, tried = read_answers(folder / "validation"), []
    for number, setting in enumerate(SETTINGS):
        odds = fit_and_predict(inner, setting, seed)
        slope = fit_slope(odds, answers)
        chances = calibrate(odds, slope)
        tried.append((float(np.log(np.where(answers, chances, 1.0 - chances)).mean()), number, slope))
    _, number, slope = max(tried)
    tuned = time.perf_counter()
    odds = fit_and_predict(case, SETTINGS[number], seed)
    pl.DataFrame({"probability": calibrate(odds, slope)}).write_parquet(folder / "predictions.parquet")
    report = {
        "setting": SETTINGS[number], "slope": slope, "tune_seconds": tuned - begin,
        "fit_seconds": time.perf_counter() - tuned, "peer_versions": f"lightfm-next={version('lightfm-next')}",
    }  # fmt: skip
    (folder / "report.json").write_text(json.dumps(report))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    compete(given.folder, given.seed)


if __name__ == "__main__":
    main()

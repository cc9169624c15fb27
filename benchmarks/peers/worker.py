"""Let one method take part in one case, in a process and an environment of its own.

    python -m benchmarks.peers.worker METHOD FOLDER [--threads 1]

Every setting of the method is fitted to the validation cases' training data; the setting that predicts validation
questions best, each with its best slope, is fitted to all training data, and predicts with that slope. What it
predicted, and how long it took, is written to FOLDER; the answers in FOLDER are not read.
"""

import json
import time
import warnings
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.common import forget_peak, memory_kib, parser_of
from benchmarks.peers.calibration import calibrate, fit_slope
from benchmarks.peers.case import Case, Floats, Predict, read_about, read_answers, read_case
from benchmarks.peers.methods import METHODS, code_of
from benchmarks.peers.score import logs_of


def compete(name: str, folder: Path, threads: int) -> None:
    """Tune, fit, predict; write NAME.parquet (given, raw, probability) and then NAME.json to the folder."""
    module, stars = import_module(f"benchmarks.peers.methods.{name}"), METHODS[name].track == "stars"
    seed = read_about(folder)["seed"]
    case, inner = read_case(folder, stars), sorted((folder / "validation").iterdir())
    validation, answers = [read_case(each, stars) for each in inner], np.concatenate([read_answers(f) for f in inner])
    forget_peak()
    before, begin = memory_kib("VmRSS"), time.perf_counter()
    setting, slopes = tune(module, validation, answers, seed, threads)
    tuned = time.perf_counter()  # whatever is compiled on first use is compiled by now
    predict = module.fit(case.train, seed, threads, **setting)
    fitted = time.perf_counter()
    odds = predict_all(predict, case)
    write_predictions(folder / f"{name}.parquet", odds, slopes)
    report = {
        "setting": setting, "slopes": slopes, "tune_seconds": tuned - begin, "fit_seconds": fitted - tuned,
        "peak_mib": (memory_kib("VmHWM") - before) / 1024, "threads": threads,
        "peer_versions": " ".join(f"{package}={version(package)}" for package in METHODS[name].packages),
        "code": code_of(name),
    }  # fmt: skip
    (folder / f"{name}.json").write_text(json.dumps(report))


def tune(
    module: Any, cases: list[Case], answers: NDArray[np.bool_], seed: int, threads: int
) -> tuple[dict[str, Any], dict[int, float]]:
    """Give the setting that predicts validation questions best, and its slope for each number of comparisons given."""
    tried = []
    for setting in module.SETTINGS:
        each_odds = [predict_all(module.fit(case.train, seed, threads, **setting), case) for case in cases]
        odds = {given: np.concatenate([each[given] for each in each_odds]) for given in cases[0].given}
        slopes = {given: fit_slope(each, answers) for given, each in odds.items()}
        logs = [logs_of(calibrate(each, slopes[given]), answers).mean() for given, each in odds.items()]
        tried.append((float(np.mean(logs)), setting, slopes))
    return max(tried, key=lambda each: each[0])[1:]


def predict_all(predict: Predict, case: Case) -> dict[int, Floats]:
    """Log odds of all questions, for each number of comparisons given."""
    return {given: predict(case.asked_first(given), case.questions) for given in case.given}


def write_predictions(path: Path, odds: dict[int, Floats], slopes: dict[int, float]) -> None:
    """Write probabilities of left, as the method says (raw) and with the slope."""
    frames = [
        pl.DataFrame({"raw": calibrate(each, 1.0), "probability": calibrate(each, slopes[given])}).with_columns(
            given=pl.lit(given, pl.Int32)
        )
        for given, each in odds.items()
    ]
    pl.concat(frames).write_parquet(path)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    compete(given.method, given.folder, given.threads)


if __name__ == "__main__":
    main()

"""What every benchmark shares: where it ran, and how results are kept."""

import argparse
import csv
import os
import platform
import re
import resource
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, str]:
    """Versions and the kind of machine, for every row of results."""
    packages = " ".join(f"{name}={version(name)}" for name in ("plurank", "numpy", "polars"))
    return {"cores": str(os.cpu_count()), "python": platform.python_version(), "versions": packages}


def write_results(
    name: str, rows: list[dict[str, Any]], replacing: str | None = None, folder: Path | None = None
) -> None:
    """Write rows to NAME.csv in a folder, the results of benchmarks unless another is given.

    With ``replacing``, the name of a column, earlier rows stay unless new ones have the same value there.
    """
    path = (folder or RESULTS) / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{**row, **machine()} for row in rows]
    if replacing is not None and path.exists():
        new = {str(row[replacing]) for row in rows}
        with path.open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row[replacing] not in new] + rows
    with path.open("w", newline="") as file:
        names = list(dict.fromkeys(name for row in rows for name in row))  # rows of earlier runs may have fewer
        writer = csv.DictWriter(file, fieldnames=names)
        writer.writeheader()
        writer.writerows(rows)
    print(f"wrote {os.path.relpath(path)}")


def parser_of(about: str | None) -> argparse.ArgumentParser:
    """Give a parser of arguments whose help is a benchmark's own description."""
    return argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)


def parse_to_draw(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse, with --data to measure or --draw to draw what was measured before."""
    parser.add_argument("--data", type=Path)
    parser.add_argument("--draw", action="store_true", help="draw the results there are, measure nothing")
    given = parser.parse_args()
    if not given.draw and given.data is None:
        parser.error("to measure, say --data FOLDER; to draw what was measured, --draw")
    return given


def peak_gib() -> float:
    """Give the most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)


def memory_kib(what: str) -> float:
    """Give VmRSS (now) or VmHWM (peak) of this process; not a number where the system does not tell."""
    status = Path("/proc/self/status")
    found = re.search(what + r":\s+(\d+)", status.read_text()) if status.exists() else None
    return float(found[1]) if found else float("nan")


def forget_peak() -> None:
    """Let the peak of memory begin anew, where the system can (Linux)."""
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")


def seconds(work: Callable[[], Any], repeats: int = 1) -> float:
    """Give the least wall time of some repeats: noise only ever adds."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)

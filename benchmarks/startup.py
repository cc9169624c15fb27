"""How long plurank takes to start, as a ratio to ``import numpy, scipy.sparse``.

    python -m benchmarks.startup [--runs 10]

Each is a fresh process, in turns, so that all meet the same noise; the least wall time counts. Bytecode is compiled
before: the first round is not timed. Last come ``plurank demo`` without compiled kernels, as on its first run, and with
them, once each.
"""

import os
import subprocess
import sys
import tempfile

from benchmarks.common import parser_of, seconds, write_results

YARDSTICK = "import numpy, scipy.sparse"
STARTS = {
    YARDSTICK: ("-c", YARDSTICK),
    "import plurank": ("-c", "import plurank"),
    "plurank --version": ("-m", "plurank", "--version"),
    "plurank --help": ("-m", "plurank", "--help"),
    "plurank fit --help": ("-m", "plurank", "fit", "--help"),
}


def start(name: str) -> None:
    subprocess.run([sys.executable, *STARTS[name]], check=True, stdout=subprocess.DEVNULL)


def measure(runs: int) -> list[dict[str, object]]:
    best = dict.fromkeys(STARTS, float("inf"))
    for run in range(runs + 1):
        for name in STARTS:
            took = seconds(lambda name=name: start(name))
            best[name] = min(best[name], took) if run else best[name]
    best |= measure_demo()
    return [
        {"start": name, "seconds": round(took, 3), "ratio": round(took / best[YARDSTICK], 2)}
        for name, took in best.items()
    ]


def measure_demo() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-m", "plurank", "demo"]

        def show() -> None:
            subprocess.run(command, check=True, capture_output=True, cwd=folder, env=environment)

        return {"plurank demo, compiling": seconds(show), "plurank demo": seconds(show)}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=10)
    rows = measure(parser.parse_args().runs)
    for row in rows:
        print(f"{row['start']:28} {row['seconds']:6.3f} s  {row['ratio']:5.2f}")
    write_results("startup", rows)


if __name__ == "__main__":
    main()

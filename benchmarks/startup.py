"""How much processor time plurank takes before its actual work: imports, the command line, what is set up once.

    python -m benchmarks.startup [--runs 5]

Each command runs twice in a fresh process, on a small file. What the first run takes, from the start of Python on, more
than the second is what comes before the work; user and system time of all threads count, the least of some processes.
Bytecode is compiled before. Commands that draw figures start a JavaScript engine (vl-convert) for their work; its start
has a column of its own. The bound is 0.7 s for every command, without the engine.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import plurank
from benchmarks.common import parser_of, write_results

BOUND = 0.7  # seconds
YARDSTICK = "import numpy, polars"
ENGINE = 'import vl_convert; vl_convert.vegalite_to_svg({"mark": "point"})'  # imports and starts it
DRAWING = ("report", "demo")  # commands that use it
IMPORTS = (YARDSTICK, "import plurank")
COMMANDS = (
    "--version",
    "--help",
    "fit --help",
    "show model.plurank",
    "show model.plurank --user 0",
    "show votes.csv",
    "predict model.plurank pairs.csv",
    "evaluate model.plurank votes.csv",
    "transform model.plurank votes.csv -o weights.csv",
    "fit votes.csv -k 2 -o new.plurank",
    "select votes.csv --candidates 1 --mixing probability",
    "update model.plurank votes.csv -o new.plurank",
    "report model.plurank -o report.html",
    "demo",
    "simulate -o new.csv --users 5 --items 4 -k 1 --per-user 5",
    "convert orders.csv -o new.csv",
    "ingest votes.csv -o store --overwrite",
    "fetch",
    "serve model.plurank --port 0 --no-feedback",
    "serve model.plurank --port 0",
)
IMPORT = "import time; {}; print(time.process_time(), 0.0, 0.0, file=open('took', 'w'))"
RUN_TWICE = f"""
import sys, time

engine = 0.0
if sys.argv[1] in {DRAWING}:
    begin = time.process_time()
    {ENGINE}
    engine = time.process_time() - begin
from plurank.cli import main

if sys.argv[1] == "serve":  # all but the serving, which has no end
    import plurank.web.server
    plurank.web.server.run_server = lambda *_, **__: None
times = [engine]
for _ in range(2):
    try:
        main()
    except SystemExit as done:
        assert not done.code, sys.argv
    times.append(time.process_time())
print(times[1] - times[0], times[2] - times[1], engine, file=open("took", "w"))
"""


def prepare(folder: Path) -> None:
    """Make the files that commands read."""
    made = plurank.simulate(30, 4, 2, 8, random_state=0).comparisons
    made.to_frame().select("user", "winner", "loser").write_csv(folder / "votes.csv")
    plurank.MixedRanking(2, mixing="probability", random_state=0).fit(made).save(folder / "model.plurank")
    (folder / "pairs.csv").write_text("user,left,right\n0,1,2\n")
    (folder / "orders.csv").write_text("user,item,rank\n0,1,2\n0,2,1\n")


def start(folder: Path, program: str, *args: str) -> tuple[float, ...]:
    """Run a program, and return the seconds of its first and its second run, and of the start of the engine."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", program, *args], cwd=folder, env=environment, check=True, capture_output=True)
    return tuple(map(float, (folder / "took").read_text().split()))


def measure(runs: int) -> list[dict[str, object]]:
    """Measure everything in turns, so that all meet the same noise; the first round is to compile bytecode."""
    programs = {name: (IMPORT.format(name),) for name in IMPORTS}
    programs |= {f"plurank {command}": (RUN_TWICE, *command.split()) for command in COMMANDS}
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in programs}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for run in range(runs + 1):
            for what, program in programs.items():
                took = start(folder, *program)
                found[what] += [took] if run else []
    rows = []
    for what, times in found.items():
        first, second, engine = (min(column) for column in zip(*times, strict=True))
        seconds = {"before_work": first - second, "drawing_engine": engine, "work": second}
        rows.append({"start": what, **{name: round(value, 3) for name, value in seconds.items()}})
    return rows


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--runs", type=int, default=5)
    rows = measure(parser.parse_args().runs)
    print(f"{'processor seconds':64} before work  drawing engine   work")
    for row in rows:
        mark = f"  more than {BOUND} s" if float(str(row["before_work"])) > BOUND else ""
        numbers = f"{row['before_work']:11.3f} {row['drawing_engine'] or '':15} {row['work']:6.3f}"
        print(f"{row['start']:64} {numbers}{mark}")
    write_results("startup", rows)


if __name__ == "__main__":
    main()

"""Do the tests notice when the code is wrong? Change one thing at a time, run the tests, list what nobody noticed.

    python -m tools.mutants --n 150 --seed 0

Draws changes ("mutants") of the packages topic, mixed and inference: comparisons, operators, constants, conditions,
deleted statements. Each runs in a copy of the sources, against the tests of its own package; the first failure ends
it. Writes a CSV: one row a mutant, with killed, timeout or survived. A second run with the same file goes on where
the first was stopped; with ``--around`` it runs the tests of other packages, too, against those that survived.

A process of its own for every mutant, forked before anything of plurank is loaded: libraries are loaded once.
"""

import ast
import contextlib
import copy
import csv
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from benchmarks.common import parser_of

ROOT = Path(__file__).parents[1]
PACKAGES = ("topic", "mixed", "inference")
AROUND = {  # where else a package is tested
    "topic": ["tests/engine", "tests/models"],
    "mixed": ["tests/engine", "tests/models"],
    "inference": ["tests/models", "tests/mixed", "tests/topic"],
}
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Mod: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change, and the whole source with it."""

    file: Path
    number: int
    line: int
    before: str
    after: str
    source: str

    @property
    def name(self) -> str:
        """What tells it from others: package/file:number of the place."""
        return f"{self.file.parent.name}/{self.file.name}:{self.number}"


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Give every change: the parent of a node, its field, where in it if that is a list, and what to put there."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if name in ("annotation", "returns", "type_params") or isinstance(parent, ast.Assert):
                continue
            for at, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(node, ast.AST):
                    yield from ((parent, name, at, other) for other in changes(node))


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Give what a node could wrongly be."""
    other = copy.deepcopy(node)
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            other.ops = [COMPARISONS[type(op)]()]
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in OPERATORS:
            other.op = OPERATORS[type(op)]()
        case ast.BoolOp(op=op):
            other.op = ast.Or() if isinstance(op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            other = operand
        case ast.IfExp():
            other.body, other.orelse = node.orelse, node.body
        case ast.Constant(value=bool(value)):
            other.value = not value
        case ast.Constant(value=int(value)):
            other.value = value + 1
        case ast.Constant(value=float(value)):
            other.value = 2.0 * value if value else 1.0
        case ast.Raise() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Call()):
            other = ast.Pass()
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]) if not _declares(node):
            other = ast.Pass()
        case ast.If(orelse=[]):
            other = ast.Pass()
        case _:
            return
    yield other
    if isinstance(node, ast.AugAssign):
        yield ast.Pass()


def _declares(node: ast.Assign) -> bool:
    """Whether an attribute of self is set: without it nothing works, which teaches nothing."""
    target = node.targets[0]
    return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"


def count_places(file: Path) -> int:
    """Count the changes that a file can suffer."""
    return sum(1 for _ in places(ast.parse(file.read_text(encoding="utf-8"))))


def make_mutant(file: Path, number: int) -> Mutant:
    """Change one place of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    parent, name, at, other = next(islice(places(tree), number, None))
    value = getattr(parent, name)
    old = value if at is None else value[at]
    before, line = _first_line(old), old.lineno
    if at is None:
        setattr(parent, name, other)
    else:
        value[at] = other
    source = ast.unparse(ast.fix_missing_locations(tree))
    return Mutant(file, number, line, before, _first_line(other), source)


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0]


def circles(mutant: Mutant, around: bool) -> list[list[str]]:
    """Return the tests to run: those of the file itself, then those of its package; or those around."""
    package, own = mutant.file.parent.name, f"test_{mutant.file.stem}.py"
    if around:
        return [[tests] for tests in AROUND[package]]
    files = sorted(f"tests/{package}/{file.name}" for file in (ROOT / "tests" / package).glob("test_*.py"))
    mine = [file for file in files if file.endswith(f"/{own}")]
    return [tests for tests in (mine, [file for file in files if file not in mine]) if tests]


def run(folder: Path, tests: list[str], seconds: int) -> str:
    """Run tests in a process of its own on the sources in a folder: survived, killed or timeout.

    The limit is one of processor time, so that a busy machine makes no timeouts; a process that waits for ever is
    ended after twenty times as long.
    """
    child = os.fork()
    if child == 0:
        _test(folder, tests, seconds)
    end = time.monotonic() + 20.0 * seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
            return "timeout" if late else "survived" if status == 0 else "killed"
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout"


def _test(folder: Path, tests: list[str], seconds: int) -> None:
    code = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        sink = os.open(os.environ.get("MUTANTS_LOG", os.devnull), os.O_WRONLY | os.O_CREAT)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        os.chdir(ROOT)
        os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), str(ROOT)])
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True
        sys.path[:0] = [str(folder), str(ROOT)]
        import pytest

        options = ["-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
        code = int(pytest.main([*options, *tests]))
    finally:
        sys.stdout.flush()
        os._exit(code)


def load_libraries() -> None:
    """Load what takes long to load, and nothing of plurank."""
    import polars  # noqa: F401
    import pytest  # noqa: F401
    import scipy.sparse.linalg
    import scipy.special  # noqa: F401
    import sklearn  # noqa: F401  # which tests import

    assert "plurank" not in sys.modules


def copy_sources(folder: Path) -> Path:
    """Copy src, without compiled Python, whose age could hide a change, and with the installed native library."""
    source = Path(shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.pyc", "*.egg-info")))
    installed = find_spec("plurank")
    assert installed is not None
    for library in Path(str(installed.origin)).parent.glob("kernels/*.so"):
        shutil.copy2(library, source / "plurank" / "kernels")
    return source


def main() -> None:
    """Draw mutants, run them, write what became of each."""
    parser = parser_of(__doc__)
    parser.add_argument("--n", type=int, default=150, help="how many mutants to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="modules, such as swap_rankings; all without it")
    parser.add_argument("--part", default="0/1", help="i/n: only every n-th mutant, from the i-th, to share the work")
    parser.add_argument("--around", action="store_true", help="try those that survived against other packages' tests")
    parser.add_argument("--seconds", type=int, default=300, help="of processor time for each circle of tests")
    parser.add_argument("--output", type=Path, default=Path("mutants.csv"))
    options = parser.parse_args()
    files = sorted(file for package in PACKAGES for file in (ROOT / "src" / "plurank" / package).glob("*.py"))
    files = [file for file in files if options.only is None or file.stem in options.only]
    everything = [(file, number) for file in files for number in range(count_places(file))]
    drawn = random.Random(options.seed).sample(everything, min(options.n, len(everything)))
    part, n_parts = map(int, options.part.split("/"))
    known = read_known(options.output)
    print(f"{len(drawn)} of {len(everything)} mutants, part {options.part}, {len(known)} known", flush=True)
    load_libraries()
    with tempfile.TemporaryDirectory() as folder:
        source = copy_sources(Path(folder))
        check_tests_pass(source, options.seconds)
        for place in drawn[part::n_parts]:
            mutant = make_mutant(*place)
            before = known.get(mutant.name)
            if before is None or (options.around and before["outcome"] == "survived"):
                known[mutant.name] = try_mutant(mutant, source, options.seconds, around=options.around)
                write_known(options.output, known)
                print(*known[mutant.name].values(), sep=" | ", flush=True)
    print(dict(Counter(row["outcome"] for row in known.values())))


def read_known(file: Path) -> dict[str, dict[str, str]]:
    """Read what became of mutants before, by name."""
    if not file.exists():
        return {}
    with file.open(newline="", encoding="utf-8") as rows:
        return {row["mutant"]: row for row in csv.DictReader(rows)}


def write_known(file: Path, known: dict[str, dict[str, str]]) -> None:
    """Write what became of all mutants."""
    with file.open("w", newline="", encoding="utf-8") as rows:
        table = csv.DictWriter(rows, next(iter(known.values())))
        table.writeheader()
        table.writerows(known.values())


def check_tests_pass(source: Path, seconds: int) -> None:
    """Stop where tests fail, or take too long, without any change: every mutant would seem to be noticed."""
    for package in PACKAGES:
        outcome = run(source, [f"tests/{package}"], seconds)
        if outcome != "survived":
            sys.exit(
                f"tests/{package} on the sources as they are: {outcome}. Make them pass first, or raise --seconds."
            )


def try_mutant(mutant: Mutant, source: Path, seconds: int, *, around: bool) -> dict[str, str]:
    """Put a mutant into the copy, run circle after circle until one notices, and put the right source back."""
    place = source / mutant.file.relative_to(ROOT / "src")
    right = place.read_bytes()
    place.write_text(mutant.source, encoding="utf-8")
    outcome, seen_by = "survived", ""
    try:
        for tests in circles(mutant, around):
            outcome = run(source, tests, seconds)
            if outcome != "survived":
                seen_by = tests[0] if len(tests) == 1 else f"tests/{mutant.file.parent.name}"
                break
    finally:
        place.write_bytes(right)
    return {
        "mutant": mutant.name,
        "line": str(mutant.line),
        "before": mutant.before,
        "after": mutant.after,
        "outcome": outcome,
        "tests": seen_by,
    }


if __name__ == "__main__":
    main()

"""What is loaded before there is work to do, and by commands that do not need it: nothing that takes long.

How long it takes: ``python -m benchmarks.startup``.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import plurank

TERMINAL = {"pydantic", "rich", "typer"}
EXTRAS = {
    "altair", "dask", "distributed", "fastapi", "jinja2", "pooch", "psycopg", "requests", "uvicorn", "vl_convert",
}  # fmt: skip
UNUSED = EXTRAS | {"narwhals", "pandas", "pyarrow", "sklearn", "scipy.stats"}  # by any command with files
PARTS_OF_SCIPY = {"scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.spatial"}
SPECIAL = "scipy.special"  # functions, and much that they come with
HEAVY = UNUSED | {"numpy", "polars", "scipy"}
REPORT = "print(*sys.modules, file=sys.stderr)"
MAIN = "from plurank.cli import main; main()"


def loaded_after(program, *args, **options):
    code = f"import atexit, sys; atexit.register(lambda: {REPORT}); {program}"
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a small file of votes, a model of them, and questions."""
    place = tmp_path_factory.mktemp("startup")
    made = plurank.simulate(30, 4, 1, 10, random_state=0).comparisons
    made.to_frame().select("user", "winner", "loser").write_csv(place / "votes.csv")
    plurank.MixedRanking(1, concentration=1.0, score_scale=1.0, random_state=0).fit(made).save(place / "m.plurank")
    (place / "pairs.csv").write_text("user,left,right\n0,1,2\n")
    (place / "orders.csv").write_text("user,item,rank\n0,1,2\n0,2,1\n")
    return place


@pytest.fixture
def loaded_by(folder):
    """Return what a command has loaded when it is done."""
    return lambda command: loaded_after(MAIN, *command.split(), cwd=folder)


def test_import_plurank_loads_nothing_heavy():
    loaded = loaded_after("import plurank")
    assert "plurank" in loaded
    assert loaded & {*HEAVY, *TERMINAL, "importlib.metadata"} == set()


@pytest.mark.parametrize("args", [["--help"], ["fit", "--help"], ["serve", "--help"]])
def test_help_loads_nothing_heavy(args):
    loaded = loaded_after(MAIN, *args)
    assert "plurank.cli.program" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize(
    "command",
    [
        "show m.plurank",
        "show m.plurank --user 0",
        "show votes.csv",
        "predict m.plurank pairs.csv",
        "evaluate m.plurank votes.csv",
        "transform m.plurank votes.csv -o weights.csv",
        "simulate -o simulated.csv --users 5 --items 4 -k 1 --per-user 5",
        "convert orders.csv -o converted.csv",
        "fetch",
    ],
)
def test_commands_that_do_not_fit_load_no_more_than_they_need(loaded_by, command):
    loaded = loaded_by(command)
    assert "polars" in loaded
    assert loaded & {*UNUSED, *PARTS_OF_SCIPY} == set()


@pytest.mark.parametrize(
    "command",
    [
        "fit votes.csv -k 2 --max-iter 2 -o new.plurank",
        "select votes.csv --candidates 1 --mixing probability",
        "update m.plurank votes.csv -o newer.plurank",
    ],
)
def test_commands_that_fit_load_no_more_than_they_need(loaded_by, command):
    loaded = loaded_by(command)
    assert "plurank.mixed.estimator" in loaded
    assert loaded & {*UNUSED, *PARTS_OF_SCIPY, SPECIAL} == set()


@pytest.mark.parametrize("feedback", [None, "answers.db"])
def test_a_service_loads_no_more_than_it_needs(folder, feedback):
    program = (
        "from plurank.web.application import create_app; from plurank.web.configuration import ServiceSettings; "
        f"create_app('m.plurank', ServiceSettings(feedback={feedback!r})).state.service.close()"
    )
    loaded = loaded_after(program, cwd=folder)
    assert "fastapi" in loaded
    assert loaded & {*PARTS_OF_SCIPY, SPECIAL, "altair", "psycopg", "sqlalchemy", "vl_convert"} == set()


def test_models_load_nothing_of_scikit_learn_where_it_is_not_in_use(folder):
    program = (
        "import plurank; m = plurank.load('m.plurank'); m.get_params(); m.set_params(tol=1e-3); repr(m); "
        "m.transform(plurank.read_comparisons('votes.csv'))"
    )
    assert loaded_after(program, cwd=folder) & UNUSED == set()


def test_the_version_loads_the_native_library_and_nothing_else_that_is_heavy():
    assert loaded_after(MAIN, "--version") & HEAVY == {"numpy"}


def test_listing_the_public_names_loads_nothing_heavy():
    assert loaded_after("import plurank; assert 'MixedRanking' in dir(plurank)") & HEAVY == set()


def test_every_public_name_is_in_the_stub_once_and_is_there():
    stub = Path(plurank.__file__).with_suffix(".pyi").read_text()
    names = re.findall(r"^from \.\S* import (\w+) as \1$", stub, re.MULTILINE)
    assert sorted(names) == sorted({*names}) == sorted(plurank.__all__) == dir(plurank)
    assert all(hasattr(plurank, name) for name in plurank.__all__)
    assert plurank.__version__.count(".") >= 2
    with pytest.raises(AttributeError, match="module 'plurank' has no attribute 'no_such_name'"):
        plurank.no_such_name  # noqa: B018

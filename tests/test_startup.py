"""What is loaded before there is work to do: nothing that takes long."""

import subprocess
import sys

import pytest

import plurank

HEAVY = {
    "altair", "dask", "distributed", "fastapi", "jinja2", "narwhals", "numpy", "pandas", "polars", "pooch",
    "pyarrow", "scipy", "sklearn", "sqlalchemy", "uvicorn", "vl_convert",
}  # fmt: skip
REPORT = "print(*sys.modules, file=sys.stderr)"


def loaded_after(program, *args):
    code = f"import atexit, sys; atexit.register(lambda: {REPORT}); {program}"
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_import_plurank_loads_nothing_heavy():
    loaded = loaded_after("import plurank")
    assert "plurank" in loaded
    assert loaded & {*HEAVY, "rich", "typer"} == set()


@pytest.mark.parametrize("args", [["--help"], ["fit", "--help"], ["serve", "--help"]])
def test_help_loads_nothing_heavy(args):
    loaded = loaded_after("from plurank.cli import main; main()", *args)
    assert "plurank.cli.app" in loaded
    assert loaded & HEAVY == set()


def test_the_version_loads_the_native_library_and_nothing_else_that_is_heavy():
    assert loaded_after("from plurank.cli import main; main()", "--version") & HEAVY == {"numpy"}


def test_listing_the_public_names_loads_nothing_heavy():
    assert loaded_after("import plurank; assert 'MixedRanking' in dir(plurank)") & HEAVY == set()


def test_every_public_name_has_a_home_and_is_there():
    assert {*plurank._HOMES, "datasets"} == set(plurank.__all__) == set(dir(plurank))
    assert all(hasattr(plurank, name) for name in plurank.__all__)
    with pytest.raises(AttributeError, match="module 'plurank' has no attribute 'no_such_name'"):
        plurank.no_such_name  # noqa: B018

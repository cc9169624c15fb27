"""What an extra has is not needed by anything else, and where it is missing a sentence says how to install it.

Each case is a process of its own in which packages cannot be imported, as if they were not installed.
"""

import subprocess
import sys

import pytest

import plurank
from plurank.exceptions import MissingExtraError, extra
from plurank.web.database import FeedbackStore, GivenAnswer

REPORT = ("vl_convert", "jinja2", "markupsafe")
WEB = ("fastapi", "starlette", "uvicorn", "cachetools")
OTHERS = ("altair", "pooch", "requests", "dask", "distributed", "psycopg", "sklearn", "pandas", "pyarrow")
HIDE = "import sys; sys.modules.update(dict.fromkeys({hidden!r})); "


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A small file of votes, a model of them, and questions."""
    folder = tmp_path_factory.mktemp("extras")
    made = plurank.simulate(30, 4, 1, 10, random_state=0)
    made.comparisons.to_frame().select("user", "winner", "loser").write_csv(folder / "votes.csv")
    plurank.MixedRanking(1, concentration=1.0, score_scale=1.0, random_state=0).fit(made.comparisons).save(
        folder / "m.plurank"
    )
    (folder / "pairs.csv").write_text("user,left,right\n0,1,2\n")
    store = FeedbackStore(folder / "answers.db", create=True)
    store.add([GivenAnswer("a", "ann", "x", "y")])
    store.close()
    return folder


def without(hidden, program, *args, folder=None):
    command = [sys.executable, "-c", HIDE.format(hidden=hidden) + program, *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def command_without(hidden, *args, folder):
    return without(hidden, "from plurank.cli import main; main()", *args, folder=folder)


@pytest.mark.parametrize(
    "args",
    [
        ("show", "votes.csv"),
        ("show", "m.plurank"),
        ("predict", "m.plurank", "pairs.csv"),
        ("evaluate", "m.plurank", "votes.csv"),
        ("fit", "votes.csv", "-k", "1", "-o", "new.plurank"),
        ("select", "votes.csv", "--candidates", "1", "--mixing", "probability"),
        ("update", "m.plurank", "votes.csv", "-o", "newer.plurank"),
        ("fetch",),
        ("show", "answers.db"),
        ("update", "m.plurank", "--feedback", "answers.db", "-o", "newest.plurank"),
    ],
    ids=" ".join,
)
def test_a_plain_installation_is_enough(files, args):
    done = command_without((*REPORT, *WEB, *OTHERS), *args, folder=files)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("hidden", "args", "sentence"),
    [
        (REPORT, ("report", "m.plurank"), "`plurank report` needs jinja2: pip install 'plurank[report]'."),
        (("vl_convert",), ("report", "m.plurank"), "`plurank report` needs vl_convert: pip install 'plurank[report]'."),
        (WEB, ("serve", "m.plurank"), "`plurank serve` needs uvicorn: pip install 'plurank[web]'."),
        (
            ("psycopg",),
            ("serve", "m.plurank", "--port", "0", "--feedback", "postgresql://me:hunter2@db/votes"),
            "PostgreSQL needs its driver: pip install 'plurank[postgres]'.",
        ),
        (("pooch",), ("fetch", "sushi-a", "-o", "s.csv"), "a data set needs pooch: pip install 'plurank[datasets]'."),
    ],
)
def test_commands_name_the_extra_that_is_missing(files, hidden, args, sentence):
    done = command_without(hidden, *args, folder=files)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert done.stderr.endswith(f"{sentence}\n")
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout


@pytest.mark.parametrize(
    ("hidden", "expression", "sentence"),
    [
        (REPORT, "plurank.write_report", "plurank.write_report needs jinja2: pip install 'plurank[report]'."),
        (
            REPORT,
            "plurank.save_figure(type('Chart', (), {'to_dict': dict})(), 'chart.svg')",
            "a figure needs vl_convert: pip install 'plurank[report]'.",
        ),
        (
            REPORT,
            "plurank.load('m.plurank').plot.rankings()",
            "a figure needs vl_convert: pip install 'plurank[report]'.",
        ),
        (
            ("pooch",),
            "plurank.datasets.fetch('sushi-a')",
            "a data set needs pooch: pip install 'plurank[datasets]'.",
        ),
    ],
)
def test_functions_name_the_extra_that_is_missing(files, hidden, expression, sentence):
    program = f"import plurank\ntry: {expression}\nexcept plurank.MissingExtraError as error: print(error, error.name)"
    done = without(hidden, program, folder=files)
    package = sentence.partition(" needs ")[2].partition(":")[0]
    assert done.stdout.strip().endswith(f"{sentence} {package}"), done.stderr


def test_the_demo_goes_without_its_page_where_the_report_is_not_installed(tmp_path):
    done = command_without(REPORT, "demo", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "as a page with figures: the page needs jinja2: pip install 'plurank[report]'." in done.stdout
    assert not list(tmp_path.iterdir())


def test_reading_answers_needs_no_extra(files):
    program = "import plurank; assert len(plurank.read_feedback('answers.db')) == 1"
    done = without((*WEB, *OTHERS), program, folder=files)
    assert done.returncode == 0, done.stderr


def test_words_about_rankings_need_no_extra(files):
    program = "import plurank; print(plurank.describe_rankings(plurank.load('m.plurank')))"
    assert without(REPORT, program, folder=files).returncode == 0


def test_an_error_of_our_own_is_not_taken_for_a_missing_extra():
    with pytest.raises(ModuleNotFoundError) as caught, extra("report", "a figure"):
        import plurank.no_such_module  # noqa: F401
    assert not isinstance(caught.value, MissingExtraError)

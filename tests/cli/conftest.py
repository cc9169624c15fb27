"""What the command line's tests share: a runner, and files of a population that is easy to fit."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import plurank
from plurank.cli.program import app

# as if typed in a shell of its own: Ctrl-C works even where the tests themselves run in the background
START = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from plurank.cli import main; main()"


@pytest.fixture
def run(monkeypatch):
    """Run a command in this process, and check its exit code and that no traceback shows."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run_command(*args, code=0):
        result = CliRunner().invoke(app, [str(arg) for arg in args], prog_name="plurank")
        assert result.exit_code == code, result.stdout + result.stderr
        assert "--debug" in args or "Traceback" not in result.stdout + result.stderr
        assert "\x1b" not in result.stdout + result.stderr
        return result

    return run_command


@pytest.fixture
def refuse(run, tmp_path):
    """Run a command that must fail by the user's mistake; give its sentence. Nothing may be written."""

    def run_command(*args):
        before = sorted(path.name for path in tmp_path.iterdir())
        result = run(*args, code=2)
        assert not result.stdout
        assert sorted(path.name for path in tmp_path.iterdir()) == before, "something was written"
        return result.stderr.strip().splitlines()[-1]

    return run_command


@pytest.fixture
def start():
    """Start the command line as a process of its own."""
    started = []

    def start_process(*args, **options):
        command = [sys.executable, "-c", START, *(str(arg) for arg in args)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        started.append(subprocess.Popen(command, **pipes))
        return started[-1]

    yield start_process
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def votes(easy, tmp_path_factory):
    """A file of comparisons."""
    file = tmp_path_factory.mktemp("votes") / "votes.csv"
    easy.comparisons.to_frame().write_csv(file)
    return file


@pytest.fixture(scope="session")
def few():
    """A small simulated population, quick to fit: 2 rankings of 8 items."""
    return plurank.simulate(150, 8, 2, 30, random_state=0, mean_weights=[0.6, 0.4])


@pytest.fixture(scope="session")
def few_votes(few, tmp_path_factory):
    """A small file of comparisons."""
    file = tmp_path_factory.mktemp("few") / "few.csv"
    few.comparisons.to_frame().write_csv(file)
    return file


@pytest.fixture(scope="session")
def mixed_model(few):
    """A MixedRanking of the few."""
    return plurank.MixedRanking(2, mixing="probability", random_state=0).fit(few.comparisons)


@pytest.fixture(scope="session")
def mixed_file(mixed_model, tmp_path_factory):
    """A file of a fitted MixedRanking."""
    file = tmp_path_factory.mktemp("mixed") / "mixed.plurank"
    mixed_model.save(file)
    return file


@pytest.fixture(scope="session")
def model_file(easy_model, tmp_path_factory):
    """A file of a fitted TopicRanking."""
    file = tmp_path_factory.mktemp("model") / "model.plurank"
    easy_model.save(file)
    return file


@pytest.fixture
def write(tmp_path):
    """Write a small file, one line an argument."""

    def write_file(name, *lines):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return tmp_path / name

    return write_file

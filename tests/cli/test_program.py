"""The command as a whole: help, version, errors and exit codes."""

import pytest

import plurank
from plurank.cli import program
from plurank.kernels import library

COMMANDS = (
    "demo", "fit", "select", "show", "explain", "report", "predict", "evaluate", "update", "serve", "simulate", "fetch",
    "convert", "transform", "ingest",
)  # fmt: skip


def fail_with(error):
    def failing(*args, **kwargs):
        raise error

    return failing


def test_help_lists_every_command_with_a_summary(run):
    text = run("--help").stdout
    for command in COMMANDS:
        assert any(line.split()[:1] == [command] and len(line.split()) > 3 for line in text.splitlines())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_an_example(run, command):
    assert f"  plurank {command}" in run(command, "--help").stdout


@pytest.mark.parametrize("command", ["fit", "select", "show", "report", "evaluate", "update", "ingest"])
def test_help_says_which_columns_comparisons_have(run, command):
    assert "user, winner, loser" in run(command, "--help").stdout


def test_help_fits_eighty_columns(run):
    for command in ((), *((name,) for name in COMMANDS)):
        long = [line for line in run(*command, "--help").stdout.splitlines() if len(line) > 80]
        assert not [line for line in long if not line.lstrip().startswith("plurank")], long


def test_version_is_the_packages_and_says_which_kernels_run(run, monkeypatch):
    assert run("--version").stdout == f"plurank {plurank.__version__} (kernels: native, {library.ACTIVE})\n"
    monkeypatch.setattr(library, "ACTIVE", "plain")
    assert run("--version").stdout == f"plurank {plurank.__version__} (kernels: plain Python)\n"


def test_an_unknown_command_is_the_users_mistake(run):
    assert "No such command 'fti'" in run("fti", code=2).stderr


def test_an_unexpected_error_is_internal_and_says_how_to_see_more(run, model_file, monkeypatch):
    monkeypatch.setattr(plurank, "load", fail_with(RuntimeError("boom")), raising=False)
    result = run("show", model_file, code=1)
    told = "Internal error (RuntimeError: boom). This is a bug; rerun with `plurank --debug ...` and please report it."
    assert result.stderr.strip() == told


def test_debug_shows_the_traceback(run, model_file, monkeypatch):
    monkeypatch.setattr(plurank, "load", fail_with(RuntimeError("boom")), raising=False)
    assert "Traceback" in run("--debug", "show", model_file, code=1).stderr


def test_debug_shows_the_traceback_of_the_users_mistakes_too(run, tmp_path):
    result = run("--debug", "show", tmp_path / "missing.csv", code=2)
    assert "Traceback" in result.stderr
    assert result.stderr.strip().endswith("there is no such file.")


def test_an_error_that_is_no_exception_shows_no_traceback_either(run, model_file, monkeypatch):
    class PanicError(BaseException):
        """As a library in another language may raise."""

    monkeypatch.setattr(plurank, "load", fail_with(PanicError("deep down")), raising=False)
    assert "Internal error (PanicError: deep down)" in run("show", model_file, code=1).stderr


def test_too_little_memory_is_said_so(run, model_file, monkeypatch):
    monkeypatch.setattr(plurank, "load", fail_with(MemoryError()), raising=False)
    assert "memory" in run("show", model_file, code=2).stderr


def test_interrupted_work_says_that_nothing_was_written(run, model_file, monkeypatch):
    monkeypatch.setattr(plurank, "load", fail_with(KeyboardInterrupt()), raising=False)
    assert run("show", model_file, code=130).stderr.strip() == "Stopped; nothing was written."


def test_python_warnings_become_sentences(run, model_file, monkeypatch, recwarn):
    import warnings

    load = plurank.load

    def load_with_warning(path):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("stopped early; the estimate is kept.", plurank.ConvergenceWarning, stacklevel=1)
        return load(path)

    monkeypatch.setattr(plurank, "load", load_with_warning, raising=False)
    assert run("show", model_file).stderr == "Warning: stopped early; the estimate is kept.\n"
    assert not recwarn.list


def test_every_command_is_a_function_with_the_commands_name():
    assert tuple(program.COMMANDS) == COMMANDS
    for name, function in program.COMMANDS.items():
        assert function.__name__ == f"{name}_command"

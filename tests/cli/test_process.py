"""The command line as a process of its own: signals and pipes."""

import json
import signal
import sys
import time
from pathlib import Path

import pytest

import plurank
from plurank.cli import error_messages


def test_a_mistake_exits_with_2_and_one_sentence(start, tmp_path):
    process = start("show", tmp_path / "missing.csv")
    output, complaint = process.communicate(timeout=60)
    assert process.returncode == 2
    assert output == ""
    assert complaint == f"Error: {tmp_path / 'missing.csv'}: there is no such file.\n"


@pytest.fixture(scope="module")
def many_votes(tmp_path_factory):
    file = tmp_path_factory.mktemp("many") / "votes.parquet"
    made = plurank.simulate(n_users=1000, n_items=20, n_rankings=3, comparisons_per_user=50, random_state=0)
    made.comparisons.to_frame().write_parquet(file)
    return file


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as a POSIX signal")
@pytest.mark.parametrize(
    ("options", "first"),
    [  # far more than the test has time for
        (("--method", "topic", "--detection", "projections", "--projections", 40_000, "-k", 3), "Fitting"),
        (("--method", "mixed", "-k", 60), "Fitting"),
        ((), "Fitting"),
    ],
)
def test_ctrl_c_during_a_fit_stops_with_130_and_leaves_no_file(start, many_votes, tmp_path, options, first):
    process = start("fit", many_votes, "-o", tmp_path / "model.plurank", *options)
    while not process.stderr.readline().startswith(first):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    output, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint.strip() == "Stopped; nothing was written."
    assert output == ""
    assert list(tmp_path.iterdir()) == []


def stay_busy(seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        pass


def test_ctrl_c_that_falls_into_a_finaliser_is_not_lost(capsys):
    class Gone:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    hook, before = sys.unraisablehook, signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with error_messages.keep_interrupts():
            Gone()  # and at once no more
            with pytest.raises(KeyboardInterrupt):
                stay_busy(seconds=10)
        assert sys.unraisablehook is hook
        assert capsys.readouterr().err == ""
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_stays_ignored_where_it_was_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with error_messages.keep_interrupts():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_that_became_an_import_error_is_still_an_interrupt():
    error = ImportError("cannot import a module whose import was interrupted")
    error.__cause__ = KeyboardInterrupt()
    assert error_messages.explain_error(error)[1] == 130
    assert error_messages.explain_error(SystemError("of its own"))[1] == 1


def test_what_goes_wrong_because_of_an_interrupt_is_an_interrupt():
    error = OSError("Bad file descriptor")  # as of a file that was closed already
    error.__context__ = KeyboardInterrupt()
    assert error_messages.explain_error(error)[1] == 130


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close differently")
def test_a_reader_that_goes_away_is_no_drama(start, model_file):
    process = start("show", model_file)
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk to write to")
def test_a_full_disk_is_said_in_a_sentence(start, model_file):
    with open("/dev/full", "w") as full:
        process = start("show", model_file, "--json", stdout=full)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 2
    assert complaint.startswith("Error: No space left on device")
    assert complaint.count("\n") == 1


def test_output_survives_a_terminal_that_knows_ascii_only(start, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    file = tmp_path / "votes.csv"
    file.write_text("user,winner,loser\nzoë,🍣,🍕\nzoë,🍣,🌮\n", encoding="utf-8")
    process = start("show", file)
    output, complaint = process.communicate(timeout=60)
    assert process.returncode == 0, complaint
    assert "never beaten" in output
    process = start("show", file, "--json")
    assert json.loads(process.communicate(timeout=60)[0])["undefeated_items"] == ["🍣"]

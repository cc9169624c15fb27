"""Data from pipes."""

import gzip
import json
import os
import threading
from types import SimpleNamespace

import polars as pl
import pytest
from typer.testing import CliRunner

from plurank.cli.inputs import find_ending
from plurank.cli.program import app

CSV = b"user,winner,loser\na,x,y\na,y,z\nb,z,x\n"
JSONL = b'{"user": "a", "winner": "x", "loser": "y"}\n'


@pytest.fixture
def pipe():
    """Run a command with something on stdin, and return the result."""

    def run_command(data, *args, code=0):
        result = CliRunner().invoke(app, [str(arg) for arg in args], prog_name="plurank", input=data)
        assert result.exit_code == code, result.stdout + result.stderr
        return result

    return run_command


def parquet(tmp_path):
    pl.DataFrame({"user": ["a"], "winner": ["x"], "loser": ["y"]}).write_parquet(tmp_path / "votes.parquet")
    return (tmp_path / "votes.parquet").read_bytes()


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_comparisons_are_read_from_stdin(pipe, name):
    found = json.loads(pipe(CSV, "show", name, "--json").stdout)
    assert (found["n_users"], found["n_items"], found["n_comparisons"]) == (2, 3, 3)


def test_every_format_is_told_by_how_it_begins(pipe, tmp_path):
    arrays = b"[" + JSONL.strip() + b"]"
    for data in (CSV, gzip.compress(CSV), JSONL, arrays, parquet(tmp_path), b"\xef\xbb\xbf" + CSV):
        assert json.loads(pipe(data, "show", "-", "--json").stdout)["n_comparisons"] >= 1


@pytest.mark.parametrize(
    ("head", "ending"),
    [
        (b"a::b::5::1\n", ".dat"),
        (b"# FILE NAME: x\n# ALTERNATIVE NAME 1: tea\n", ".toi"),
        (b"PK\x03\x04", ".plurank"),
        (b"\x1f\x8bbroken", ".csv.gz"),
        (b"", ".csv"),
    ],
)
def test_other_formats_are_told_too(tmp_path, head, ending):
    (tmp_path / "data").write_bytes(head)
    assert find_ending(tmp_path / "data") == ending


def test_ratings_from_stdin_become_comparisons(pipe, tmp_path):
    pipe(b"user,item,rating\na,x,5\na,y,3\n", "convert", "-", "-o", tmp_path / "votes.csv")
    assert (tmp_path / "votes.csv").read_text() == "user,winner,loser\na,x,y\n"


def test_nothing_on_stdin_is_refused_with_a_sentence(pipe):
    assert "is empty" in pipe(b"", "show", "-", code=2).stderr


def test_what_select_says_next_reads_stdin_again(pipe, few_votes):
    args = ("select", "-", "--candidates", "1", "--mixing", "probability", "--json")
    found = json.loads(pipe(few_votes.read_bytes(), *args).stdout)
    assert found["next"].startswith("plurank fit - -k 1")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_comparisons_are_read_from_a_named_pipe(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(CSV,))
    writer.start()
    found = json.loads(run("show", tmp_path / "pipe", "--json").stdout)
    writer.join()
    assert found["n_comparisons"] == 3


def test_a_terminal_is_no_pipe(refuse, monkeypatch):
    terminal = SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("plurank.cli.inputs.sys", terminal)
    assert "got a terminal" in refuse("show", "-")


def test_nothing_from_a_pipe_is_left_behind(pipe, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pipe(CSV, "show", "-")
    assert not list(tmp_path.iterdir())

"""plurank serve."""

import signal
import socket
import sys

import pytest

import plurank.web


@pytest.fixture
def model(mixed_file, tmp_path):
    file = tmp_path / "model.plurank"
    file.write_bytes(mixed_file.read_bytes())
    return file


@pytest.fixture
def served(monkeypatch):
    """Do all but serve; gives what would have been served."""
    calls = []
    monkeypatch.setattr("plurank.web.server.serve", lambda *args, **options: calls.append((args, options)))
    monkeypatch.delenv("PLURANK_TOKEN", raising=False)
    return calls


def test_serve_says_where_it_listens_and_how_to_stop(run, model, served):
    found = run("serve", model, "--port", 0).stdout
    ((_, settings), options) = served[0]
    assert found == f"Serving {model} at http://127.0.0.1:{options['port']}/. Ctrl-C stops it.\n"
    assert settings.feedback == f"{model}.feedback.db"
    assert settings.token is None
    assert settings.is_local
    assert options["workers"] == 1


def test_options_become_settings(run, model, served, tmp_path, monkeypatch):
    (tmp_path / "token.txt").write_text("secret\n")
    given = ("--workers", 3, "--no-feedback", "--rate", 5, "--allow-origin", "https://a.example", "--port", 0)
    run("serve", model, "--token-file", tmp_path / "token.txt", *given)
    monkeypatch.setenv("PLURANK_TOKEN", "other")
    run("serve", model, "--port", 0, "--feedback", tmp_path / "votes.db")
    first, second = (settings for (_, settings), _ in served)
    assert (first.feedback, first.token, first.rate, first.allow_origin) == (None, "secret", 5.0, "https://a.example")
    assert served[0][1]["workers"] == 3
    assert (first.is_local, second.is_local) == (False, False)
    assert (second.feedback, second.token) == (str(tmp_path / "votes.db"), "other")


def test_a_host_that_others_reach_without_a_token_is_warned_about(run, model, served, monkeypatch):
    assert "Warning: anybody who reaches 0.0.0.0" in run("serve", model, "--host", "0.0.0.0", "--port", 0).stderr
    assert not served[-1][0][1].is_local
    assert "Warning" not in run("serve", model, "--host", "localhost", "--port", 0).stderr
    assert served[-1][0][1].is_local
    monkeypatch.setenv("PLURANK_TOKEN", "secret")
    assert "Warning" not in run("serve", model, "--host", "0.0.0.0", "--port", 0).stderr


def test_serve_refuses_what_cannot_work(refuse, model, served, few_votes, tmp_path):
    assert "not a plurank model" in refuse("serve", few_votes, "--port", 0, "--no-feedback")
    assert "no such file" in refuse("serve", tmp_path / "no.plurank", "--port", 0)
    assert "cannot both be meant" in refuse("serve", model, "--feedback", "x.db", "--no-feedback")
    assert "SQLite file or postgresql" in refuse("serve", model, "--port", 0, "--feedback", "mysql://host/db")
    assert "unable to open" in refuse("serve", model, "--port", 0, "--feedback", tmp_path / "no" / "where.db")
    assert "No such file" in refuse("serve", model, "--token-file", tmp_path / "none.txt")
    assert "cannot listen on no.such.host.invalid" in refuse("serve", model, "--host", "no.such.host.invalid")
    for content in ("", "é"):
        (tmp_path / "token.txt").write_text(content, encoding="utf-8")
        assert "token" in refuse("serve", model, "--token-file", tmp_path / "token.txt")
    assert served == []


def test_a_port_that_is_taken_is_refused(refuse, model, served):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        sentence = refuse("serve", model, "--port", taken.getsockname()[1])
    assert "Is something else running there?" in sentence


def test_a_missing_extra_is_named(refuse, model, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("plurank.web.")]:
        monkeypatch.delitem(sys.modules, name)
        monkeypatch.delattr(plurank.web, name.split(".")[2], raising=False)
    monkeypatch.setitem(sys.modules, "fastapi", None)  # as if it were not installed
    assert "needs fastapi: pip install 'plurank[web]'" in refuse("serve", model)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as a POSIX signal")
def test_ctrl_c_stops_the_service_with_0(start, model):
    process = start("serve", model, "--port", 0)
    assert process.stdout.readline().startswith("Serving ")
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 0, complaint
    assert complaint == ""

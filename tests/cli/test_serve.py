"""plurank serve."""

import signal
import socket
import sys

import pytest

import plurank
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
    monkeypatch.setattr("plurank.web.server.run_server", lambda *args, **options: calls.append((args, options)))
    monkeypatch.delenv("PLURANK_TOKEN", raising=False)
    return calls


def test_serve_says_where_it_listens_and_how_to_stop(run, model, served):
    found = run("serve", model, "--port", 0).stdout
    ((_, settings), options) = served[0]
    where, what = found.splitlines()
    assert where == f"Serving {model} at http://127.0.0.1:{options['port']}/. Press Ctrl-C to stop."
    assert what == "Results are hidden from visitors; use --show-results to show them."
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
    assert "Warning: anybody who can reach 0.0.0.0" in run("serve", model, "--host", "0.0.0.0", "--port", 0).stderr
    assert not served[-1][0][1].is_local
    assert "Warning" not in run("serve", model, "--host", "localhost", "--port", 0).stderr
    assert served[-1][0][1].is_local
    monkeypatch.setenv("PLURANK_TOKEN", "secret")
    assert "Warning" not in run("serve", model, "--host", "0.0.0.0", "--port", 0).stderr


def test_serve_refuses_what_cannot_work(refuse, model, served, few_votes, tmp_path):
    assert "not a plurank model" in refuse("serve", few_votes, "--port", 0, "--no-feedback")
    assert "no such file" in refuse("serve", tmp_path / "no.plurank", "--port", 0)
    assert "exclude each other" in refuse("serve", model, "--feedback", "x.db", "--no-feedback")
    assert "SQLite file or postgresql" in refuse("serve", model, "--port", 0, "--feedback", "mysql://host/db")
    assert "unable to open" in refuse("serve", model, "--port", 0, "--feedback", tmp_path / "no" / "where.db")
    assert "No such file" in refuse("serve", model, "--token-file", tmp_path / "none.txt")
    sentence = refuse("serve", model, "--host", "no.such.host.invalid")
    assert "cannot listen on no.such.host.invalid" in sentence
    assert "another --port (0: a free one) or --host." in sentence
    for content in ("", "é"):
        (tmp_path / "token.txt").write_text(content, encoding="utf-8")
        assert "token" in refuse("serve", model, "--token-file", tmp_path / "token.txt")
    assert served == []


def test_a_port_that_is_taken_is_refused(refuse, model, served):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        sentence = refuse("serve", model, "--port", taken.getsockname()[1])
    assert "Is another program using it?" in sentence


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


def test_a_list_of_ideas_begins_a_survey(run, write, served):
    ideas = write("ideas.txt", "More trees", "", "More benches", "  More light, at night ")
    texts = ("--title", "Our park", "--question", "What first?", "--questions", 12)
    said = run("serve", ideas, "--port", 0, *texts).stderr
    assert f"Once there are answers: plurank fit {ideas}.feedback.db -k 2 -o ideas.plurank" in said
    ((file, settings), _) = served[0]
    assert file == ideas
    assert settings.hides_results
    assert (settings.title, settings.question, settings.questions) == ("Our park", "What first?", 12)
    assert settings.feedback == f"{ideas}.feedback.db"


def test_options_of_surveys_become_settings(run, model, served):
    run("serve", model, "--port", 0, "--show-results", "--show-people", "--allow-frame", "https://town.example")
    run("serve", model, "--port", 0, "--no-feedback")
    run("serve", model, "--port", 0, "--no-feedback", "--hide-results")
    first, second, third = (settings for (_, settings), _ in served)
    assert (first.hides_results, first.show_people, first.allow_frame) == (False, True, "https://town.example")
    assert not second.hides_results
    assert third.hides_results


@pytest.mark.parametrize(
    ("name", "lines", "sentence"),
    [
        ("ideas.txt", ["one"], "at least two items to compare, got 1 item"),
        ("ideas.txt", ["one", "two", "one"], "item 3 is 'one', which came before"),
        ("ideas.txt", ["user,winner,loser", "a,b,c"], "it holds votes. Fit a model to them first"),
        ("ideas.csv", ["a,b", "1,2"], "expected a column of texts"),
        ("ideas.csv", ["user,item,rating", "1,2,3"], "not a plurank model"),
        ("ideas.doc", ["one", "two"], "begin a survey with a list of items"),
    ],
)
def test_what_is_no_list_of_ideas_is_refused(refuse, write, served, name, lines, sentence):
    assert sentence in refuse("serve", write(name, *lines), "--port", 0)
    assert served == []


def test_a_table_of_ideas_has_ids_and_texts(write):
    from plurank.data.items import read_item_list

    assert read_item_list(write("a.csv", "id,text", "7,More trees", "8,", '9,"Trees, big"')) == (
        ["7", "9"],
        ["More trees", "Trees, big"],
    )
    assert read_item_list(write("b.csv", "Idea", "More trees", "Benches")) == (["More trees", "Benches"], None)


def test_the_answers_to_a_survey_are_fitted_from_its_database(run, write, tmp_path):
    from plurank.web.database import FeedbackStore, GivenAnswer

    ideas = ["trees", "benches", "light"]
    store = FeedbackStore(tmp_path / "ideas.txt.feedback.db", create=True)
    pairs = [(one, other) for n, one in enumerate(ideas) for other in ideas[n + 1 :]]
    store.add([
        GivenAnswer(f"{user} {n}", f"user {user}", *(pair if user % 2 else pair[::-1]))
        for user in range(30) for n, pair in enumerate(pairs)
    ])  # fmt: skip
    store.close()
    run("show", tmp_path / "ideas.txt.feedback.db")
    run("fit", tmp_path / "ideas.txt.feedback.db", "-k", 2, "-o", tmp_path / "ideas.plurank")
    assert plurank.load(tmp_path / "ideas.plurank").items_.tolist() == sorted(ideas)
    run("convert", tmp_path / "ideas.txt.feedback.db", "-o", tmp_path / "votes.csv")
    assert (tmp_path / "votes.csv").read_text().splitlines()[0] == "user,winner,loser,received"
    assert len(plurank.read_comparisons(tmp_path / "votes.csv")) == 90

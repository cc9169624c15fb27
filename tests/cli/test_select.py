"""plurank select."""

import json
import shlex

import pytest

import plurank
from plurank.cli import training


@pytest.fixture(scope="module")
def selection(few):
    return plurank.select_rankings(few.comparisons, [1, 2], random_state=0, concentration=0.5, score_scale=1.5)


@pytest.fixture
def run_quickly(run, few_votes, selection, monkeypatch):
    """Run select with an answer that is there already."""

    def run_select(*args):
        monkeypatch.setattr(plurank, "select_rankings", lambda *_, **__: selection, raising=False)
        return run("select", few_votes, *args)

    return run_select


def test_select_asks_the_library_and_gives_all_it_says(run, few, tmp_path):
    some = few.comparisons.block(0, 40)
    some.to_frame().write_csv(tmp_path / "votes.csv")
    asked = ("--candidates", "1-2", "--mixing", "utility", "--json")
    found = json.loads(run("select", tmp_path / "votes.csv", *asked).stdout)
    expected = plurank.select_rankings(some, [1, 2], "utility", random_state=0)
    assert (found["n_rankings"], found["mixing"]) == (expected.n_rankings, expected.mixing)
    assert found["answer"] == expected.answer
    rows = [{name: row[name] for name in expected.table.columns} for row in found["candidates"]]
    assert rows == expected.table.to_dicts()


@pytest.mark.parametrize(("mixing", "ways"), [("both", ("probability", "utility")), ("utility", "utility")])
def test_select_hands_on_every_option(run, few_votes, selection, monkeypatch, mixing, ways):
    asked = []

    def remember(comparisons, candidates, mixing, **options):
        asked.append((len(comparisons), candidates, mixing, options["random_state"]))
        return selection

    monkeypatch.setattr(plurank, "select_rankings", remember, raising=False)
    run("select", few_votes, "--candidates", "1-3,5", "--mixing", mixing, "--seed", 7)
    assert asked == [(4500, [1, 2, 3, 5], ways, 7)]


def test_select_prints_a_table_with_the_choice_marked_and_the_answer(run_quickly, selection, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = run_quickly().stdout
    rows = [line.split() for line in text.splitlines() if "±" in line or " best" in line]
    marked = [row for row in rows if row[0] == "*"]
    way = selection.mixing if selection.n_rankings > 1 else "any"
    assert [row[1:3] for row in marked] == [[str(selection.n_rankings), way]]
    first = selection.table.row(0, named=True)
    for name in ("by_comparison", "by_user", "held_out", "behind"):
        assert f"{first[name]:.4f} ±{first[f'{name}_se']:.4f}" in text
    assert selection.answer in " ".join(text.split())


def test_select_spells_mixings_out_in_a_usual_terminal(run_quickly, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert "…" not in run_quickly().stdout


def test_select_says_which_command_comes_next(run_quickly, few_votes, selection, run, tmp_path):
    following = json.loads(run_quickly("--ties", "drop", "--seed", 3, "--column", "user=user", "--json").stdout)["next"]
    assert following in run_quickly("--ties", "drop", "--seed", 3, "--column", "user=user").stdout
    program, *args = shlex.split(following)
    assert program == "plurank"
    args[args.index("model.plurank")] = tmp_path / "m.plurank"
    run(*args)
    settings = plurank.load(tmp_path / "m.plurank").get_params()
    assert (settings["n_rankings"], settings["mixing"]) == (selection.n_rankings, selection.mixing)
    assert settings["random_state"] == 3
    assert "--ties drop" in following
    assert "--column user=user" in following


def test_select_marks_one_ranking_whatever_the_mixing(selection):
    one = plurank.Selection(1, "utility", "1 ranking.", selection.table)
    chosen = [row["n_rankings"] for row in one.summary()["candidates"] if row["chosen"]]
    assert chosen == [1]


def test_select_says_none_where_there_were_no_new_users(run, write):
    made = plurank.simulate(4, 20, 1, 200, random_state=0).comparisons
    rows = [",".join(map(str, row)) for row in made.to_frame().rows()]
    file = write("votes.csv", "user,winner,loser", *rows)
    args = ("select", file, "--candidates", "1")
    assert json.loads(run(*args, "--json").stdout)["candidates"][0]["by_user"] is None
    assert "none" in run(*args).stdout


@pytest.mark.parametrize(
    ("text", "numbers"), [("4", [4]), ("1-3", [1, 2, 3]), ("5, 2,2", [2, 5]), ("1-2,4-5,2", [1, 2, 4, 5])]
)
def test_candidates_are_numbers_and_ranges(text, numbers):
    assert training.parse_candidates(text) == numbers


@pytest.mark.parametrize("text", ["", "0", "0-3", "3-1", "1-", "-2", "1,,2", "few", "1.5", "²", "1-99999999999"])
def test_select_refuses_candidates_that_are_none(refuse, few_votes, text):
    assert "--candidates must be a list of numbers or ranges" in refuse("select", few_votes, f"--candidates={text}")


def test_select_refuses_more_candidates_than_anybody_waits_for(refuse, few_votes):
    assert "at most 100 numbers, got 5,000" in refuse("select", few_votes, "--candidates", "1-5000")


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "votes.csv is empty"),
        (["user,winner,loser", "a,x,y", "b,y,x"], "too few to hold some out"),
        (["user,winner,loser", "a,x,y", "b,z,z"], "row 2: an item is compared with itself"),
        (["comment-id,comment-body", "0,Buses"], "--items comments.csv"),
    ],
)
def test_select_refuses_bad_data_with_a_sentence(refuse, write, lines, sentence):
    assert sentence in refuse("select", write("votes.csv", *lines))


def test_select_refuses_a_file_that_is_not_there(refuse, tmp_path):
    assert "there is no such file" in refuse("select", tmp_path / "no.csv")

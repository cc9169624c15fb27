"""Votes as pol.is exports them, and texts of items, from the first look to the report."""

import json
from io import StringIO

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import plurank
from plurank.cli.tables import favourites_table

TEXTS = [f"Statement {n} says that buses should run more often, and later at night, number {n}" for n in range(8)]


@pytest.fixture(scope="module")
def export(few, tmp_path_factory):
    """An export as of pol.is: each of 60 people votes on seven of eight statements; the last one is moderated out."""
    folder = tmp_path_factory.mktemp("export")
    rng = np.random.default_rng(0)
    places = np.argsort(few.rankings, axis=1)
    rows = []
    for person in range(60):
        camp = person % 2
        for item in rng.permutation(8)[:7]:
            agrees = places[camp, item] < 3 + rng.integers(2)
            rows.append((len(rows), item, person, 1 if agrees else -1 if rng.random() < 0.8 else 0))
    rows.append((len(rows), 0, 60, 1))  # somebody who voted once
    names = ["timestamp", "comment-id", "voter-id", "vote"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(folder / "votes.csv")
    comments = {"comment-id": range(8), "moderated": [1] * 7 + [-1], "comment-body": TEXTS}
    pl.DataFrame(comments).write_csv(folder / "comments.csv")
    return folder


@pytest.fixture(scope="module")
def votes_of(export):
    return export / "votes.csv", "--items", export / "comments.csv"


@pytest.fixture(scope="module")
def texts_model(export, tmp_path_factory):
    """A model of the export, with texts."""
    from plurank.data.readers import read_any

    file = tmp_path_factory.mktemp("texts") / "model.plurank"
    made = read_any(export / "votes.csv", items=export / "comments.csv")
    plurank.MixedRanking(2, mixing="probability", concentration=1.0, score_scale=1.0, random_state=0).fit(made).save(
        file
    )
    return file


def flat(text):
    return " ".join(text.split())


def test_show_reads_votes_and_says_how_many_of_whom(run, votes_of):
    shown = run("show", *votes_of)
    said = flat(shown.stdout)
    assert "users 61 items 7 of 8 votes 373" in said
    assert "values -1 to 1" in said
    assert "1 of 8 items left out: hidden by moderation." in said
    assert "1 of 61 users cast a single vote" in said


@pytest.mark.filterwarnings("ignore::plurank.ConvergenceWarning")  # chains are short
def test_fit_keeps_texts_votes_and_what_was_left_out(run, votes_of, tmp_path):
    fitted = run("fit", *votes_of, "-k", 2, "--max-iter", 10, "-o", tmp_path / "m")
    assert "Statement" in fitted.stdout
    assert "61 users, 7 items, 373 votes" in flat(fitted.stderr)
    assert "1 of 61 users cast a single vote" in flat(fitted.stderr)
    model = plurank.load(tmp_path / "m")
    assert model.item_texts_ == TEXTS[:7]
    assert model.camp_votes_ is not None, "levels of agreement reach the model"
    assert model.camp_votes_.sum() == model.user_votes_.sum()
    assert {entry["reason"] for entry in model.data_["excluded"]} >= {"hidden by moderation"}
    assert len(model.users_) == 61, "somebody with a single vote stays"


def test_json_has_ids_and_whole_texts(run, texts_model):
    found = json.loads(run("show", texts_model, "--json").stdout)
    for ranking in found["rankings"]:
        assert [TEXTS[item] for item in ranking["items"]] == ranking["texts"]
    assert all(entry["text"] == TEXTS[entry["item"]] for entry in found["most_divided"])
    assert found["excluded"]
    person = json.loads(run("show", texts_model, "--user", 3, "--json").stdout)
    assert all(entry["text"] == TEXTS[entry["item"]] for entry in person["items"])


def test_tables_cut_texts_between_words(run, texts_model, monkeypatch):
    narrow = run("show", texts_model, "--top", 3).stdout
    cut = [line for line in narrow.splitlines() if "…" in line]
    assert cut
    for line in cut:
        words = line[: line.index("…")].split()
        assert words[-1] in TEXTS[0].replace(",", "").split() or words[-1].isdecimal(), line
    monkeypatch.setenv("COLUMNS", "200")
    assert any(text in run("show", texts_model, "--top", 3).stdout for text in TEXTS)


def test_one_persons_favourites_are_shown_with_texts(run, texts_model):
    assert "Statement" in run("show", texts_model, "--user", 3).stdout


def test_a_model_is_shown_with_other_texts_where_they_are_given(run, texts_model, write):
    other = write("other.csv", "item,text", *[f"{n},Short {n}" for n in range(8)])
    assert "Short 1" in run("show", texts_model, "--items", other).stdout


def test_predictions_have_texts_beside_the_ids(run, texts_model, write):
    file = write("pairs.csv", "user,left,right", "1,0,2", "2,3,1")
    found = json.loads(run("predict", texts_model, file, "--json").stdout)
    assert [(row["left"], row["left_text"]) for row in found] == [("0", TEXTS[0]), ("3", TEXTS[3])]


def test_predictions_of_a_model_without_texts_have_the_usual_columns(run, mixed_file, write):
    file = write("pairs.csv", "user,left,right", "1,0,2")
    assert run("predict", mixed_file, file).stdout.startswith("user,left,right,probability\n")


def test_evaluate_and_report_read_votes_and_leave_out_what_is_hidden(run, votes_of, texts_model, tmp_path, monkeypatch):
    found = json.loads(run("evaluate", texts_model, *votes_of, "--json").stdout)
    assert found["n_users"] == 60
    seen = []
    monkeypatch.setattr(plurank, "write_report", lambda model, page, data, **_: (seen.append(data), page.touch()))
    run("report", texts_model, *votes_of, "-o", tmp_path / "page.html")
    assert (seen[0].n_users, seen[0].n_items) == (60, 7)


def test_evaluating_votes_on_hidden_statements_is_refused_without_the_table(refuse, export, texts_model):
    assert "does not know 1 of the items" in refuse("evaluate", texts_model, export / "votes.csv")


def test_update_reads_votes_and_keeps_texts(run, votes_of, texts_model, tmp_path):
    run("update", texts_model, *votes_of, "-o", tmp_path / "newer.plurank")
    assert plurank.load(tmp_path / "newer.plurank").item_texts_ == TEXTS[:7]


def test_weights_are_written_as_csv_and_as_parquet(run, votes_of, texts_model, tmp_path):
    for name in ("w.csv", "w.parquet"):
        run("transform", texts_model, *votes_of, "-o", tmp_path / name)
    table = pl.read_csv(tmp_path / "w.csv")
    assert table.columns == ["user", "ranking 1", "ranking 2"]
    assert table.equals(pl.read_parquet(tmp_path / "w.parquet"))


def test_weights_are_refused_under_another_ending(refuse, votes_of, texts_model, tmp_path):
    assert ".csv" in refuse("transform", texts_model, *votes_of, "-o", tmp_path / "w.txt")


def test_the_next_command_of_select_repeats_the_table_of_items(run, votes_of):
    found = json.loads(run("select", *votes_of, "--candidates", "1", "--mixing", "probability", "--json").stdout)
    assert found["next"].endswith(f"--items {votes_of[2]}")


def test_a_store_gives_its_model_texts_and_refuses_hidden_items(run, refuse, few_votes, write, tmp_path):
    run("ingest", few_votes, "-o", tmp_path / "votes.store")
    table = write("items.csv", "item,text", *[f"{n},Text {n}" for n in range(8)])
    run("fit", tmp_path / "votes.store", "-k", 1, "-o", tmp_path / "m", "--items", table)
    assert plurank.load(tmp_path / "m").item_texts_ == [f"Text {n}" for n in range(8)]
    hiding = write("hidden.csv", "item,hidden", *[f"{n},{n == 0}" for n in range(8)])
    sentence = refuse("fit", tmp_path / "votes.store", "-k", 1, "-o", tmp_path / "n", "--items", hiding)
    assert "items cannot be left out of a store" in sentence


def test_ties_are_explained(run, write):
    file = write("arena.csv", "judge,left,right,winner", "a,x,y,left", "a,x,y,tie", "b,y,z,tie", "b,z,x,right")
    text = run("show", file).stdout
    assert "4 votes; 2 ties count half a win each way" in text
    assert "comparisons   6" in text
    assert "1 of 4 rows left out: ties" not in text
    dropped = flat(run("show", file, "--ties", "drop").stdout)
    assert "2 of 4 rows left out: ties." in dropped


def test_an_item_of_enormous_length_does_not_flood_the_terminal(run, write):
    name = "x" * 200_000
    rows = [f"{user},{a},{b}" for user in range(9) for a, b in ((name, "b"), (name, "c"), ("b", "c"))]
    shown = run("show", write("votes.csv", "user,winner,loser", *rows))
    assert len(shown.stdout) + len(shown.stderr) < 3000


def test_a_favourite_of_enormous_length_does_not_flood_the_terminal():
    item = {"rank": 1, "item": "x", "text": "word " * 40_000, "score": 0.5}
    Console(width=80, file=(written := StringIO())).print(favourites_table([item]))
    assert len(written.getvalue()) < 3000
    assert "…" in written.getvalue()

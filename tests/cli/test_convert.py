"""plurank convert."""

import json

import polars as pl
import pytest

import plurank

RATINGS = ("userId,movieId,rating", "1,10,5", "1,20,3", "1,30,3", "2,10,1", "2,30,4", "3,20,2")


def converted(path):
    return {tuple(row) for row in pl.read_csv(path, infer_schema=False).rows()}


def test_convert_compares_what_a_user_rated_differently(run, write, tmp_path):
    run("convert", write("ratings.csv", *RATINGS), "-o", tmp_path / "votes.csv")
    assert converted(tmp_path / "votes.csv") == {("1", "10", "20"), ("1", "10", "30"), ("2", "30", "10")}


def test_convert_can_count_ties_both_ways(run, write, tmp_path):
    run("convert", write("ratings.csv", *RATINGS), "-o", tmp_path / "votes.csv", "--ties", "both")
    assert {("1", "20", "30"), ("1", "30", "20")} <= converted(tmp_path / "votes.csv")


def test_convert_draws_some_of_the_pairs_with_a_seed(run, write, tmp_path):
    lines = [f"{user},{item},{(user * item) % 7}" for user in range(1, 5) for item in range(1, 20)]
    file = write("ratings.csv", "user,item,rating", *lines)
    args = ("--pairs", "partial", "--pairs-per-rating", 2, "--seed", 3)
    run("convert", file, "-o", tmp_path / "votes.parquet", *args)
    frame = plurank.read_ratings(file)
    expected = plurank.Comparisons.from_ratings(frame, "partial", random_state=3, pairs_per_rating=2)
    assert pl.read_parquet(tmp_path / "votes.parquet").equals(expected.to_frame())


def test_convert_reads_a_rank_column_as_rankings_where_1_is_best(run, write, tmp_path):
    file = write("ranks.csv", "voter,item,rank", "a,x,1", "a,y,2", "a,z,3")
    run("convert", file, "-o", tmp_path / "votes.csv")
    assert converted(tmp_path / "votes.csv") == {("a", "x", "y"), ("a", "x", "z"), ("a", "y", "z")}


def test_convert_reads_preflib_ballots(run, write, tmp_path):
    file = write("ballots.toi", "# ALTERNATIVE NAME 1: tea", "# ALTERNATIVE NAME 2: cocoa", "2: 1,{2,3}")
    found = json.loads(run("convert", file, "-o", tmp_path / "votes.csv", "--json").stdout)
    sizes = {"n_users": 2, "n_items": 3, "n_comparisons": 4}
    assert found == {"output": str(tmp_path / "votes.csv"), "kind": "rankings", **sizes, "excluded": []}
    assert ("1", "tea", "cocoa") in converted(tmp_path / "votes.csv")


@pytest.mark.parametrize(("role", "first"), [("rating", "y"), ("rank", "x")])
def test_convert_believes_the_role_that_a_column_is_given(run, write, tmp_path, role, first):
    file = write("values.csv", "user,item,value", "a,x,1", "a,y,2")
    run("convert", file, "-o", tmp_path / "votes.csv", "--column", f"{role}=value")
    assert pl.read_csv(tmp_path / "votes.csv")["winner"].to_list() == [first]


def test_what_convert_writes_fit_reads(run, write, tmp_path):
    lines = [f"{user},{item},{5 - abs(item - user % 2 * 4)}" for user in range(60) for item in range(5)]
    run("convert", write("ratings.csv", "user,item,rating", *lines), "-o", tmp_path / "votes.csv")
    run("fit", tmp_path / "votes.csv", "-k", 2, "-o", tmp_path / "m")


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["user,winner,loser", "a,x,y"], "these are already comparisons"),
        (["user,item,rating", "a,x,5", "a,y,good"], "in.csv: row 2: rating is not a number"),
        (["user,item,rating", "a,x,5", "a,x,4"], "row 2: the user already has a rating for this item"),
        (["user,item,rating", "a,x,5", "b,y,4"], "nothing to compare"),
        (["user,thing,rating", "a,x,5"], "--column item=NAME"),
        (["comment-id,comment-body", "0,Buses"], "--items comments.csv"),
        (["user,item,rating,rank", "a,x,5,1"], "these could be ratings or rankings"),
        ([], "in.csv is empty"),
    ],
)
def test_convert_refuses_bad_data_with_a_sentence(refuse, write, tmp_path, lines, sentence):
    assert sentence in refuse("convert", write("in.csv", *lines), "-o", tmp_path / "votes.csv")


def test_convert_refuses_an_output_it_cannot_write(refuse, write, tmp_path):
    file = write("ratings.csv", *RATINGS)
    assert "expected a name ending in" in refuse("convert", file, "-o", tmp_path / "votes.txt")
    assert "also the input" in refuse("convert", file, "-o", file)


def test_convert_says_who_and_what_is_left_out_and_counts_items_as_show_does(run, write, tmp_path):
    file = write("ratings.csv", "user,item,rating", "a,x,5", "a,y,3", "b,z,4", "c,x,2", "c,y,2", "d,y,")
    args = ("convert", file, "-o", tmp_path / "votes.csv")
    text = " ".join(run(*args).stdout.split())
    assert "1 comparison of 1 user and 2 items, from ratings." in text
    assert "1 of 3 items left out: in no comparison." in text
    assert "1 of 6 rows left out: without a rating." in text
    reasons = "1 gave no rating, 1 rated a single item, 1 gave the same rating throughout"
    assert f"3 of 4 users left out: {reasons}." in text
    found = json.loads(run(*args, "--json").stdout)
    shown = json.loads(run("show", tmp_path / "votes.csv", "--json").stdout)
    assert found["n_items"] == shown["n_items"] == 2
    assert sum(entry["n"] for entry in found["excluded"] if entry["what"] == "user") == 3


def test_convert_reads_a_table_with_one_column_an_item(run, write, tmp_path):
    run("convert", write("wide.csv", "user,tea,milk,rum", "a,1,2,", "b,,5,1"), "-o", tmp_path / "votes.csv")
    assert converted(tmp_path / "votes.csv") == {("a", "milk", "tea"), ("b", "milk", "rum")}


def test_convert_calls_votes_votes(run, write, tmp_path):
    file = write("votes.csv", "timestamp,comment-id,voter-id,vote", "1,0,7,1", "2,1,7,-1")
    assert "from votes." in run("convert", file, "-o", tmp_path / "pairs.csv").stdout


def test_a_table_with_one_column_per_item_becomes_ratings_that_are_fitted(run, tmp_path):
    (tmp_path / "wide.csv").write_text("user,tea,milk,juice\nann,5,3,\nbob,2,,4\ncat,,,\n")
    result = run("convert", tmp_path / "wide.csv", "-o", tmp_path / "long.csv", "--to", "ratings")
    assert "4 ratings" in result.stdout
    assert "empty cells" in result.stdout
    rows = pl.read_csv(tmp_path / "long.csv").sort("user", "item").rows()
    assert rows == [("ann", "milk", 3.0), ("ann", "tea", 5.0), ("bob", "juice", 4.0), ("bob", "tea", 2.0)]
    found = json.loads(
        run("convert", tmp_path / "wide.csv", "-o", tmp_path / "long.csv", "--to", "ratings", "--json").stdout
    )
    assert (found["kind"], found["n_ratings"], found["n_users"]) == ("ratings", 4, 2)


def test_rankings_are_written_as_they_are(run, tmp_path):
    (tmp_path / "ballots.csv").write_text("user,item,rank\nann,tea,1\nann,milk,2\nbob,juice,1\n")
    run("convert", tmp_path / "ballots.csv", "-o", tmp_path / "all.csv", "--to", "ratings")
    frame = pl.read_csv(tmp_path / "all.csv")
    assert frame.columns == ["user", "item", "rank"]
    assert set(frame.iter_rows()) == {("ann", "tea", 1), ("ann", "milk", 2), ("bob", "juice", 1)}


@pytest.mark.parametrize(
    "option",
    [
        ("--offered", "all"), ("--pairs", "partial"), ("--ties", "both"), ("--pairs-per-rating", "3"),
        ("--include-suspicious",), ("--seed", "1"),
    ],
)  # fmt: skip
def test_options_of_comparisons_are_not_taken_silently_for_ratings(run, tmp_path, option):
    (tmp_path / "ballots.csv").write_text("user,item,rank\nann,tea,1\nann,milk,2\nbob,juice,1\n")
    output = tmp_path / "all.csv"
    message = run("convert", tmp_path / "ballots.csv", "-o", output, "--to", "ratings", *option, code=2).stderr
    assert f"{option[0]} goes with --to comparisons" in " ".join(message.split())
    assert not output.exists()

"""Comparisons from whatever a file holds."""

import gzip
import json

import polars as pl
import pytest

from plurank import (
    Comparisons,
    DataError,
    read_comparisons,
    read_ratings,
)
from plurank.data import readers as forms
from plurank.data.readers import find_form, read_any

POLIS = """timestamp,datetime,comment-id,voter-id,vote
1,d,0,7,-1
2,d,1,7,-1
3,d,0,7,1
4,d,1,8,1
5,d,2,9,1
6,d,0,9,1
"""
MATRIX = """participant,group-id,n-comments,n-votes,n-agree,n-disagree,0,1,2
7,0,0,2,1,1,1,-1,
8,0,0,1,1,0,,1,
9,0,0,2,2,0,1,,1
10,0,0,0,0,0,,,
"""


def counted(comparisons):
    return {(entry.what, entry.reason): (entry.n, entry.total) for entry in comparisons.excluded}


def test_votes_of_polis_are_compared_and_plus_1_agrees(file):
    made = read_any(file("votes.csv", POLIS))
    assert made.to_frame().rows() == [(7, 0, 1)], "7 changed their mind: they agree with 0 and disagree with 1"
    assert made.ratings.kind == "vote"
    assert counted(made) == {
        ("row", "votes that the same person changed later"): (1, 6),
        ("user", "cast a single vote"): (1, 3),
        ("user", "gave the same answer throughout"): (1, 3),
    }


def test_the_matrix_of_polis_is_compared_and_people_without_a_vote_are_counted(file):
    made = read_any(file("participants-votes.csv", MATRIX))
    assert made.to_frame().rows() == [(7, 0, 1)]
    assert counted(made)["user", "gave no vote"] == (1, 4)
    assert made.n_users + sum(entry.n for entry in made.excluded if entry.what == "user") == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ratings.csv", "user,item,rating\na,x,5\na,y,3\n"),
        ("ranks.csv", "user,item,rank\na,x,1\na,y,2\n"),
        ("ratings.dat", "a::x::5::1\na::y::3::1\n"),
        ("votes.csv", "user,winner,loser\na,x,y\n"),
        ("votes.json", '[{"user": "a", "winner": "x", "loser": "y", "talk": [{"role": "me"}]}]'),
    ],
)
def test_any_form_becomes_comparisons(file, name, text):
    assert read_any(file(name, text)).to_frame().rows() == [("a", "x", "y")]


def test_ballots_become_comparisons(file):
    made = read_any(file("ballots.soi", "# ALTERNATIVE NAME 1: tea\n# ALTERNATIVE NAME 2: milk\n2: 1,2\n"))
    assert made.to_frame().rows() == [(1, "tea", "milk"), (2, "tea", "milk")]


def test_ratings_read_here_are_those_read_and_compared_by_hand(file):
    rows = [f"{user},{item},{user * item % 5}" for user in range(9) for item in range(1, 6)]
    path = file("ratings.csv", "\n".join(["user,item,rating", *rows]))
    made, expected = read_any(path), Comparisons.from_ratings(read_ratings(path))
    assert made.to_frame().equals(expected.to_frame())
    assert made.excluded == expected.excluded


@pytest.mark.parametrize(
    ("names", "given", "form"),
    [
        (["user", "winner", "loser"], None, "comparisons"),
        (["user", "item", "rating"], None, "ratings"),
        (["user", "item", "position"], None, "rankings"),
        (["user", "item", "rating", "rank"], {"rank": "rank"}, "rankings"),
        (["user", "item", "rating", "left", "right", "winner"], {"left": "left"}, "comparisons"),
        (["who", "what", "liked"], {"rating": "liked"}, "ratings"),
        (["user", "tea", "milk"], None, "comparisons"),
    ],
)
def test_the_form_is_told_by_columns_and_roles(names, given, form):
    assert find_form(names, given) == form


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["user", "item", "rating", "left", "right", "winner"], "these could be comparisons or ratings"),
        (["user", "item", "rating", "rank"], "these could be ratings or rankings"),
    ],
)
def test_what_could_be_two_things_is_refused(names, sentence, file):
    with pytest.raises(DataError, match=sentence):
        find_form(names, None)
    with pytest.raises(DataError, match=f"^both.csv: {sentence}"):
        read_any(file("both.csv", ",".join(names) + "\n" + ",".join("1" for _ in names) + "\n"))


def test_statements_are_no_votes_and_the_refusal_says_where_they_go(file):
    path = file("comments.csv", "comment-id,agrees,moderated,comment-body\n0,1,1,Buses\n")
    with pytest.raises(DataError, match=r"^comments.csv: these are statements or ideas.*--items comments"):
        read_any(path)


def test_wide_tables_are_not_guessed_at_where_comparisons_are_wanted(file):
    with pytest.raises(DataError, match=r"expected the columns user, winner.*one column per item.*plurank convert"):
        read_any(file("wide.csv", "user,tea,milk\na,1,2\n"))


def test_errors_name_the_file(file):
    with pytest.raises(DataError, match=r"^ratings.csv: row 2: rating is not a number"):
        read_any(file("ratings.csv", "user,item,rating\na,x,1\na,y,good\n"))


def test_more_pairs_than_memory_should_hold_are_refused(file, monkeypatch):
    monkeypatch.setattr(forms, "MOST_PAIRS", 2)
    path = file("ratings.csv", "user,item,rating\na,x,1\na,y,2\na,z,3\n")
    with pytest.raises(DataError, match=r"all pairs are 3 comparisons .* at most 2 are made.*plurank convert --pairs"):
        read_any(path)


def test_arrays_of_records_are_read_with_nested_values_left_out(tmp_path):
    records = [
        {"judge": "j", "model_a": "m", "model_b": "n", "winner": "model_a", "conversation": [{"role": "user"}]},
        {"judge": "j", "model_a": "m", "model_b": "n", "winner": "tie", "conversation": "none"},
    ]
    (tmp_path / "arena.json").write_text(json.dumps(records))
    (tmp_path / "arena.json.gz").write_bytes(gzip.compress(json.dumps(records).encode()))
    for name in ("arena.json", "arena.json.gz"):
        made = read_comparisons(tmp_path / name)
        assert (made.n_ties, made.total_weight) == (1, 2.0)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"user": "a"}', "expected an array of records"),
        ("[1, 2]", "expected an array of records"),
        ('[{"user": ', "could not be read as JSON"),
        ("[" * 100_000, "could not be read as JSON"),
        ("[]", "there are no comparisons"),
    ],
)
def test_json_of_another_kind_is_refused(file, text, sentence):
    with pytest.raises(DataError, match=sentence):
        read_comparisons(file("arena.json", text))


def test_what_unzips_to_far_more_than_a_table_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("plurank.data.frames.MOST_UNZIPPED", 2**16)
    rows = b"user,winner,loser\n" + b"a,x,y\n" * 100_000
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(rows))
    with pytest.raises(DataError, match=r"bomb.csv.gz unzips to more than .* 100 times its size.*plurank ingest"):
        read_comparisons(tmp_path / "bomb.csv.gz")
    (tmp_path / "fine.csv.gz").write_bytes(gzip.compress(rows[:6018]))
    assert len(read_comparisons(tmp_path / "fine.csv.gz")) == 1000


def test_a_rating_predictor_says_what_it_leaves_out():
    import plurank

    votes = Comparisons.from_arrays(["a", "b"] * 5, ["x", "y"] * 5, ["y", "x"] * 5)
    model = plurank.SingleRanking().fit(votes)
    frame = pl.DataFrame({"user": ["a", "a", "a"], "item": ["x", "y", "z"], "rating": [1, 2, None]})
    with pytest.warns(plurank.SkippedWarning) as caught:
        plurank.RatingPredictor(model, rule="most-likely").fit(frame)
    said = [str(warning.message) for warning in caught]
    assert said == ["1 of 3 items left out: without a rating.", "1 of 3 rows left out: without a rating."]

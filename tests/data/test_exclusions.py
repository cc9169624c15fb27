"""Nobody and nothing is left out without being counted."""

import polars as pl
import pytest

from plurank import Comparisons, read_comparisons
from plurank.data.coded import Exclusion, list_exclusions
from plurank.data.diagnostics import check_summary
from tests.store.ingesting import build


def ratings(*rows):
    return pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row")


def counted(comparisons):
    return {(entry.what, entry.reason): (entry.n, entry.total) for entry in comparisons.excluded}


VOTES = ratings(
    ("ann", "x", 1), ("ann", "y", -1),  # compares
    ("bob", "x", 1),  # one vote
    ("cat", "x", 1), ("cat", "y", 1), ("cat", "z", 1),  # all alike
    ("dan", "z", 0),  # one vote
)  # fmt: skip


def test_people_with_one_vote_and_people_with_equal_votes_are_counted_apart():
    assert counted(Comparisons.from_ratings(VOTES)) == {
        ("user", "cast a single vote"): (2, 4),
        ("user", "gave the same answer throughout"): (1, 4),
    }


def test_what_is_left_out_is_in_the_repr_and_among_the_problems():
    made = Comparisons.from_ratings(VOTES)
    sentence = "3 of 4 users left out: 2 cast a single vote, 1 gave the same answer throughout"
    assert sentence in repr(made)
    assert f"{sentence}." in made.diagnose().problems
    assert made.diagnose().to_dict()["excluded"][0] == {
        "what": "user", "n": 2, "total": 4, "reason": "cast a single vote",
    }  # fmt: skip


def test_nothing_is_said_where_nobody_is_left_out():
    made = Comparisons.from_ratings(VOTES.filter(pl.col("user") == "ann"))
    assert made.excluded == ()
    assert "left out" not in repr(made)


def test_users_and_items_add_up_to_those_of_the_table():
    made = Comparisons.from_ratings(VOTES)
    assert made.n_users + sum(entry.n for entry in made.excluded if entry.what == "user") == VOTES["user"].n_unique()


def test_stars_and_ranks_have_words_of_their_own():
    stars = ratings(("a", "x", 5), ("a", "y", 2), ("b", "x", 4), ("c", "x", 3), ("c", "y", 3))
    assert counted(Comparisons.from_ratings(stars)) == {
        ("user", "rated a single item"): (1, 3),
        ("user", "gave the same rating throughout"): (1, 3),
    }
    ranks = stars.rename({"rating": "rank"})
    assert counted(Comparisons.from_rankings(ranks)) == {
        ("user", "ranked a single item"): (1, 3),
        ("user", "ranked all items alike"): (1, 3),
    }


def test_equal_votes_that_count_both_ways_leave_nobody_out_but_single_voters():
    assert counted(Comparisons.from_ratings(VOTES, ties="both")) == {("user", "cast a single vote"): (2, 4)}


def test_people_of_whom_only_equal_pairs_were_drawn_are_counted():
    rows = [("a", "x", 1), ("a", "y", 1), ("a", "z", 1), ("a", "w", 2), ("b", "x", 1), ("b", "y", 2)]
    for seed in range(50):
        made = Comparisons.from_ratings(ratings(*rows), "partial", random_state=seed, pairs_per_rating=0.5)
        if made.n_users == 1 and made.users[0] == "b":
            assert counted(made) == {("user", "had only equal pairs drawn"): (1, 2)}
            return
    raise AssertionError("no seed drew equal pairs only")


@pytest.mark.parametrize("absent", [None, float("nan"), "", " "])
def test_missing_ratings_are_no_ratings_and_are_counted(absent):
    values = [5, 2, absent, absent, 3] if not isinstance(absent, str) else ["5", "2", absent, absent, "3"]
    frame = pl.DataFrame(
        {"user": ["a", "a", "a", "b", "c"], "item": ["x", "y", "z", "x", "x"], "rating": values}, strict=False
    )
    made = Comparisons.from_ratings(frame)
    assert made.to_frame().rows() == [("a", "x", "y")]
    assert made.items.tolist() == ["x", "y"], "nobody rated z"
    assert counted(made) == {
        ("item", "without a rating"): (1, 3),
        ("row", "without a rating"): (2, 5),
        ("user", "gave no rating"): (1, 3),
        ("user", "rated a single item"): (1, 3),
    }


def test_a_table_with_one_column_an_item_is_read_and_empty_cells_are_no_ratings():
    wide = pl.DataFrame({"user": ["a", "b", "c"], "tea": [1, None, 3], "cocoa": [2, 5, 3], "milk": [None, 1, 3]})
    made = Comparisons.from_ratings(wide)
    assert set(made.to_frame().rows()) == {("a", "cocoa", "tea"), ("b", "cocoa", "milk")}
    assert counted(made) == {
        ("row", "empty cells"): (2, 9),
        ("user", "gave the same rating throughout"): (1, 3),
    }


def test_a_wide_pandas_frame_with_nan_is_read():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"user": [1, 2], "rock": [5.0, float("nan")], "pop": [1.0, 2.0], "jazz": [3.0, 1.0]})
    assert Comparisons.from_ratings(frame).n_users == 2


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ({"name": ["A", "B"]}, "row 1 of 'name' is 'A'. Remove columns that are not items"),
        ({"user": ["a", "a"]}, "the user has more than one row"),
    ],
)
def test_wide_tables_that_are_none_are_refused(extra, sentence):
    with pytest.raises(ValueError, match=sentence):
        Comparisons.from_ratings(pl.DataFrame({"user": ["a", "b"], "tea": [1, 2], "milk": [2, 1], **extra}))


def test_dropped_ties_and_invalid_votes_are_counted_once_each():
    frame = pl.DataFrame(
        {
            "user": ["a"] * 5,
            "left": ["x"] * 5,
            "right": ["y"] * 5,
            "winner": ["left", "tie", "right", "tie", "left"],
            "valid": [True, True, False, False, True],
        }
    )
    dropped = Comparisons.from_frame(frame, ties="drop")
    assert counted(dropped) == {("row", "marked as invalid"): (2, 5), ("row", "ties"): (1, 5)}
    assert (len(dropped), dropped.n_ties) == (2, 0)
    halved = Comparisons.from_frame(frame)
    assert (len(halved), halved.n_ties, halved.total_weight) == (4, 1, 3.0)
    assert "3 votes; 1 tie counts half a win each way" in str(halved.diagnose())


@pytest.mark.parametrize("words", [["TRUE", "FALSE"], ["1", "0"], ["yes", "no"], ["t", "F"]])
def test_valid_is_read_in_the_usual_words(words):
    frame = pl.DataFrame({"user": ["a", "a"], "winner": ["x", "y"], "loser": ["y", "x"], "Valid": words})
    assert Comparisons.from_frame(frame).to_frame().rows() == [("a", "x", "y")]


def test_a_valid_column_that_says_something_else_is_refused():
    frame = pl.DataFrame({"user": ["a", "a"], "winner": ["x", "y"], "loser": ["y", "x"], "valid": ["yes", "2030"]})
    with pytest.raises(ValueError, match=r"row 2: valid is neither true nor false \('2030'\)"):
        Comparisons.from_frame(frame)


def test_nothing_but_invalid_votes_is_refused():
    frame = pl.DataFrame({"user": ["a"], "winner": ["x"], "loser": ["y"], "valid": [False]})
    with pytest.raises(ValueError, match="every row is marked as invalid"):
        Comparisons.from_frame(frame)


def test_rows_after_those_left_out_keep_their_numbers():
    frame = pl.DataFrame(
        {"user": ["a", "a", None], "winner": ["x", "y", "x"], "loser": ["y", "x", "y"], "valid": [True, False, True]}
    )
    with pytest.raises(ValueError, match="row 3: user is missing"):
        Comparisons.from_frame(frame)


def test_parts_of_comparisons_leave_the_counts_to_the_whole():
    made = Comparisons.from_ratings(VOTES)
    assert made.select(made.winners >= 0).excluded == ()


def test_a_models_summary_remembers_what_was_left_out():
    found = Comparisons.from_ratings(VOTES).summary()
    assert [entry["n"] for entry in found["excluded"]] == [2, 1]
    check_summary(found)


def test_sentences_have_one_reason_or_several():
    one, two = Exclusion("row", 3, 9, "ties"), Exclusion("row", 1, 9, "marked as invalid")
    assert list_exclusions([one]) == ["3 of 9 rows left out: ties."]
    assert list_exclusions([two, one]) == ["4 of 9 rows left out: 1 marked as invalid, 3 ties."]
    assert list_exclusions([]) == []


def test_items_of_enormous_length_do_not_flood_sentences(tmp_path):
    name = "word " * 40_000
    (tmp_path / "votes.csv").write_text(f"user,winner,loser\na,{name},y\na,{name},z\n")
    problems = read_comparisons(tmp_path / "votes.csv").diagnose().problems
    assert max(map(len, problems)) < 300


def test_a_store_remembers_what_its_ingest_left_out_over_all_batches_and_files(tmp_path):
    lines = [f"u{n % 7},x{n % 3},y{n % 4},{'tie' if n % 5 == 0 else 'left'},{n % 11 != 0}" for n in range(60)]
    ties_only = ["u1,x1,y1,tie,true"] * 20  # whole batches of which nothing is left
    for name, some in (("a.csv", [*lines[:30], *ties_only]), ("b.csv", [*lines[30:], *ties_only])):
        (tmp_path / name).write_text("\n".join(["user,left,right,winner,valid", *some]) + "\n")
    store = build([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "store", ties="drop")
    invalid = sum(n % 11 == 0 for n in range(60))
    ties = sum(n % 5 == 0 and n % 11 != 0 for n in range(60)) + 40
    assert counted(store) == {("row", "marked as invalid"): (invalid, 100), ("row", "ties"): (ties, 100)}
    assert len(store) == 100 - invalid - ties
    assert [entry["n"] for entry in store.summary()["excluded"]] == [invalid, ties]


def test_an_ingest_that_was_stopped_counts_what_is_left_out_once(tmp_path):
    lines = [f"u{n},x,y,{'tie' if n % 3 == 0 else 'left'}" for n in range(30)]
    (tmp_path / "a.csv").write_text("\n".join(["user,left,right,winner", *lines]) + "\n")

    def stop(stage, done):
        if done > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "a.csv", tmp_path / "store", ties="drop", on_progress=stop)
    assert counted(build(tmp_path / "a.csv", tmp_path / "store", ties="drop")) == {("row", "ties"): (10, 30)}


def test_an_ingest_of_nothing_but_invalid_votes_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("user,winner,loser,valid\na,x,y,false\n")
    with pytest.raises(ValueError, match="every row is marked as invalid"):
        build(tmp_path / "a.csv", tmp_path / "store")

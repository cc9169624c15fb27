"""Ratings and rankings as they are: read, sorted, split and given back."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank import Comparisons, DataError, ParameterError, Rankings, Ratings
from plurank.data.readers import read_observations
from plurank.engine.blocks import as_comparisons, as_observations

STARS = {
    "user": ["bob", "ann", "ann", "bob", "ann", "cid"],
    "item": ["tea", "tea", "milk", "cola", "cola", "milk"],
    "rating": [4, 5, 3, 4, 3, 1],
}
BALLOTS = {"user": ["ann", "ann", "ann", "bob", "bob"], "item": ["x", "y", "z", "z", "x"], "rank": [1, 2, 2, 1, 7]}


@pytest.fixture
def ratings():
    return Ratings.from_frame(pl.DataFrame(STARS))


@pytest.fixture
def many(rng):
    """Thirty users rate up to 12 of 15 items."""
    rated = [(user, item) for user in range(30) for item in rng.permutation(15)[: 1 + user % 12]]
    rows = [(user, item, int(rng.integers(1, 6))) for user, item in rated]
    return Ratings.from_arrays(*zip(*rows, strict=True))


def rows_of(said):
    return sorted(said.to_frame().rows())


def refusal(make, *args, **options):
    with pytest.raises(DataError) as caught:
        make(*args, **options)
    assert type(caught.value) is DataError
    return str(caught.value)


# ratings


def test_ratings_are_sorted_by_user_and_level(ratings):
    assert ratings.users.tolist() == ["ann", "bob", "cid"]
    assert ratings.items.tolist() == ["cola", "milk", "tea"]
    assert ratings.values.tolist() == [1.0, 3.0, 4.0, 5.0]
    assert ratings.offsets.tolist() == [0, 3, 5, 6]
    assert ratings.codes.tolist() == [0, 1, 2, 0, 2, 1]
    assert ratings.levels.tolist() == [1, 1, 3, 2, 2, 0]
    assert (ratings.n_users, ratings.n_items, ratings.n_levels, len(ratings)) == (3, 3, 4, 6)
    assert ratings.shape == (6, 3)
    assert ratings.kind == "rating"
    assert repr(ratings) == "<Ratings: 3 users, 3 items, 6 ratings (1 to 3 each, median 2)>"


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table])
def test_frames_of_all_libraries_give_the_same_ratings(library, ratings):
    assert rows_of(Ratings.from_frame(library(STARS))) == rows_of(ratings)


def test_other_names_of_columns_are_given_or_known(ratings):
    other = pl.DataFrame({"who": STARS["user"], "movieId": STARS["item"], "joy": STARS["rating"]})
    assert rows_of(Ratings.from_frame(other, columns={"user": "who", "rating": "joy"})) == rows_of(ratings)
    with pytest.raises(ParameterError, match="winner"):
        Ratings.from_frame(other, columns={"winner": "who"})


def test_arrays_cannot_be_changed_and_take_eight_bytes_an_observation(many):
    assert many.codes.nbytes + many.levels.nbytes == 8 * len(many)
    assert many.offsets.nbytes == 8 * (many.n_users + 1)
    with pytest.raises(ValueError, match="read-only"):
        many.levels[0] = 1


def test_a_wide_frame_has_a_rating_in_every_cell_that_is_not_empty():
    wide = pl.DataFrame({"user": ["ann", "bob", "cid"], "tea": [5, 4, None], "milk": [3, None, None]})
    ratings = Ratings.from_frame(wide)
    assert rows_of(ratings) == [("ann", "milk", 3.0), ("ann", "tea", 5.0), ("bob", "tea", 4.0)]
    left_out = {(each.what, each.n, each.reason) for each in ratings.excluded}
    assert left_out == {("row", 3, "empty cells"), ("user", 1, "gave no rating")}
    assert "left out" in repr(ratings)


def test_rows_without_a_rating_are_counted_as_left_out():
    frame = pl.DataFrame({"user": list("aabc"), "item": list("xyxz"), "rating": [1.0, None, float("nan"), 2.0]})
    ratings = Ratings.from_frame(frame)
    assert rows_of(ratings) == [("a", "x", 1.0), ("c", "z", 2.0)]
    counts = {each.what: (each.n, each.total) for each in ratings.excluded}
    assert counts == {"row": (2, 4), "user": (1, 3), "item": (1, 3)}
    assert any("2 of 4 rows" in problem for problem in ratings.problems)
    assert ratings.summary()["excluded"]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"rating": [1, 2]}, "row 2: the user already has a rating for this item"),
        ({"rating": [1, "good"]}, "row 2: rating is not a number"),
        ({"rating": [1, float("inf")]}, "row 2: rating is not a number"),
        ({"rating": [None, None]}, "there are no ratings: all of them are missing"),
        ({"user": [None, "b"]}, "row 1: user is missing"),
        ({"item": ["x", ""], "user": list("ab")}, "row 2: item is missing"),
    ],
)
def test_rows_that_are_not_ratings_are_refused_with_a_sentence(columns, sentence):
    rows = {"user": ["a", "a"], "item": ["x", "x"], "rating": [1, 2]} | columns
    frame = pl.DataFrame({name: pl.Series(values, strict=False) for name, values in rows.items()})
    assert sentence in refusal(Ratings.from_frame, frame)


def test_no_rows_and_no_columns_are_refused():
    assert "there are no ratings" in refusal(Ratings.from_frame, pl.DataFrame({"user": [], "item": [], "rating": []}))
    assert "rating" in refusal(Ratings.from_frame, pl.DataFrame({"user": ["a"], "item": ["x"]}))


def test_arrays_of_unequal_lengths_are_refused_with_their_lengths():
    sentence = refusal(Ratings.from_arrays, ["a", "b"], ["x", "y", "z"], [1, 2])
    assert sentence == "expected columns of the same length, got 2 users, 3 items, 2 ratings."


@pytest.mark.parametrize(
    ("values", "kind"),
    [([1, -1, 0], "vote"), ([1, -1, 1], "vote"), ([1, 0, 1], "rating"), ([1, 1, 1], "rating"), ([-1, 2, 1], "rating")],
)
def test_votes_are_recognised_by_their_values(values, kind):
    ratings = Ratings.from_arrays(["a", "a", "b"], ["x", "y", "x"], values)
    assert ratings.kind == kind
    assert ratings.table().kind == kind


def test_ratings_from_arrays_are_those_of_a_frame(ratings):
    assert rows_of(Ratings.from_arrays(STARS["user"], np.array(STARS["item"]), tuple(STARS["rating"]))) == rows_of(
        ratings
    )


def test_texts_of_items_and_hidden_items_come_from_a_table():
    table = pl.DataFrame({"item": ["tea", "milk", "cola"], "text": ["Tea!", "Milk!", "Cola!"], "hidden": [0, 1, 0]})
    ratings = Ratings.from_frame(pl.DataFrame(STARS), items=table)
    assert ratings.items.tolist() == ["cola", "tea"]
    assert ratings.texts == ("Cola!", "Tea!")
    assert {each.what for each in ratings.excluded} == {"item", "row", "user"}
    assert ratings.to_comparisons().texts == ratings.texts


def test_files_of_ratings_are_read_and_others_refused(file):
    ratings = Ratings.from_file(file("stars.csv", "user,item,rating\n1,7,5\n1,8,3.5\n2,7,\n"))
    assert rows_of(ratings) == [(1, 7, 5.0), (1, 8, 3.5)]  # ids that are all integers are
    assert any(each.what == "row" for each in ratings.excluded)
    wrong = file("votes.csv", "user,winner,loser\n1,a,b\n")
    sentence = refusal(Ratings.from_file, wrong)
    assert sentence.startswith("votes.csv")
    ballots = file("ballots.soc", "# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 2: y\n1: 1,2\n")
    assert refusal(Ratings.from_file, ballots) == "ballots.soc holds rankings, expected ratings."
    assert [row[1:] for row in rows_of(Rankings.from_file(ballots))] == [("x", 1), ("y", 2)]


def test_a_file_is_read_as_what_its_columns_say(file):
    for text, kind in (
        ("user,item,rating\na,x,1\na,y,2\n", Ratings),
        ("user,item,rank\na,x,1\na,y,2\n", Rankings),
        ("user,winner,loser\na,x,y\n", Comparisons),
    ):
        found = read_observations(file("data.csv", text))
        assert type(found) is kind
        assert type(as_observations(found)) is kind
        assert as_observations(found) is found
        frame = pl.read_csv(text.encode())
        assert type(as_observations(frame)) is kind
        assert isinstance(as_comparisons(frame), Comparisons)


def test_a_file_that_could_be_two_things_is_refused(file):
    both = file("both.csv", "user,item,rating,rank\na,x,1,2\n")
    assert "could be ratings or rankings" in refusal(read_observations, both)


def test_ratings_become_the_comparisons_of_their_frame(many, assert_same):
    made, expected = many.to_comparisons(), Comparisons.from_ratings(many.to_frame())
    assert_same(made, expected)
    assert made.rated
    assert made.excluded == expected.excluded
    assert made.excluded  # users with a single rating


def test_users_with_one_rating_or_the_same_throughout_are_pointed_out(ratings):
    assert ratings.diagnose() == ratings.problems == [
        "1 of 3 users rated a single item: that does not help to tell rankings apart.",
        "1 of 3 users gave the same rating throughout.",
    ]  # fmt: skip
    found = ratings.summary()
    assert (found["n_users"], found["n_items"], found["n_comparisons"]) == (3, 3, 6)
    assert (found["min_per_user"], found["median_per_user"], found["max_per_user"]) == (1, 2.0, 3)
    assert found["n_users_with_fewer_than_two"] == 1
    assert found["problems"] == ratings.problems
    assert Ratings.from_arrays(list("aabb"), list("xyxy"), [1, 2, 2, 1]).problems == []


def test_items_that_nobody_rated_any_more_are_listed(ratings):
    rest = ratings.select(ratings.codes != 0)
    assert rest.summary()["uncompared_items"] == ["cola"]
    assert "1 of 3 items got fewer than two ratings." in rest.problems


# parts


def test_selected_ratings_keep_all_items_and_the_users_who_have_any(ratings):
    part = ratings.select(ratings.codes == 1)
    assert rows_of(part) == [("ann", "milk", 3.0), ("cid", "milk", 1.0)]
    assert part.items.tolist() == ratings.items.tolist()
    assert part.values.tolist() == ratings.values.tolist()
    assert rows_of(ratings[1:4]) == rows_of(ratings)[1:2] + rows_of(ratings)[2:4]
    assert rows_of(ratings[[0]]) == [("ann", "cola", 3.0)]


def test_a_block_and_chosen_users_have_their_ratings(many):
    block = many.block(5, 9)
    chosen = np.isin(np.arange(many.n_users), [5, 6, 7, 8])
    assert rows_of(block) == rows_of(many.take_users(chosen))
    assert rows_of(block) == [row for row in rows_of(many) if 5 <= row[0] < 9]
    assert np.shares_memory(block.codes, many.codes)
    assert many.take_users(np.ones(many.n_users, dtype=bool)) is many
    assert len(many.block(3, 3)) == 0
    assert repr(many.block(3, 3)) == "<Ratings: 0 users, 15 items, 0 ratings (none)>"


@pytest.mark.parametrize("by", ["item", "user"])
def test_a_split_is_disjoint_and_complete(many, by):
    train, test = many.split(0.3, by=by, random_state=0)
    assert sorted(rows_of(train) + rows_of(test)) == rows_of(many)
    assert train.items.tolist() == test.items.tolist() == many.items.tolist()
    shared = set(train.users) & set(test.users)
    assert not shared if by == "user" else shared
    assert (np.diff(train.offsets) > 0).all()
    assert (np.diff(test.offsets) > 0).all()
    again, other = many.split(0.3, by=by, random_state=0)[1], many.split(0.3, by=by, random_state=1)[1]
    assert rows_of(again) == rows_of(test) != rows_of(other)


def test_about_the_wanted_share_is_held_out(many):
    _, test = many.split(0.3, random_state=0)
    # a binomial count of about 186 with standard deviation 6
    assert abs(len(test) - 0.3 * len(many)) < 4.5 * np.sqrt(0.21 * len(many))
    assert many.split(0.2, by="user", random_state=0)[1].n_users == 6


def test_splits_that_make_no_sense_are_refused(ratings):
    with pytest.raises(DataError, match=r"cannot hold out 0\.1 of 3 users by user: one side would be empty"):
        ratings.split(0.1, by="user")
    with pytest.raises(ParameterError, match="test_size"):
        ratings.split(1.5)
    with pytest.raises(ParameterError, match="by"):
        ratings.split(0.5, by="comparison")


def test_users_without_ratings_can_be_left_out(ratings):
    silent = Ratings(
        np.array([0, 0, 3, 3]), ratings.codes[:3], ratings.levels[:3], ratings.items, ratings.users, ratings.values
    )
    assert silent.without_silent_users().users.tolist() == ["bob"]
    assert len(silent.without_silent_users()) == 3


LABELS = st.one_of(
    st.integers(-(2**62), 2**62), st.text(min_size=1, max_size=3).filter(lambda text: text.isprintable())
)


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 5), st.integers(0, 5)),
        st.floats(-1e6, 1e6, allow_nan=False),
        min_size=1,
        max_size=25,
    ),
    st.lists(LABELS, min_size=12, max_size=12, unique_by=lambda label: str(label).strip()),
)
def test_a_frame_comes_back_with_the_same_rows(values, labels):
    rows = {(labels[user], labels[6 + item]): value for (user, item), value in values.items()}
    users, items = zip(*rows, strict=True)
    ratings = Ratings.from_arrays(users, items, list(rows.values()))
    again = Ratings.from_frame(ratings.to_frame())
    for found in (ratings, again):
        assert {(user, item): value for user, item, value in found.to_frame().rows()} == rows
        starts = np.diff(found.levels) < 0
        assert set(np.flatnonzero(starts) + 1) <= set(found.offsets.tolist())


# rankings


def test_rankings_are_levels_from_the_worst_with_ties():
    rankings = Rankings.from_frame(pl.DataFrame(BALLOTS))
    assert rankings.kind == "rank"
    assert rankings.items[rankings.codes].tolist() == ["y", "z", "x", "x", "z"]
    assert rankings.levels.tolist() == [0, 0, 1, 0, 1]
    assert rankings.values.shape == (0,)
    assert rows_of(rankings) == [("ann", "x", 1), ("ann", "y", 2), ("ann", "z", 2), ("bob", "x", 2), ("bob", "z", 1)]
    assert repr(rankings) == "<Rankings: 2 users, 3 items, 5 ranked items (2 to 3 each, median 2.5)>"


def test_rankings_become_the_comparisons_of_their_frame(assert_same):
    rankings = Rankings.from_frame(pl.DataFrame(BALLOTS))
    assert_same(rankings.to_comparisons(), Comparisons.from_rankings(pl.DataFrame(BALLOTS)))


def test_rankings_come_back_as_they_were(rng):
    rows = [
        (user, item, place + 1) for user in range(9) for place, item in enumerate(rng.permutation(6)[: 1 + user % 6])
    ]
    rankings = Rankings.from_frame(pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row"))
    assert rows_of(rankings) == sorted((user, int(item), place) for user, item, place in rows)
    assert rows_of(Rankings.from_frame(rankings.to_frame())) == rows_of(rankings)


def test_items_that_were_offered_and_not_ranked_are_below_all_others():
    rankings = Rankings.from_frame(pl.DataFrame(BALLOTS), offered=["x", "y", "z", "new"])
    assert rankings.items.tolist() == ["x", "y", "z", "new"]
    assert rankings.n_unranked == 3
    assert rankings.to_frame().rows()[:2] == [("ann", "new", None), ("ann", "y", 2)]
    assert [row for row in rankings.to_frame().rows() if row[0] == "bob"] == [
        ("bob", "y", None), ("bob", "new", None), ("bob", "x", 2), ("bob", "z", 1),
    ]  # fmt: skip
    assert repr(rankings).endswith("5 ranked items (2 to 3 each, median 2.5), 3 offered and not ranked>")
    won = {(user, winner, loser) for user, winner, loser in rankings.to_comparisons().to_frame().rows()}
    assert ("bob", "x", "new") in won
    assert ("bob", "y", "new") not in won


def test_whoever_ranked_all_that_was_offered_has_no_item_that_was_not_ranked():
    ballots = pl.DataFrame({"user": list("aabbb"), "item": list("xyxyz"), "rank": [1, 2, 3, 2, 1]})
    rankings = Rankings.from_frame(ballots, offered="all")
    assert rankings.n_unranked == 1
    assert rankings.to_frame().rows() == [
        ("a", "z", None), ("a", "y", 2), ("a", "x", 1), ("b", "x", 3), ("b", "y", 2), ("b", "z", 1),
    ]  # fmt: skip
    assert rankings.per_user == (2, 2.5, 3)
    assert rows_of(rankings.without_unranked()) == sorted(ballots.rows())
    assert rankings.without_unranked().n_unranked == 0


def test_parts_of_rankings_count_their_own_items_that_were_not_ranked():
    rankings = Rankings.from_frame(pl.DataFrame(BALLOTS), offered=["x", "y", "z", "new"])
    assert rankings.block(0, 1).n_unranked == rankings.take_users(np.array([True, False])).n_unranked == 1
    assert rankings.select(rankings.levels > 0).n_unranked == 0
    assert rankings.select(rankings.levels == 0).n_unranked == 3
    assert "2 ranked items (2 each), 2 offered and not ranked" in repr(rankings.block(1, 2))


def test_all_items_were_offered_where_that_is_said_and_nothing_where_all_were_ranked():
    complete = pl.DataFrame({"user": list("aabb"), "item": list("xyxy"), "rank": [1, 2, 2, 1]})
    for offered in ("all", None, ["y", "x", "x"]):
        rankings = Rankings.from_frame(complete, offered=offered)
        assert rankings.n_unranked == 0
        assert rows_of(rankings) == sorted(complete.rows())
        assert rankings.without_unranked() is rankings


def test_an_item_offered_twice_is_one_item():
    rankings = Rankings.from_frame(pl.DataFrame(BALLOTS), offered=["x", "y", "z", "new", "new"])
    assert rankings.items.tolist() == ["x", "y", "z", "new"]
    assert rankings.n_unranked == 3


def test_items_offered_may_have_ids_of_another_kind():
    numbered = pl.DataFrame({"user": ["a", "a"], "item": [1, 2], "rank": [1, 2]})
    assert Rankings.from_frame(numbered, offered=["1", "2", "other"]).items.tolist() == [1, 2, "other"]
    assert Rankings.from_frame(numbered, offered=[3, 1, 2]).items.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("offered", "sentence"),
    [
        (["x", "y"], "1 item was ranked and not offered, such as 'z'. Add to the items offered, or drop such rows."),
        (["y"], "2 items were ranked and not offered, such as 'x'."),
        (["x", "y", "z", None], "row 4: item is missing"),
        ("every", "item must be a column, got 'every'"),
    ],
)
def test_items_offered_that_make_no_sense_are_refused(offered, sentence):
    assert sentence in refusal(Rankings.from_frame, pl.DataFrame(BALLOTS), offered=offered)


def test_an_item_ranked_twice_is_refused():
    twice = pl.DataFrame({"user": ["a", "a"], "item": ["x", "x"], "rank": [1, 2]})
    assert "row 2: the user already has a rank for this item" in refusal(Rankings.from_frame, twice)


def test_files_of_rankings_are_read_with_what_was_offered(file):
    path = file("ballots.csv", "user,item,rank\na,x,1\na,y,2\nb,z,1\n")
    assert Rankings.from_file(path, offered="all").n_unranked == 3
    assert Rankings.from_file(path).n_unranked == 0
    stars = file("stars.csv", "user,item,rating\na,x,1\n")
    assert refusal(Rankings.from_file, stars).startswith("stars.csv")


def test_a_split_of_rankings_keeps_what_was_not_ranked_apart():
    rows = [(user, item, 1 + (item + user) % 8) for user in range(12) for item in range(8) if (item + user) % 8 < 5]
    rankings = Rankings.from_frame(pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row"), offered="all")
    train, test = rankings.split(0.4, random_state=0)
    assert train.n_unranked + test.n_unranked == rankings.n_unranked == 36
    assert len(train) + len(test) == 96
    names = {(user, item) for user, item, rank in [*train.to_frame().rows(), *test.to_frame().rows()] if rank is None}
    assert names == {(user, item) for user, item, rank in rankings.to_frame().rows() if rank is None}

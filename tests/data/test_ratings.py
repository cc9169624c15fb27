"""Comparisons from ratings and from rankings, against a slow and readable version."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from plurank import Comparisons, DataError, ParameterError


@pytest.fixture
def ratings(rng):
    """Twenty users rate up to 12 of 15 items, 1 to 5, rows shuffled."""
    rows = [
        (f"u{user}", int(item), int(rng.integers(1, 6)))
        for user in range(20)
        for item in rng.permutation(15)[: rng.integers(2, 13)]
    ]
    return pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row").sample(fraction=1, shuffle=True, seed=1)


def all_pairs(ratings, ties):
    """Compare every pair of a user's ratings, as the paper says it; undecided where a coin decides."""
    decided, tossed = [], []
    for (user,), rows in ratings.group_by("user"):
        for (i, high), (j, low) in combinations(zip(rows["item"], rows["rating"], strict=True), 2):
            if high == low and ties == "random":
                tossed.append((user, *sorted((i, j))))
            elif high == low and ties == "both":
                decided += [(user, i, j), (user, j, i)]
            elif high != low:
                decided.append((user, i, j) if high > low else (user, j, i))
    return sorted(decided), sorted(tossed)


@pytest.mark.parametrize("ties", ["ignore", "both"])
def test_full_compares_every_pair_a_user_rated(ratings, ties, triples):
    c = Comparisons.from_ratings(ratings, pairs="full", ties=ties)
    assert sorted(triples(c)) == all_pairs(ratings, ties)[0]


def test_full_with_random_ties_tosses_a_coin_for_each_tie(ratings, triples):
    decided, tossed = all_pairs(ratings, "random")
    made = triples(Comparisons.from_ratings(ratings, ties="random", random_state=0))
    assert sorted(set(made) & set(decided)) == decided
    coins = set(made) - set(decided)
    assert sorted((user, *sorted(pair)) for user, *pair in coins) == tossed
    # 100 coins or so: all on one side has a chance below 2^-50
    assert len(tossed) > 50
    assert 0 < sum(i < j for _, i, j in coins) < len(tossed)


@pytest.mark.parametrize(
    ("share", "pairs_per_rating"), [({}, 5), ({"pairs_per_rating": 1}, 1), ({"pairs_per_rating": 0.5}, 0.5)]
)
@pytest.mark.parametrize("ties", ["both", "random"])
def test_partial_draws_the_asked_multiple_of_the_ratings_without_repeats(ratings, share, pairs_per_rating, ties):
    c = Comparisons.from_ratings(ratings, pairs="partial", ties=ties, random_state=0, **share)
    low, high = pl.min_horizontal("winner", "loser"), pl.max_horizontal("winner", "loser")
    pairs = c.to_frame().select("user", low=low, high=high)
    found = dict(pairs.unique().group_by("user").len().rows())
    for user, n in ratings.group_by("user").len().rows():
        assert found.get(user, 0) == min(n * (n - 1) // 2, round(pairs_per_rating * n))
    if ties == "random":
        assert pairs.is_unique().all()


@pytest.mark.parametrize("ties", ["ignore", "both"])
def test_partial_with_enough_pairs_is_full(ratings, ties, triples):
    full = triples(Comparisons.from_ratings(ratings, ties=ties))
    for many in (1000, 1e300, 10**30):
        part = Comparisons.from_ratings(ratings, pairs="partial", ties=ties, pairs_per_rating=many)
        assert sorted(triples(part)) == sorted(full)


def test_partial_draws_every_pair_of_a_user_equally_often():
    n_items, n_users = 6, 3000
    data = pl.DataFrame({"user": np.repeat(np.arange(n_users), n_items), "item": np.tile(np.arange(n_items), n_users)})
    c = Comparisons.from_ratings(data.with_columns(rating="item"), "partial", random_state=0, pairs_per_rating=0.5)
    assert len(c) == 3 * n_users
    counts = np.zeros((n_items, n_items))
    np.add.at(counts, (c.winners, c.losers), 1)
    drawn = counts[np.tril_indices(n_items, -1)]
    # each of 15 pairs: 3,000 draws with chance 1/5; five standard deviations are 110
    assert np.abs(drawn - 600).max() < 110


@pytest.mark.parametrize("options", [{"pairs": "partial"}, {"ties": "random"}, {"pairs": "partial", "ties": "random"}])
def test_a_seed_gives_the_same_comparisons_twice(ratings, options, assert_same, triples):
    once, again = (Comparisons.from_ratings(ratings, random_state=3, **options) for _ in range(2))
    assert_same(once, again)
    generator = Comparisons.from_ratings(ratings, random_state=np.random.default_rng(3), **options)
    assert_same(once, generator)
    assert triples(once) != triples(Comparisons.from_ratings(ratings, random_state=4, **options))


@pytest.mark.parametrize("options", [{}, {"pairs": "partial"}, {"ties": "random"}])
def test_the_order_of_users_in_the_file_does_not_matter(ratings, options, assert_same):
    resorted = ratings.sort(pl.col("user").str.reverse(), maintain_order=True)
    assert resorted["user"].to_list() != ratings["user"].to_list()
    once, again = (Comparisons.from_ratings(rows, random_state=3, **options) for rows in (ratings, resorted))
    assert_same(once, again)


def test_all_libraries_and_column_names_give_the_same_comparisons(ratings, assert_same):
    expected = Comparisons.from_ratings(ratings)
    data = ratings.to_dict(as_series=False)
    for frame in (pd.DataFrame(data), pa.table(data)):
        assert_same(Comparisons.from_ratings(frame), expected)
    movielens = ratings.rename({"user": "userId", "item": "movieId"})
    assert_same(Comparisons.from_ratings(movielens), expected)
    polis = ratings.rename({"user": "voter-id", "item": "comment-id", "rating": "vote"})
    assert_same(Comparisons.from_ratings(polis), expected)
    odd = ratings.rename({"user": "who", "item": "what", "rating": "liked"})
    assert_same(Comparisons.from_ratings(odd, columns={"user": "who", "item": "what", "rating": "liked"}), expected)
    assert_same(Comparisons.from_ratings(ratings.cast(pl.String).cast({"item": pl.Int64})), expected)


def test_users_who_say_nothing_are_left_out_and_items_stay():
    data = {"user": ["a", "a", "b", "c", "c"], "item": ["x", "y", "z", "x", "y"], "rating": [1, 2, 5, 3, 3]}
    c = Comparisons.from_ratings(pl.DataFrame(data))
    assert c.users.tolist() == ["a"]
    assert c.items.tolist() == ["x", "y", "z"]
    assert c.to_frame().rows() == [("a", "y", "x")]
    both = Comparisons.from_ratings(pl.DataFrame(data), ties="both")
    assert both.users.tolist() == ["a", "c"]
    assert both.offsets.tolist() == [0, 1, 3]


def test_rankings_compare_all_ranked_items_and_one_is_best(triples):
    data = {"user": ["a"] * 3 + ["b"] * 2, "item": ["x", "y", "z", "y", "x"], "rank": [3, 1, 2, 1, 2]}
    c = Comparisons.from_rankings(pl.DataFrame(data))
    assert triples(c) == [("a", "y", "x"), ("a", "z", "x"), ("a", "y", "z"), ("b", "y", "x")]


@pytest.mark.parametrize("name", ["rank", "position", "place"])
def test_rankings_equal_ratings_the_other_way_round(ratings, name, assert_same):
    ranked = ratings.rename({"rating": name})
    for ties in ("ignore", "both", "random"):
        turned = Comparisons.from_ratings(ratings.with_columns(-pl.col("rating")), ties=ties, random_state=0)
        assert_same(Comparisons.from_rankings(ranked, ties, 0), turned)


# what is refused


def refusal(data, **options):
    with pytest.raises(DataError) as caught:
        Comparisons.from_ratings(pl.DataFrame(data, strict=False), **options)
    assert type(caught.value) is DataError
    return str(caught.value)


def test_missing_ids_are_refused():
    data = {"user": ["a", None], "item": ["x", "y"], "rating": [1, 2]}
    assert refusal(data) == "row 2: user is missing (empty, null or NaN). Fill it in or drop the row."
    data = {"user": ["a", "a"], "item": ["x", ""], "rating": [1, 2]}
    assert refusal(data) == "row 2: item is missing (empty, null or NaN). Fill it in or drop the row."


@pytest.mark.parametrize("rating", [float("inf"), "good", "1,5"])
def test_a_rating_that_is_no_number_is_refused(rating):
    data = {
        "user": ["a", "a"],
        "item": ["x", "y"],
        "rating": ["1", rating] if isinstance(rating, str) else [1.0, rating],
    }
    assert refusal(data) == "row 2: rating is not a number. Fix it, with a point as in 0.5, or drop the row."


def test_two_ratings_of_one_item_are_refused():
    data = {"user": ["a", "b", "a"], "item": ["x", "x", "x"], "rating": [1, 2, 1]}
    assert refusal(data) == "row 3: the user already has a rating for this item. Keep one rating a user and item."
    with pytest.raises(DataError, match=r"^row 3: the user already has a rank for this item"):
        Comparisons.from_rankings(pl.DataFrame(data).rename({"rating": "rank"}))


def test_ratings_that_compare_nothing_are_refused():
    sentence = (
        "there is nothing to compare: no user values two items differently. "
        "Each user needs at least two items; equal values count with ties='both' (`plurank convert --ties both`)."
    )
    assert refusal({"user": ["a", "b"], "item": ["x", "x"], "rating": [1, 2]}) == sentence
    assert refusal({"user": ["a", "a"], "item": ["x", "y"], "rating": [2, 2]}) == sentence


def test_no_ratings_and_wrong_columns_are_refused():
    assert refusal({"user": [], "item": [], "rating": []}) == (
        "there are no ratings: expected at least one row of user, item, rating."
    )
    assert refusal({"user": ["a"], "item": ["x"]}) == (
        "no column for the rating: expected one of rating, stars, score, vote; the columns are 'user', 'item'. "
        "Name it with columns={'rating': ...}."
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"pairs": "some"}, "pairs must be 'full' or 'partial', got 'some'."),
        ({"ties": "half"}, "ties must be one of 'ignore', 'both', 'random', got 'half'."),
        ({"pairs_per_rating": 0}, "pairs_per_rating must be a positive number, got 0."),
        ({"pairs_per_rating": float("nan")}, "pairs_per_rating must be a positive number, got nan."),
        ({"pairs_per_rating": float("inf")}, "pairs_per_rating must be a positive number, got inf."),
        ({"pairs_per_rating": "5"}, "pairs_per_rating must be a positive number, got '5'."),
        (
            {"columns": {"loser": "x"}},
            "columns: unknown role 'loser'; roles are user, item, rating.",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(ratings, options, sentence):
    with pytest.raises(ParameterError) as caught:
        Comparisons.from_ratings(ratings, **options)
    assert str(caught.value) == sentence


def test_an_unknown_treatment_of_ties_in_rankings_is_refused(ratings):
    with pytest.raises(ParameterError, match=r"^ties must be one of 'ignore', 'both', 'random', got None"):
        Comparisons.from_rankings(ratings, ties=None, columns={"rank": "rating"})


def test_more_pairs_than_memory_holds_are_refused_before_they_are_made():
    ratings = {"user": ["u"] * 70_000, "item": list(range(70_000)), "rating": list(range(70_000))}
    with pytest.raises(DataError, match=r"2,449,965,000 comparisons \(one user values 70,000 items\).*pairs='partial'"):
        Comparisons.from_ratings(pl.DataFrame(ratings))

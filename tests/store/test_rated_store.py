"""Stores of ratings, votes and rankings: they are what would have been read at once, and nothing else is taken for
one."""

import json
import pickle
import shutil
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plurank
from plurank import DataError, ParameterError, Rankings, RatedStore, Ratings, open_store
from plurank.store import levels
from plurank.store.batches import Budget
from plurank.store.shards import describe_file, seal
from tests.store.ingesting import build, content

quickly = settings(max_examples=15, deadline=None)
IDS = st.sampled_from(["7", "10", "9", "-3", "007", "x", "8"])
ARRAYS = ("offsets", "codes", "levels", "items", "users", "values")


def assert_same(one, other):
    assert type(one) is type(other)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name, strict=True)
    assert getattr(one, "n_unranked", 0) == getattr(other, "n_unranked", 0)


def tables(value, values):
    """Tables of users, items and values, no item twice for a user."""
    rows = st.lists(st.tuples(IDS, IDS, values), min_size=1, max_size=40, unique_by=lambda row: row[:2])
    return rows.map(lambda rows: pl.DataFrame(rows, schema=["user", "item", value], orient="row"))


def write_parts(frame, cuts, folder, ending):
    """Write a table in parts, and whole; return the files."""
    edges = sorted({0, len(frame), *(round(cut * len(frame)) for cut in cuts)})
    parts = [frame[begin:end] for begin, end in pairwise(edges)]
    for name, part in [("whole", frame), *((f"part-{n}", part) for n, part in enumerate(parts))]:
        part.write_csv(folder / f"{name}.csv") if ending == "csv" else part.write_parquet(folder / f"{name}.parquet")
    return [folder / f"part-{n}.{ending}" for n in range(len(parts))], folder / f"whole.{ending}"


@quickly
@given(
    frame=tables("rating", st.sampled_from([1.0, 2.5, 3.0, -4.0])),
    cuts=st.lists(st.floats(0, 1), max_size=2),
    ending=st.sampled_from(["csv", "parquet"]),
)
def test_a_store_of_ratings_is_what_would_have_been_read_at_once(frame, cuts, ending, tmp_path_factory):
    folder = tmp_path_factory.mktemp("law")
    parts, whole = write_parts(frame, cuts, folder, ending)
    store, expected = build(parts, folder / "store"), Ratings.from_file(whole)
    assert_same(store.to_memory(), expected)
    np.testing.assert_array_equal(store.offsets, expected.offsets, strict=True)
    assert (store.kind, len(store), store.per_user) == (expected.kind, len(expected), expected.per_user)


@quickly
@given(
    frame=tables("rank", st.integers(1, 4)),
    cuts=st.lists(st.floats(0, 1), max_size=2),
    offered=st.sampled_from([None, "all", ["7", "x", "007", "10", "new", "-3", "9", "8"]]),
)
def test_a_store_of_rankings_is_what_would_have_been_read_at_once(frame, cuts, offered, tmp_path_factory):
    folder = tmp_path_factory.mktemp("law")
    frame = frame.with_columns(user="u" + pl.col("user"), item="i" + pl.col("item"))
    offered = offered if offered is None or offered == "all" else [f"i{item}" for item in offered]
    parts, whole = write_parts(frame, cuts, folder, "csv")
    store, expected = build(parts, folder / "store", offered=offered), Rankings.from_file(whole, offered=offered)
    assert_same(store.to_memory(), expected)
    np.testing.assert_array_equal(store.offsets, expected.offsets, strict=True)
    assert (store.n_unranked, len(store), store.per_user) == (expected.n_unranked, len(expected), expected.per_user)
    assert repr(store) == repr(expected).replace("Rankings", "RatedStore")


@pytest.fixture(scope="module")
def ballots(tmp_path_factory):
    """A file of people who ranked one to six of seven items, with ties."""
    rng = np.random.default_rng(0)
    rows = [
        (f"u{user}", f"i{item}", int(rng.integers(1, 5)))
        for user in range(12)
        for item in rng.choice(7, 1 + user % 6, replace=False)
    ]
    file = tmp_path_factory.mktemp("ballots") / "ballots.csv"
    frame = pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row")
    frame.sample(fraction=1.0, shuffle=True, seed=0).write_csv(file)
    return file


@pytest.fixture(scope="module", params=[None, "all"], ids=["rankings", "on offer"])
def ranked(request, ballots, tmp_path_factory):
    store = build(ballots, tmp_path_factory.mktemp("ranked") / "store", offered=request.param)
    return store, Rankings.from_file(ballots, offered=request.param)


@pytest.fixture(scope="module")
def made(ballots, tmp_path_factory):
    """The same people with ratings for ranks."""
    file = tmp_path_factory.mktemp("made") / "stars.csv"
    pl.read_csv(ballots).rename({"rank": "rating"}).write_csv(file)
    return build(file, file.with_name("store"))


@pytest.fixture
def copy(made, tmp_path):
    return shutil.copytree(made.path, tmp_path / "store")


def test_every_block_is_the_block_of_the_whole(ranked):
    store, whole = ranked
    assert store.n_shards > 2
    for begin in range(13):
        for end in range(begin, 13):
            assert_same(store.block(begin, end), whole.block(begin, end))
    numbered = store.block(3, 9, labelled=False)
    assert numbered.users.tolist() == [*range(3, 9)]
    np.testing.assert_array_equal(numbered.levels, whole.block(3, 9).levels)


def test_marked_users_are_read(ranked):
    store, whole = ranked
    chosen = np.arange(12) % 5 == 2
    assert_same(store.take_users(chosen), whole.take_users(chosen))
    assert_same(store.take_users(chosen | True), whole)


def test_a_block_inside_one_shard_is_not_copied(made):
    def maps(array):
        return isinstance(array, np.memmap) or (array is not None and maps(array.base))

    one, everybody = made.block(0, 1), made.block(0, 12)
    assert maps(one.codes)
    assert maps(one.levels)
    assert not maps(everybody.codes)


def test_a_store_says_what_ratings_say(made, ballots):
    whole = Ratings.from_frame(pl.read_csv(ballots).rename({"rank": "rating"}))
    assert isinstance(made, RatedStore)
    assert repr(made) == repr(whole).replace("Ratings", "RatedStore")
    assert made.summary()["n_comparisons"] == len(whole)
    assert made.values.tolist() == whole.values.tolist()
    assert isinstance(made.fingerprint, int)
    assert_same(pickle.loads(pickle.dumps(made)).to_memory(), whole)
    assert len(pickle.dumps(made)) < 10_000
    expected = whole.to_comparisons()
    np.testing.assert_array_equal(made.to_comparisons().winners, expected.winners)


def test_votes_are_recognised_and_missing_ones_counted(tmp_path, write):
    rows = "ann,a,1\nann,b,-1\nbob,a,\nbob,b,0\ncid,a,-1\n"
    store = build(write("votes.csv", f"user,item,vote\n{rows}"), tmp_path / "store")
    assert store.kind == "vote"
    assert repr(store) == (
        "<RatedStore: 3 users, 2 items, 4 votes (1 to 2 each, median 1); 1 of 5 rows left out: without a vote>"
    )
    stars = build(write("stars.csv", f"user,item,rating\n{rows.replace('0', '5')}"), tmp_path / "other")
    assert [entry.reason for entry in stars.excluded] == ["without a rating"]
    assert stars.to_memory().excluded == stars.excluded


def refusal(*args, **options):
    with pytest.raises((DataError, ParameterError)) as caught:
        build(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize("budget", [None, Budget(10**9, 10**4, 100, 100)], ids=["in two batches", "in one batch"])
def test_an_item_rated_twice_is_refused_by_user_and_item(budget, tmp_path, write):
    rows = "".join(f"u{n},tea,{n % 5}\n" for n in range(9))
    file = write("stars.csv", f"user,item,rating\n{rows}u3,milk,4\nu3,tea,1\n")
    options = {} if budget is None else {"budget": budget}
    assert refusal(file, tmp_path / "store", **options) == (
        "user 'u3' has more than one rating for item 'tea'. Keep one rating a user and item."
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stars.csv"]


def test_an_item_ranked_twice_is_refused(tmp_path, write):
    file = write("ballots.csv", "user,item,rank\n1,7,1\n1,7,1\n")
    assert refusal(file, tmp_path / "store").startswith("user 1 has more than one rank for item 7.")


def test_inputs_are_of_one_form(tmp_path, write):
    stars = write("stars.csv", "user,item,rating\nann,tea,5\n")
    votes = write("votes.csv", "user,winner,loser\nann,tea,milk\n")
    assert refusal([stars, votes], tmp_path / "store") == (
        "votes.csv: this holds comparisons, and stars.csv holds ratings. The inputs of a store are all of one form: "
        "ingest these into different stores."
    )


@pytest.mark.parametrize(
    ("content", "columns", "why"),
    [
        ("user,item,rating\nann,tea,good\n", None, "stars.csv: row 1: rating is not a number"),
        ("user,item,rating\nann,tea,\n", None, "there are no ratings: all of them are missing."),
        ("user,item,rating\n", None, "stars.csv: there are no ratings: expected at least one row of user, item, rat"),
        ("user,item,rank,rating\nann,tea,1,5\n", None, "stars.csv: these could be ratings or rankings"),
        ("user,item,rating\n,tea,5\n", None, "stars.csv: row 1: user is missing"),
        ("user,item,rating\nann,tea,5\n", {"item": "it"}, "stars.csv: there is no column 'it' for the item"),
        ("user,item,rating\nann,tea,5\n", {"rating": "rating", "winner": "item"}, "stars.csv: columns: unknown role"),
        ("voter-id,comment-id,vote\n1,2,1\n", None, "stars.csv: these are votes of pol.is"),
        ("participant,group-id,n-votes,0\n1,0,1,1\n", None, "stars.csv: this is a matrix of votes of pol.is"),
        ("id,comment-body\n1,hello\n", None, "stars.csv: these are statements or ideas, not votes"),
    ],
)  # fmt: skip
def test_what_is_no_rating_is_refused_with_a_sentence(content, columns, why, tmp_path, write):
    file = write("stars.csv", content)
    with pytest.raises((DataError, ParameterError)) as caught:
        build(file, tmp_path / "store", columns=columns)
    assert str(caught.value).removeprefix("stars.csv: ").startswith(why.removeprefix("stars.csv: "))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stars.csv"]


def test_rows_of_votes_of_polis_are_taken_where_columns_are_named(tmp_path, write):
    file = write("votes.csv", "voter-id,comment-id,vote\n1,2,1\n1,3,-1\n")
    columns = {"user": "voter-id", "item": "comment-id", "rating": "vote"}
    assert build(file, tmp_path / "store", columns=columns).kind == "vote"


@pytest.mark.parametrize(("name", "form"), [("ratings.dat", "ratings"), ("ballots.soc", "rankings")])
def test_formats_that_are_read_at_once_are_refused_with_another_way(name, form, tmp_path, write):
    assert refusal(write(name, "1::2::3::4\n"), tmp_path / "store").startswith(
        f"{name} holds {form} in a format that has to be read at once: fit the file itself."
    )


def test_items_on_offer_are_for_rankings_and_include_what_was_ranked(tmp_path, write):
    stars = write("stars.csv", "user,item,rating\nann,tea,5\n")
    ballots = write("ballots.csv", "user,item,rank\nann,tea,1\nbob,milk,1\n")
    assert refusal(stars, tmp_path / "store", offered="all") == "offered is for rankings, got ratings."
    assert refusal(ballots, tmp_path / "store", offered=["tea", "cola"]) == (
        "1 item was ranked and not offered, such as 'milk'. Add to the items offered, or drop such rows."
    )
    assert refusal(ballots, tmp_path / "store", offered=["tea", "milk", 7]).startswith("items are text where they were")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ballots.csv", "stars.csv"]


def test_too_many_different_ratings_are_refused(tmp_path, write, monkeypatch):
    monkeypatch.setattr(levels, "MOST_VALUES", 3)
    rows = "".join(f"u{n},tea,{n / 7}\n" for n in range(9))
    file = write("stars.csv", f"user,item,rating\n{rows}")
    assert refusal(file, tmp_path / "store").startswith("there are more than 3 different ratings")


def test_a_store_of_ratings_is_not_one_of_comparisons(made):
    with pytest.raises(DataError, match=r"is not a store of comparisons\. Open it with plurank\.open_store\.$"):
        plurank.Store(made.path)
    assert isinstance(open_store(made.path), RatedStore)


def test_every_changed_byte_is_refused_by_name(copy):
    for file in sorted(path for path in copy.rglob("*") if path.is_file() and path.name != "manifest.json"):
        whole = file.read_bytes()
        file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(DataError, match="is damaged: its content has changed"):
            open_store(copy).to_memory()
        file.write_bytes(whole)


def reseal(folder, change=None, **files):
    """Change what a manifest says, or whole files of the first shard, and seal it as whoever made it could."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    shard = manifest["shards"][0]
    for name, array in files.items():
        np.save(folder / "shards" / shard["name"] / f"{name}.npy", array)
    shard["files"] = [describe_file(folder / "shards" / shard["name"] / record["name"]) for record in shard["files"]]
    if change is not None:
        change(manifest)
    (folder / "manifest.json").write_text(json.dumps({**manifest, "checksum": seal(manifest)}))


LIES = {
    "another form": lambda m: m.update(form="comparisons"),
    "no form": lambda m: m.pop("form"),
    "values in words": lambda m: m.update(values=["1"] * 4),
    "values that descend": lambda m: m.update(values=m["values"][::-1]),
    "values without end": lambda m: m.update(values=[1.0, 2.0, float("inf")]),
    "no values": lambda m: m.update(values=[]),
    "ratings on offer": lambda m: m.update(offered=True),
    "an offer in words": lambda m: m.update(offered="all"),
    "rankings with values": lambda m: m.update(form="rankings"),
    "comparisons": lambda m: m.update(version=1),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_sealed_manifest_that_lies_is_refused(lie, copy):
    reseal(copy, LIES[lie])
    with pytest.raises(DataError, match=r"manifest\.json is damaged"):
        open_store(copy)


BAD_ARRAYS = {
    "items beyond the last": ("codes", lambda a: a + 7),
    "levels beyond the last": ("levels", lambda a: a + 4),
    "levels before the first": ("levels", lambda a: a - 4),
    "levels that are not sorted": ("levels", lambda a: a[::-1]),
    "an item twice": ("codes", lambda a: a * 0),
    "wide numbers": ("levels", lambda a: a.astype(np.int64)),
    "too few": ("codes", lambda a: a[:-1]),
    "offsets beyond the end": ("offsets", lambda a: a * 2),
}


@pytest.mark.parametrize("kind", BAD_ARRAYS)
def test_a_sealed_array_that_leads_outside_is_refused_before_a_kernel_sees_it(kind, tmp_path, write):
    rows = "".join(f"u{u},i{i},{1 + (u + i) % 4}\n" for u in range(3) for i in range(7))
    folder = build(write("s.csv", f"user,item,rating\n{rows}"), tmp_path / "store").path
    name, change = BAD_ARRAYS[kind]
    file = min((folder / "shards").iterdir()) / f"{name}.npy"
    reseal(folder, **{name: change(np.load(file))})
    with pytest.raises(DataError, match=rf"{name}\.npy is not valid"):
        plurank.MixedRanking(1).fit(open_store(folder))


def test_levels_of_rankings_begin_with_0_and_leave_none_out(tmp_path, write):
    folder = build(write("b.csv", "user,item,rank\nu,a,1\nu,b,2\nu,c,3\n"), tmp_path / "store").path
    for bad in ([1, 2, 3], [0, 2, 2], [0, 1, 3]):
        reseal(folder, levels=np.array(bad, np.int32))
        with pytest.raises(DataError, match=r"levels\.npy is not valid"):
            open_store(folder).to_memory()


def test_a_manifest_of_ratings_cut_short_anywhere_is_refused(copy):
    whole = (copy / "manifest.json").read_bytes()
    for n in range(0, len(whole) - 2, 97):
        (copy / "manifest.json").write_bytes(whole[:n])
        with pytest.raises(DataError, match=r"manifest\.json is damaged"):
            open_store(copy)


def test_the_same_files_give_the_same_bytes_in_pieces_of_any_size(ballots, tmp_path):
    one = build(ballots, tmp_path / "one", budget=Budget(10**9, 10**6, 10**6, 12))
    other = build(ballots, tmp_path / "other", budget=Budget(10**9, 80, 5, 12))
    assert content(one.path) == content(other.path)

"""Laws that hold for all data, with hypothesis."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from plurank import Comparisons, read_comparisons

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=4)
IDS = st.one_of(
    st.lists(TEXT, min_size=2, max_size=6, unique=True),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=6, unique=True),
)
EITHER = st.booleans()
quickly = settings(max_examples=60, deadline=None)


@st.composite
def data_sets(draw, weighted=EITHER):
    """Columns user, winner, loser and perhaps weight, with no item against itself."""
    items, users = draw(IDS), draw(IDS)
    pairs = st.tuples(st.sampled_from(users), st.permutations(items).map(lambda order: order[:2]))
    rows = draw(st.lists(pairs, min_size=1, max_size=25))
    columns = {
        "user": [user for user, _ in rows],
        "winner": [winner for _, (winner, _) in rows],
        "loser": [loser for _, (_, loser) in rows],
    }
    if draw(weighted):
        weights = st.floats(1e-3, 1e3)
        columns["weight"] = draw(st.lists(weights, min_size=len(rows), max_size=len(rows)))
    return columns


def in_user_order(columns):
    """The slow way: sort rows by user, keeping their order within a user."""
    rows = zip(*columns.values(), strict=True)
    return sorted(rows, key=lambda row: row[0])


def without_unit_weights(rows):
    return [row[:3] for row in rows] if all(len(row) == 4 and row[3] == 1 for row in rows) else rows


@quickly
@given(data_sets())
def test_nothing_is_lost_and_users_are_sorted(columns):
    c = Comparisons.from_frame(pl.DataFrame(columns))
    assert c.to_frame().rows() == without_unit_weights(in_user_order(columns))
    assert c.users.tolist() == sorted(set(columns["user"]))
    assert c.items.tolist() == sorted(set(columns["winner"]) | set(columns["loser"]))
    assert (np.diff(c.offsets) > 0).all()


@quickly
@given(data=data_sets())
def test_a_frame_made_of_comparisons_gives_them_back(data, assert_same):
    c = Comparisons.from_frame(pl.DataFrame(data))
    assert_same(Comparisons.from_frame(c.to_frame()), c)
    assert_same(Comparisons.from_arrays(**{f"{name}s": column for name, column in data.items()}), c)


@quickly
@given(data=data_sets())
def test_pandas_polars_and_pyarrow_agree(data, assert_same):
    c = Comparisons.from_frame(pl.DataFrame(data))
    assert_same(Comparisons.from_frame(pd.DataFrame(data)), c)
    assert_same(Comparisons.from_frame(pa.table(data)), c)


@quickly
@given(data=data_sets(), ending=st.sampled_from(["csv", "tsv", "parquet", "jsonl"]))
def test_files_give_back_what_was_written(data, ending, assert_same, tmp_path_factory):
    # in text files, ids that are all whole numbers are numbers
    assume(ending in ("parquet", "jsonl") or not any(text.isdecimal() for text in map(str, data["user"])))
    assume(ending in ("parquet", "jsonl") or not any(text.isdecimal() for text in map(str, data["winner"])))
    c = Comparisons.from_frame(pl.DataFrame(data))
    path = tmp_path_factory.mktemp("law") / f"votes.{ending}"
    frame = c.to_frame()
    {
        "csv": frame.write_csv,
        "tsv": lambda target: frame.write_csv(target, separator="\t"),
        "parquet": frame.write_parquet,
        "jsonl": frame.write_ndjson,
    }[ending](path)
    assert_same(read_comparisons(path), c)


@quickly
@given(data=data_sets(), random=st.randoms(use_true_random=False))
def test_the_order_of_users_does_not_matter(data, random, assert_same):
    """Rows may be interleaved in any way that keeps the order within each user."""
    queues = {user: [row for row in zip(*data.values(), strict=True) if row[0] == user] for user in set(data["user"])}
    turns = list(data["user"])
    random.shuffle(turns)
    mixed = [queues[user].pop(0) for user in turns]
    shuffled = pl.DataFrame(mixed, schema=pl.DataFrame(data).schema, orient="row")
    assert_same(Comparisons.from_frame(shuffled), Comparisons.from_frame(pl.DataFrame(data)))


@quickly
@given(data=data_sets(), cuts=st.lists(st.floats(0, 1), max_size=4))
def test_blocks_put_together_are_the_whole(data, cuts, assert_same):
    c = Comparisons.from_frame(pl.DataFrame(data))
    edges = [0, *sorted(round(cut * c.n_users) for cut in cuts), c.n_users]
    blocks = [c.block(begin, end) for begin, end in pairwise(edges)]
    starts = np.cumsum([0] + [len(block) for block in blocks])
    joined = Comparisons(
        np.concatenate([block.winners for block in blocks]),
        np.concatenate([block.losers for block in blocks]),
        np.concatenate([[0], *(block.offsets[1:] + start for block, start in zip(blocks, starts, strict=False))]),
        c.items,
        np.concatenate([block.users for block in blocks]),
        None if c.weights is None else np.concatenate([block.weights for block in blocks]),
    )
    assert_same(joined, c)


@quickly
@given(
    data=data_sets(), by=st.sampled_from(["comparison", "user"]), size=st.floats(0.05, 0.95), seed=st.integers(0, 99)
)
def test_the_parts_of_a_split_are_the_whole(data, by, size, seed):
    c = Comparisons.from_frame(pl.DataFrame(data))
    n = len(c) if by == "comparison" else c.n_users
    assume(0 < round(size * n) < n)
    train, test = c.split(size, by, seed)
    assert sorted(train.to_frame().rows() + test.to_frame().rows()) == sorted(c.to_frame().rows())
    assert train.items.tolist() == test.items.tolist() == c.items.tolist()
    assert (len(test) if by == "comparison" else test.n_users) == round(size * n)


@quickly
@given(data=data_sets(weighted=st.just(False)), random=st.randoms(use_true_random=False))
def test_sides_say_the_same_as_winner_and_loser(data, random, assert_same):
    expected = Comparisons.from_frame(pl.DataFrame(data))
    turned = [random.random() < 0.5 for _ in data["user"]]
    pairs = list(zip(data["winner"], data["loser"], turned, strict=True))
    sides = pl.DataFrame(
        {
            "user": data["user"],
            "left": [loser if turn else winner for winner, loser, turn in pairs],
            "right": [winner if turn else loser for winner, loser, turn in pairs],
        }
    )
    signs = pl.Series("comparison", [1.5 if turn else -2.0 for turn in turned])
    assert_same(Comparisons.from_frame(sides.with_columns(label=pl.Series(data["winner"]))), expected)
    assert_same(Comparisons.from_frame(sides.with_columns(signs)), expected)


@quickly
@given(data=data_sets(weighted=st.just(False)))
def test_a_tie_weighs_as_much_as_a_comparison(data):
    ties = pl.DataFrame(data).rename({"winner": "left", "loser": "right"}).with_columns(winner=pl.lit("tie "))
    assume(not {"tie", "tie "} & set(map(str, data["winner"] + data["loser"])))
    c = Comparisons.from_frame(ties)
    assert len(c) == 2 * len(ties)
    assert c.weights.tolist() == [0.5] * len(c)
    both_ways = sorted(
        zip(data["user"] * 2, data["winner"] + data["loser"], data["loser"] + data["winner"], strict=True)
    )
    assert sorted(row[:3] for row in c.to_frame().rows()) == both_ways

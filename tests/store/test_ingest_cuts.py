"""Where users are cut into shards."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurank.store.merge import cut_into_shards, pack
from plurank.store.shards import Shard, write_shard


def written(runs, folder):
    """Set down runs, each a dict of users and how many comparisons they made."""
    folders = []
    for number, run in enumerate(runs):
        users = sorted(run)
        offsets = np.concatenate([[0], np.cumsum([run[user] for user in users])])
        rows = np.zeros(offsets[-1], dtype=np.int32)
        folders.append(folder / str(number))
        folders[-1].mkdir()
        write_shard(folders[-1], Shard(pl.Series("id", users), offsets, {"winners": rows, "losers": rows}))
    return folders


def sizes_by_hand(runs, positions):
    edges = np.vstack([np.zeros(len(runs), int), positions, [len(run) for run in runs]])
    counts = [np.concatenate([[0], np.cumsum([run[user] for user in sorted(run)])]) for run in runs]
    return np.diff([sum(count[at] for count, at in zip(counts, edge, strict=True)) for edge in edges])


IDS = st.one_of(st.integers(0, 40), st.integers(-(2**63), 2**63 - 1))
TEXTS = st.text("abé🍣", min_size=1, max_size=3)


@settings(max_examples=60, deadline=None)
@given(
    runs=st.one_of(
        *(
            st.lists(
                st.dictionaries(ids, st.sampled_from([1, 1, 2, 5, 30]), min_size=1, max_size=15), min_size=1, max_size=4
            )
            for ids in (IDS, TEXTS)
        )
    ),
    most=st.integers(1, 40),
)
def test_no_shard_is_larger_than_it_may_be_but_of_a_single_user(runs, most, tmp_path_factory):
    folders = written(runs, tmp_path_factory.mktemp("cuts"))
    total = sum(sum(run.values()) for run in runs)
    cuts = cut_into_shards(folders, total, most)
    np.testing.assert_array_equal(cuts.sizes, sizes_by_hand(runs, cuts.positions))
    assert (cuts.sizes > 0).all()
    edges = np.vstack([np.zeros(len(runs), int), cuts.positions, [len(run) for run in runs]])
    last = None
    for begins, ends, size in zip(edges[:-1], edges[1:], cuts.sizes, strict=True):
        users = {user for run, b, e in zip(runs, begins, ends, strict=True) for user in sorted(run)[b:e]}
        assert size <= most or len(users) == 1
        assert last is None or last < min(users)
        last = max(users)
    if cuts.sizes.max() > most:
        largest = np.argmax(cuts.sizes)
        assert cuts.largest in {
            user for run, b in zip(runs, edges[largest], strict=True) for user in sorted(run)[b : b + 1]
        }


def test_shards_are_nearly_as_large_as_they_may_be(tmp_path, rng):
    runs = [dict.fromkeys(rng.choice(10**6, 3000, replace=False).tolist(), 2) for _ in range(5)]
    cuts = cut_into_shards(written(runs, tmp_path), 30_000, 4000)
    assert len(cuts.sizes) == 8
    assert (cuts.sizes[:-1] > 3500).all()


@pytest.mark.parametrize(
    ("before", "total", "chosen"),
    [([], 5, []), ([0, 4, 8], 12, [1, 2]), ([0, 2, 4, 6], 8, [2]), ([0, 20, 21], 25, [1]), ([3, 9], 10, [0, 1])],
)
def test_cells_are_packed_from_the_first_on(before, total, chosen):
    assert pack(np.array(before, dtype=np.int64), total, 5).tolist() == chosen

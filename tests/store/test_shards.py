"""Shards on disk, in parts and put together."""

import numpy as np
import polars as pl
import pytest

from plurank import Comparisons
from plurank.store.shards import (
    Shard,
    find_repeated,
    map_part,
    merge_parts,
    read_labels,
    write_labels,
    write_shard,
)

COLUMNS = ("winners", "losers", "weights")


def shard_of(comparisons):
    c = comparisons
    columns = {name: getattr(c, name) for name in COLUMNS if getattr(c, name) is not None}
    return Shard(pl.Series("id", c.users.tolist()), c.offsets, columns)


@pytest.mark.parametrize("ids", [["a", "b,\n", "🍣"], [-5, 0, 2**62]])
def test_labels_come_back_as_they_went_in_and_in_parts(ids, tmp_path):
    record = write_labels(tmp_path / "labels", pl.Series(ids))
    assert record["size"] == (tmp_path / "labels").stat().st_size
    assert read_labels(tmp_path / "labels").to_list() == ids
    assert read_labels(tmp_path / "labels", 1, 2).to_list() == ids[1:2]
    assert read_labels(tmp_path / "labels", 1, 1).dtype == pl.Series(ids).dtype


def test_a_part_of_a_shard_is_the_block_of_its_users(small, tmp_path):
    records = write_shard(tmp_path, shard_of(small))
    assert [record["name"] for record in records] == [
        *("winners.npy", "losers.npy", "weights.npy", "offsets.npy"),
        "users.parquet",
    ]
    for begin, end in ((0, 3), (1, 2), (0, 2), (2, 2)):
        part, block = map_part(tmp_path, begin, end, COLUMNS), small.block(begin, end)
        np.testing.assert_array_equal(part.offsets, block.offsets, strict=True)
        for name in COLUMNS:
            np.testing.assert_array_equal(part.columns[name], getattr(block, name), strict=True)
        assert part.users.to_list() == block.users.tolist()


def test_parts_are_merged_by_user_in_the_order_of_the_parts():
    def part(users, winners, weights=None):
        made = Comparisons.from_arrays(users, winners, [9] * len(users), weights, items=range(10))
        return shard_of(made)

    merged = merge_parts([part(["b", "a"], [1, 2]), part(["c", "b", "b"], [3, 4, 5], [1, 2, 1]), part(["a"], [6])])
    assert merged.users.to_list() == ["a", "b", "c"]
    assert merged.offsets.tolist() == [0, 2, 5, 6]
    assert merged.columns["winners"].tolist() == [2, 6, 1, 4, 5, 3]
    assert merged.columns["weights"].tolist() == [1, 1, 1, 2, 1, 1]
    assert "weights" not in merge_parts([part(["b"], [1])]).columns


def test_items_that_a_user_has_twice_are_found():
    owners, codes = np.array([0, 0, 0, 1, 1, 2], np.int32), np.array([3, 1, 3, 3, 0, 0], np.int32)
    assert find_repeated(owners, codes, 4).tolist() == [2]
    assert find_repeated(owners[2:], codes[2:], 4).tolist() == []

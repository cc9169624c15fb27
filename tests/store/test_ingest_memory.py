"""Sizes of memory, and what is divided up."""

import pytest

from plurank import ParameterError
from plurank.store.batches import Budget, parse_memory


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        ("2GB", 2 * 10**9),
        ("2gb", 2 * 10**9),
        (" 1.5 G ", 1_500_000_000),
        ("800M", 800 * 10**6),
        ("1GiB", 2**30),
        ("1024 mib", 2**30),
        ("1TB", 10**12),
        ("600000000", 600_000_000),
        ("600000 KB", 600_000_000),
        (10**9, 10**9),
    ],
)
def test_memory_is_read_as_people_write_it(text, n_bytes):
    assert parse_memory(text) == n_bytes


@pytest.mark.parametrize("memory", ["", "much", "2XB", "-2GB", "GB", "2 GB 3", "1iB", None, 2.5, True, "1e9", [1]])
def test_what_is_no_size_is_refused(memory):
    with pytest.raises(ParameterError) as caught:
        parse_memory(memory)
    assert str(caught.value) == f"memory must be a size such as '2GB' or '800MB', got {memory!r}."


@pytest.mark.parametrize("memory", ["499MB", "0", 12])
def test_too_little_memory_is_refused(memory):
    with pytest.raises(ParameterError) as caught:
        parse_memory(memory)
    assert str(caught.value) == f"memory must be at least 500MB, got {memory!r}."


@pytest.mark.parametrize("memory", ["1001TB", 10**400])
def test_memory_beyond_measure_is_refused(memory):
    with pytest.raises(ParameterError, match=r"^memory must be at most 1,000TB, got "):
        parse_memory(memory)


def test_more_memory_means_larger_pieces_and_wide_rows_smaller_ones():
    small, large = Budget.of(10**9), Budget.of(4 * 10**9)
    assert small.text_bytes < large.text_bytes
    assert small.rows_of_batch(40) < large.rows_of_batch(40)
    assert small.rows_of_shard(8) < large.rows_of_shard(8)
    assert small.rows_of_user < large.rows_of_user
    assert small.rows_of_batch(400) < small.rows_of_batch(40)
    assert small.rows_of_shard(400) < small.rows_of_shard(8)
    assert large.can_hold_items(10**6, 10**7)
    assert not large.can_hold_items(10**8, 10**9)

"""Files read in batches: together they are the whole file, and each can be reached again from where it begins."""

import gzip

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurank.data.frames import kind_of, read_table
from plurank.store.batches import Budget, Place, read_batches

FIELD = st.sampled_from(["a", "é", "x y", '"q"', '"a,b"', '"two\nlines"', '"two\r\nlines"', '"say ""hi"""', "", '""'])
ROW = st.lists(FIELD, min_size=3, max_size=3).map(",".join)
SMALL = Budget(data_bytes=10**9, text_bytes=40, batch_rows=3, shard_rows=9)


def batches_of(path, begin=Place(), budget=SMALL):  # noqa: B008
    return list(read_batches(path, kind_of(path), None, budget, path.parent, begin))


def joined(batches):
    return pl.concat([batch.frame for batch in batches if len(batch.frame)])


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.one_of(ROW, st.just("")), max_size=12).map(lambda rows: ["u,v,w", *rows]),
    newline=st.sampled_from(["\n", "\r\n"]),
    end=st.sampled_from(["", "\n", "\n\n"]),
    zipped=st.booleans(),
)
def test_batches_of_csv_are_the_whole_and_begin_where_they_say(rows, newline, end, zipped, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "votes.csv"
    text = (newline.join(rows) + end).encode()
    path.write_bytes(gzip.compress(text) if zipped else text)
    whole, batches = read_table(path), batches_of(path)
    assert sum(len(batch.frame) for batch in batches) == len(whole) == batches[-1].end.n_rows
    if len(whole):
        assert joined(batches).equals(whole)
    for number, batch in enumerate(batches):
        again = batches_of(path, batch.begin)
        assert [(other.begin, other.end) for other in again] == [(b.begin, b.end) for b in batches[number:]]
        assert all(other.frame.equals(b.frame) for other, b in zip(again, batches[number:], strict=True))


@pytest.mark.parametrize("name", ["votes.parquet", "votes.jsonl"])
def test_batches_of_typed_files_are_the_whole_and_begin_where_they_say(name, tmp_path):
    frame = pl.DataFrame({"user": range(20), "winner": ["a"] * 20, "loser": ["b"] * 20})
    path = tmp_path / name
    frame.write_parquet(path) if name.endswith("parquet") else frame.write_ndjson(path)
    batches = batches_of(path)
    assert len(batches) > 5
    assert joined(batches).equals(frame)
    assert joined(batches_of(path, batches[3].begin)).equals(frame[batches[3].begin.n_rows :])
    assert [batch.done for batch in batches] == sorted(batch.done for batch in batches)
    assert batches[-1].done == 1


def test_the_width_of_rows_decides_how_many_are_read_at_once(tmp_path):
    narrow = pl.DataFrame({"user": ["u"] * 50, "winner": ["a"] * 50, "loser": ["b"] * 50})
    wide = narrow.with_columns(pl.Series("user", [f"{n}" * 1000 for n in range(50)]))
    budget = Budget(data_bytes=40_000, text_bytes=40, batch_rows=100, shard_rows=9)
    for frame, n_batches in ((narrow, 2), (wide, 9)):
        frame.write_parquet(tmp_path / "votes.parquet")
        assert len(batches_of(tmp_path / "votes.parquet", budget=budget)) >= n_batches
    assert len(batches_of(tmp_path / "votes.parquet")) == 17  # never more than the budget's rows


def test_fields_that_some_json_lines_lack_are_null_in_all_batches(tmp_path):
    lines = ['{"user": 1, "winner": "a", "loser": "b"}'] * 4 + ['{"user": 2, "loser": "b", "weight": 2}']
    (tmp_path / "votes.jsonl").write_text("\n".join(lines) + "\n\n")
    found = joined(batches_of(tmp_path / "votes.jsonl"))
    assert found.columns == ["user", "winner", "loser", "weight"]
    assert found["user"].to_list() == [1, 1, 1, 1, 2]
    assert found["weight"].to_list() == [None, None, None, None, 2]
    assert found["winner"].to_list() == ["a", "a", "a", "a", None]
    assert found.equals(read_table(tmp_path / "votes.jsonl"))

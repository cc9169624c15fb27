"""What an ingest refuses: as reading does, with the file's name and the row's number in it."""

import datetime as dt
import gzip

import polars as pl
import pytest

from plurank import (
    DataError,
    ParameterError,
    ingest,
    read_comparisons,
)
from plurank.store.batches import Budget
from tests.data.test_readers import BROKEN_CSV, ZIPPED
from tests.store.ingesting import build

GOOD = [("u", "a", "b")] * 20
LARGE = Budget(data_bytes=10**9, text_bytes=10**6, batch_rows=10**6, shard_rows=10**6)


def refusal(inputs, store, **options):
    with pytest.raises(DataError) as caught:
        build(inputs, store, **options)
    assert type(caught.value) is DataError
    assert not store.exists()
    assert not store.with_name("store.part").exists()
    return str(caught.value)


def written(rows, path, names=("user", "winner", "loser")):
    frame = pl.DataFrame(rows, schema=list(names), orient="row", strict=False)
    {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".jsonl": frame.write_ndjson}[path.suffix](path)
    return path


@pytest.mark.parametrize(("content", "sentence"), BROKEN_CSV.values(), ids=BROKEN_CSV)
def test_broken_csv_is_refused_as_reading_refuses_it(content, sentence, write, tmp_path):
    assert refusal(write("votes.csv", content), tmp_path / "store", budget=LARGE) == sentence


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize(
    ("row", "what"),
    [
        (("u", "a", "a"), "an item is compared with itself ('a'). Drop such rows."),
        ((None, "a", "b"), "user is missing (empty, null or NaN). Fill it in or drop the row."),
        (("u", "a", None), "loser is missing (empty, null or NaN). Fill it in or drop the row."),
    ],
)
def test_a_bad_row_deep_in_a_file_has_its_number(row, what, ending, tmp_path):
    good = written(GOOD, tmp_path / f"good.{ending}")
    bad = written([*GOOD[:17], row, *GOOD], tmp_path / f"bad.{ending}")
    assert refusal([good, bad], tmp_path / "store") == f"bad.{ending}: row 18: {what}"
    with pytest.raises(DataError) as caught:
        read_comparisons(bad)
    assert str(caught.value) == f"bad.{ending}: row 18: {what}"


def test_bad_weights_and_outcomes_deep_in_a_file_have_their_numbers(tmp_path):
    bad = written([*[(*row, "2") for row in GOOD], ("u", "a", "b", "-1")], tmp_path / "1.csv", [*"uwl", "weight"])
    columns = {"user": "u", "winner": "w", "loser": "l"}
    assert refusal(bad, tmp_path / "store", columns=columns) == (
        "1.csv: row 21: the weight is not a positive number. Use a decimal point (0.5), or remove the row."
    )
    names = ("user", "left", "right", "winner")
    bad = written([*[(*row, "b") for row in GOOD], ("u", "a", "b", "c")], tmp_path / "2.csv", names)
    assert refusal(bad, tmp_path / "store") == (
        "2.csv: row 21: winner 'c' is neither left ('a') nor right ('b'). Use one of them, or 'tie'."
    )
    bad = written(
        [*[(*row, "-1") for row in GOOD], ("u", "a", "b", "more")], tmp_path / "3.csv", [*names[:3], "comparison"]
    )
    assert refusal(bad, tmp_path / "store") == (
        "3.csv: row 21: comparison is not a number. Use negative for left, positive for right, 0 for a tie."
    )
    bad = written([*[(*row, "b") for row in GOOD], ("u", "a", None, "a")], tmp_path / "4.csv", names)
    assert refusal(bad, tmp_path / "store").startswith("4.csv: row 21: right is missing")


def test_outcomes_that_name_sides_here_and_items_there_are_refused(tmp_path):
    names = ("user", "left", "right", "winner")
    rows = [*[("u", "x", "y", "left")] * 9, ("u", "x", "y", "x"), *[("u", "x", "y", "right")] * 9]
    assert refusal(written(rows, tmp_path / "votes.csv", names), tmp_path / "store") == (
        "votes.csv: row 10: winner 'x' names an item where other rows name a side. Name sides throughout, or items."
    )


def test_outcomes_are_understood_by_rows_that_come_much_later(tmp_path, assert_same):
    # "left" is an item and a side until the last row tells
    names = ("user", "left", "right", "winner")
    rows = [*[("u", "right", "left", "left")] * 9, ("u", "right", "x", "x")]
    path = written(rows, tmp_path / "votes.csv", names)
    assert_same(build(path, tmp_path / "store").to_comparisons(), read_comparisons(path))
    assert refusal(written(rows[:9], tmp_path / "votes.csv", names), tmp_path / "other").startswith(
        "votes.csv: row 1: winner 'left' could mean the item or the side."
    )


def test_a_long_row_deep_in_a_file_has_its_number(write, tmp_path):
    text = "user,winner,loser\n" + "u,a,b\n" * 20 + "u,a,b,c\n"
    sentence = 'row 21: expected 3 values as in the header, got 4. Put values that hold the separator in "quotes".'
    assert refusal(write("votes.csv", text), tmp_path / "store") == f"votes.csv: {sentence}"


def test_a_quote_left_open_is_refused(write, tmp_path):
    text = 'user,winner,loser\nu,a,"b\n' + "u,a,b\n" * 500
    sentence = 'a row after row 0 does not end within 960 bytes. Is a quote (") left open? If not, increase memory.'
    assert refusal(write("votes.csv", text), tmp_path / "store") == f"votes.csv: {sentence}"


@pytest.mark.parametrize("name", ["v.csv.gz", "v.jsonl.gz", "v.parquet.gz"])
@pytest.mark.parametrize("content", [ZIPPED[: len(ZIPPED) // 2], ZIPPED[:-4], b"\x1f\x8b\x08 nonsense"])
def test_damaged_gzip_is_refused(name, content, write, tmp_path):
    assert refusal(write(name, content), tmp_path / "store", budget=LARGE).startswith(f"{name} could not be read as ")


@pytest.mark.parametrize("name", ["votes.parquet", "votes.jsonl"])
def test_damaged_files_are_refused(name, write, tmp_path):
    assert refusal(write(name, "hello"), tmp_path / "store").startswith(f"{name} could not be read as ")


def test_a_file_without_rows_is_refused_among_others_too(tmp_path, write):
    good = written(GOOD, tmp_path / "good.csv")
    sentence = "there are no comparisons: expected at least one row of user, winner, loser."
    assert (
        refusal([good, write("empty.csv", "user,winner,loser\n\n\n")], tmp_path / "store") == f"empty.csv: {sentence}"
    )
    none = pl.DataFrame(schema={"user": pl.String, "winner": pl.String, "loser": pl.String})
    none.write_parquet(tmp_path / "empty.parquet")
    assert refusal(tmp_path / "empty.parquet", tmp_path / "store") == f"empty.parquet: {sentence}"
    assert "is empty" in refusal(write("empty.jsonl", ""), tmp_path / "store")


def test_only_ties_leave_nothing_if_ties_are_dropped(tmp_path):
    names = ("user", "left", "right", "winner")
    ties = written([(*row, "tie") for row in GOOD], tmp_path / "ties.csv", names)
    assert "every row is a tie" in refusal(ties, tmp_path / "store", ties="drop")
    one = written([("u", "a", "b", "a")], tmp_path / "one.csv", names)
    assert len(build([ties, one], tmp_path / "store", ties="drop")) == 1


ODD_IDS = {
    "floats": (pl.Float64, [1.5, 2.5]),
    "days": (pl.Date, [dt.date(2020, 1, 1), dt.date(2021, 1, 1)]),
    "truth values": (pl.Boolean, [True, False]),
    "decimals": (pl.Decimal(10, 2), [1, 2]),
    "bytes": (pl.Binary, [b"a", b"b"]),
}


@pytest.mark.parametrize(("dtype", "ids"), ODD_IDS.values(), ids=ODD_IDS)
def test_ids_of_other_types_are_refused(dtype, ids, tmp_path):
    frame = pl.DataFrame({"user": ids, "winner": ["a", "a"], "loser": ["b", "b"]}, schema_overrides={"user": dtype})
    frame.write_parquet(tmp_path / "votes.parquet")
    sentence = refusal(tmp_path / "votes.parquet", tmp_path / "store")
    assert sentence.startswith("votes.parquet: the ids in user are of type ")
    assert sentence.endswith(". A store supports integers and text: write such ids as text.")


def test_a_missing_id_is_a_better_reason_than_its_type(tmp_path):
    frame = pl.DataFrame({"user": [1.0, float("nan")], "winner": ["a", "a"], "loser": ["b", "b"]})
    frame.write_parquet(tmp_path / "votes.parquet")
    assert refusal(tmp_path / "votes.parquet", tmp_path / "store").startswith("votes.parquet: row 2: user is missing")


def test_numbers_beyond_64_bits_are_refused(tmp_path):
    frame = pl.DataFrame({"user": [2**64 - 1], "winner": ["a"], "loser": ["b"]}, schema_overrides={"user": pl.UInt64})
    frame.write_parquet(tmp_path / "votes.parquet")
    assert "numbers beyond 64 bits, such as 18446744073709551615" in refusal(
        tmp_path / "votes.parquet", tmp_path / "store"
    )


def test_numbers_in_one_file_and_text_in_another_are_refused(tmp_path):
    numbers = written([(1, "a", "b")], tmp_path / "numbers.parquet")
    texts = written([("u", "a", "b")], tmp_path / "texts.parquet")
    words = written([("u", "a", "b")], tmp_path / "words.csv")
    for other in (texts, words):
        assert refusal([numbers, other], tmp_path / "store") == (
            f"{other.name}: user ids are integers in numbers.parquet and text in {other.name}. "
            "Write them the same way in all files."
        )


def test_numbers_in_one_column_and_text_in_the_other_are_refused(tmp_path):
    path = written([("u", 1, "b")], tmp_path / "votes.parquet")
    assert refusal(path, tmp_path / "store") == (
        "votes.parquet: ids are text in loser and numbers in winner. Write them the same way in both."
    )


def test_files_of_the_same_name_are_told_apart(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        written([("u", "a", "a" if folder == "b" else "b")], tmp_path / folder / "votes.csv")
    sentence = refusal([tmp_path / "a", tmp_path / "b"], tmp_path / "store")
    assert sentence.startswith(f"{tmp_path / 'b' / 'votes.csv'}: row 1: an item is compared with itself")
    (tmp_path / "b" / "votes.csv").write_bytes(b"\xff\xfe" * 9)
    assert refusal([tmp_path / "a", tmp_path / "b"], tmp_path / "store").startswith(
        f"{tmp_path / 'b' / 'votes.csv'} is not UTF-8 text"
    )


def test_inputs_that_are_not_there_are_refused(tmp_path, write):
    assert refusal(tmp_path / "no.csv", tmp_path / "store") == f"{tmp_path / 'no.csv'}: there is no such file."
    assert refusal(tmp_path / "*.csv", tmp_path / "store") == f"{tmp_path / '*.csv'}: no file has a name like this."
    assert refusal(tmp_path, tmp_path / "store").startswith(
        f"{tmp_path} holds no file to ingest. Expected an ending of "
    )
    assert "unknown kind of file" in refusal(write("votes.xlsx", "x"), tmp_path / "store")
    with pytest.raises(ParameterError, match=r"^expected at least one file, glob or folder to ingest, got none\.$"):
        build([], tmp_path / "store")
    with pytest.raises(ParameterError, match=r"^expected the path of a file, got int\.$"):
        build([3], tmp_path / "store")


def test_a_file_given_twice_is_refused(tmp_path):
    path = written(GOOD, tmp_path / "votes.csv")
    assert refusal([path, tmp_path], tmp_path / "store") == (
        f"{path} is listed twice; its rows would count twice. List every file once."
    )


def test_parameters_that_make_no_sense_are_refused(tmp_path):
    path = written(GOOD, tmp_path / "votes.csv")
    for options in (
        {"ties": "both"},
        {"columns": {"users": "user"}},
        {"columns": 3},
        {"memory": "much"},
        {"memory": "1MB"},
    ):
        with pytest.raises(ParameterError):
            ingest(path, tmp_path / "store", **options)
    with pytest.raises(ParameterError, match=r"^expected the path of a store, got int\.$"):
        ingest(path, 3)
    with pytest.raises(DataError, match="there is no folder"):
        ingest(path, tmp_path / "no" / "store")
    assert list(tmp_path.iterdir()) == [path]


def test_a_user_with_more_comparisons_than_memory_is_told_and_goes_on_with_more(tmp_path):
    path = written([("me", "a", "b")] * 40 + [("you", "a", "b")], tmp_path / "votes.csv")
    small = Budget(data_bytes=2000, text_bytes=100, batch_rows=9, shard_rows=5)
    with pytest.raises(ParameterError) as caught:
        build(path, tmp_path / "store", budget=small)
    assert str(caught.value) == (
        "user 'me' has 40 comparisons, too many for the memory allowed. Run again with memory='1GB' to continue."
    )
    assert (tmp_path / "store.part").is_dir()
    assert len(build(path, tmp_path / "store")) == 41


def test_more_items_than_memory_are_told_and_go_on_with_more(tmp_path):
    path = written([("u", f"a{n}", f"b{n}") for n in range(40)], tmp_path / "votes.csv")
    small = Budget(data_bytes=10_000, text_bytes=100, batch_rows=9, shard_rows=5)
    with pytest.raises(ParameterError, match=r"items, too many for the memory allowed\. Increase memory and run again"):
        build(path, tmp_path / "store", budget=small)
    assert len(build(path, tmp_path / "store")) == 40


def test_a_zipped_file_is_read_whatever_its_name(tmp_path, write, assert_same):
    text = "user,winner,loser\n" + "".join(f"u{n},a,b\n" for n in range(30))
    plain, zipped = write("plain.csv.gz", text), write("zipped.csv", gzip.compress(text.encode()))
    for path in (plain, zipped):
        store = build(path, tmp_path / f"{path.name}.store")
        assert_same(store.to_comparisons(), read_comparisons(path))

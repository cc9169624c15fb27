"""Files: every kind, and every way in which they are broken."""

import gzip
import io

import numpy as np
import polars as pl
import pytest

from plurank import (
    Comparisons,
    DataError,
    ParameterError,
    read_comparisons,
)

CSV = "user,winner,loser\nu,a,b\nu,b,c\nv,c,a\n"
ROWS = [("u", "a", "b"), ("u", "b", "c"), ("v", "c", "a")]
ODD = [
    "plain",
    "a,b",
    'say "hi"',
    "two\nlines",
    "two\r\nlines",
    "🍣 ramen",
    " spaces ",
    "tab\t",
    "ünï",
    "'",
    "#1",
    "NA",
    "null",
]


def refusal(path, **options):
    with pytest.raises(DataError) as caught:
        read_comparisons(path, **options)
    assert type(caught.value) is DataError
    return str(caught.value)


def jsonl(frame):
    buffer = io.BytesIO()
    frame.write_ndjson(buffer)
    return buffer.getvalue()


def parquet(frame):
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def csv(frame, separator=","):
    return frame.write_csv(separator=separator).encode()


CONTENTS = {
    "votes.csv": csv,
    "votes.txt": csv,
    "VOTES.CSV": csv,
    "votes.tsv": lambda frame: csv(frame, "\t"),
    "votes.tab": lambda frame: csv(frame, "\t"),
    "votes.parquet": parquet,
    "votes.pq": parquet,
    "votes.jsonl": jsonl,
    "votes.ndjson": jsonl,
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", CONTENTS)
def test_every_kind_of_file_is_read_plain_and_gzipped(name, zipped, write, triples):
    content = CONTENTS[name](pl.DataFrame(ROWS, schema=["user", "winner", "loser"], orient="row"))
    path = write(f"{name}.gz" if zipped else name, gzip.compress(content) if zipped else content)
    assert triples(read_comparisons(path)) == ROWS
    assert triples(read_comparisons(str(path))) == ROWS


@pytest.mark.parametrize("name", CONTENTS)
def test_odd_ids_come_back_as_they_went_in(name, write, assert_same):
    c = Comparisons.from_arrays([*ODD, "u"], [*ODD[1:], *ODD[:2]], [*ODD[3:], *ODD[:4]])
    assert_same(read_comparisons(write(name, CONTENTS[name](c.to_frame()))), c)


@pytest.mark.parametrize("name", CONTENTS)
def test_whole_numbers_and_weights_come_back_as_they_went_in(name, write, assert_same):
    c = Comparisons.from_arrays([30, 4, 4], [-1, 10, 9], [10, 9, -1], weights=[0.1, 1 / 3, 7])
    assert_same(read_comparisons(write(name, CONTENTS[name](c.to_frame()))), c)


@pytest.mark.parametrize(
    "ids", [["007", "7", "8"], ["1", "2", "3.5"], ["1", "2", "1e3"], ["1", "2", "+3"], ["1", "2", " 3"]]
)
def test_ids_that_only_look_like_numbers_stay_text(ids, write):
    rows = "".join(f"{user},x,y\n" for user in ids)
    users = read_comparisons(write("votes.csv", f"user,winner,loser\n{rows}")).users
    assert users.tolist() == sorted(ids)


def test_items_are_numbers_only_if_all_of_them_are(write):
    c = read_comparisons(write("votes.csv", "user,winner,loser\n5,1,2\n5,2,x\n"))
    assert c.items.tolist() == ["1", "2", "x"]
    assert c.users.tolist() == [5]


@pytest.mark.parametrize("name", ["votes.parquet", "votes.jsonl"])
def test_text_stays_text_where_the_file_says_so(name, write):
    frame = pl.DataFrame({"user": ["1"], "winner": ["7"], "loser": ["8"]})
    assert read_comparisons(write(name, CONTENTS[name](frame))).items.tolist() == ["7", "8"]


def test_columns_ties_and_side_forms_work_in_files(write, triples):
    path = write("votes.csv", "who,model_a,model_b,winner\n1,x,y,tie\n1,x,z,model_b\n")
    assert triples(read_comparisons(path, columns={"user": "who"}, ties="drop")) == [(1, "z", "x")]
    assert triples(read_comparisons(path, columns={"user": "who"}))[:2] == [(1, "x", "y", 0.5), (1, "y", "x", 0.5)]


@pytest.mark.parametrize(
    "content",
    [
        CSV.replace("\n", "\r\n"),
        "\ufeff" + CSV,
        CSV.rstrip("\n"),
        CSV + "\n\n",
        CSV.replace("\nv", "\n\nv"),
        CSV.replace(",", ";"),
        CSV.replace(",", "\t"),
        CSV.replace(",", "|"),
        CSV.replace("user,winner,loser", '"user", Winner,LOSER '),
        'user,winner,loser\n"u","a","b"\n"u","b","c"\n"v","c","a"\n',
        CSV.replace("loser\n", "loser,note\n").replace("b\n", "b,\n").replace("c\n", "c,\n").replace("a\n", "a,hi\n"),
    ],
    ids=[
        "windows",
        "byte order mark",
        "no last newline",
        "blank at end",
        "blank between",
        "semicolons",
        "tabs",
        "bars",
        "header",
        "quotes",
        "more",
    ],
)
def test_csv_is_read_as_spreadsheets_write_it(content, write, triples):
    assert triples(read_comparisons(write("votes.csv", content))) == ROWS


def test_a_text_file_that_is_not_zipped_despite_its_name_is_read(write, triples):
    assert triples(read_comparisons(write("votes.csv.gz", CSV))) == ROWS


def test_many_users_with_two_comparisons_each_are_read(tmp_path):
    n = 200_000
    users = np.tile(np.arange(n), 2)
    frame = pl.DataFrame({"user": users, "winner": users % 50, "loser": users % 50 + 1})
    frame.write_csv(tmp_path / "votes.csv")
    c = read_comparisons(tmp_path / "votes.csv")
    assert (c.n_users, c.n_items, len(c)) == (n, 51, 2 * n)
    assert set(np.diff(c.offsets)) == {2}
    assert c.items[c.winners[:4]].tolist() == [0, 0, 1, 1]


# what is refused

EMPTY = "votes.csv: there are no comparisons: expected at least one row of user, winner, loser."
ENCODING = "votes.csv is not UTF-8 text (perhaps Latin-1 or UTF-16). Save it as UTF-8."
MISSING = "is missing (empty, null or NaN). Fill it in or drop the row."
BROKEN_CSV = {
    "empty": ("", "votes.csv is empty; expected a header and at least one row."),
    "header only": ("user,winner,loser\n", EMPTY),
    "header without newline": ("user,winner,loser", EMPTY),
    "header and blank lines": ("user,winner,loser\n\n\n", EMPTY),
    "self": (
        "user,winner,loser\nu,a,b\nu,a,a\n",
        "votes.csv: row 2: an item is compared with itself ('a'). Drop such rows.",
    ),
    "number against itself": (
        "user,winner,loser\n1,7,7\n",
        "votes.csv: row 1: an item is compared with itself (7). Drop such rows.",
    ),
    "empty id": ("user,winner,loser\nu,a,b\n,a,b\n", f"votes.csv: row 2: user {MISSING}"),
    "quoted empty id": ('user,winner,loser\nu,a,""\n', f"votes.csv: row 1: loser {MISSING}"),
    "short row": (CSV + "u,a\n", f"votes.csv: row 4: loser {MISSING}"),
    "long row": (
        CSV + "u,a,b,c\n",
        'votes.csv: row 4: expected 3 values as in the header, got 4. Put values that hold the separator in "quotes".',
    ),
    "same name twice": (
        "user,winner,winner,loser\nu,a,b,c\n",
        "votes.csv: 'winner', 'winner_duplicated_0' could all be the winner. Select one with columns={'winner': ...}.",
    ),
    "text as weight": (
        "user,winner,loser,weight\nu,a,b,1\nu,a,b,x\n",
        "votes.csv: row 2: the weight is not a positive number. Use a decimal point (0.5), or remove the row.",
    ),
    "unknown winner": (
        "user,left,right,winner\nu,a,b,neither\n",
        "votes.csv: row 1: winner 'neither' is neither left ('a') nor right ('b'). Use one of them, or 'tie'.",
    ),
    "latin-1": ("user,winner,loser\nu,café,b\n".encode("latin-1"), ENCODING),
    "latin-1 header": ("usér,winner,loser\nu,a,b\n".encode("latin-1"), ENCODING),
    "utf-16": (CSV.encode("utf-16"), ENCODING),
    "bytes": (bytes(range(256)) * 10, ENCODING),
    "blank": ("\n", "votes.csv could not be read as CSV: empty CSV. Is it damaged, or a file of another kind?"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "sentence"), BROKEN_CSV.values(), ids=BROKEN_CSV)
def test_broken_csv_is_refused_with_a_sentence(content, sentence, write):
    assert refusal(write("votes.csv", content)) == sentence


def test_a_long_row_is_found_in_gzipped_files_and_behind_quoted_newlines(write):
    content = 'user,winner,loser\nu,"a\nb",c\nu,a,b\nu,a,b,c\n'
    sentence = 'row 3: expected 3 values as in the header, got 4. Put values that hold the separator in "quotes".'
    assert refusal(write("votes.csv.gz", gzip.compress(content.encode()))) == f"votes.csv.gz: {sentence}"


def test_wrong_columns_are_refused(write):
    assert refusal(write("votes.csv", "a,b\n1,2\n")).startswith(
        "votes.csv: no column for the user: expected one of user, user_id, "
    )


LONG = "user,winner,loser\n" + "".join(f"u{n},{n % 7},{n % 5 + 10}\n" for n in range(2000))
ZIPPED = gzip.compress(LONG.encode())


@pytest.mark.parametrize(
    "content",
    [
        ZIPPED[:40],
        ZIPPED[: len(ZIPPED) // 2],
        ZIPPED[:-4],
        ZIPPED[:-8] + b"12345678",
        ZIPPED[:200] + b"?" * 9 + ZIPPED[209:],
        b"\x1f\x8b\x08 nonsense",
    ],
    ids=["head", "half", "no end", "checksum", "damaged", "nonsense"],
)
@pytest.mark.parametrize(
    ("name", "kind"), [("v.csv.gz", "CSV"), ("v.jsonl.gz", "JSON lines"), ("v.parquet.gz", "Parquet")]
)
def test_broken_gzip_is_refused_with_a_sentence(name, kind, content, write):
    sentence = refusal(write(name, content))
    assert sentence.startswith(f"{name} could not be read as {kind}: ")
    assert sentence.endswith(". Is it damaged, or a file of another kind?")


def test_an_empty_gzip_is_refused(write):
    assert refusal(write("votes.csv.gz", gzip.compress(b""))).startswith("votes.csv.gz could not be read as CSV: empty")


@pytest.mark.parametrize("content", ["hello", CSV, CSV * 100])
def test_text_renamed_to_parquet_is_refused(content, write):
    sentence = refusal(write("votes.parquet", content))
    assert sentence.startswith("votes.parquet could not be read as Parquet: ")
    assert sentence.endswith(". Is it damaged, or a file of another kind?")


def test_half_a_parquet_file_is_refused(write):
    content = parquet(pl.DataFrame(ROWS, schema=["user", "winner", "loser"], orient="row"))
    assert refusal(write("votes.parquet", content[: len(content) // 2])).startswith("votes.parquet could not be read")


def test_a_parquet_file_without_rows_is_refused(write):
    empty = pl.DataFrame(schema={"user": pl.String, "winner": pl.String, "loser": pl.String})
    assert refusal(write("votes.parquet", parquet(empty))) == EMPTY.replace("csv", "parquet")


@pytest.mark.parametrize("content", ["not json\n", "1\n2\n", "[1, 2]\n", '{"user": 1, "winner"', "\n", '[{"user": 1}]'])
def test_broken_json_lines_are_refused(content, write):
    sentence = refusal(write("votes.jsonl", content))
    assert sentence.startswith("votes.jsonl could not be read as JSON lines: ")
    assert sentence.endswith(". Is it damaged, or a file of another kind?")


def test_a_json_line_without_an_id_is_refused(write):
    line = '{"user": 1, "winner": "a", "loser": "b"}\n'
    assert (
        refusal(write("votes.jsonl", line + '{"user": 2, "winner": "a"}\n')) == f"votes.jsonl: row 2: loser {MISSING}"
    )
    assert refusal(write("votes.jsonl", line.replace("1", "null"))) == f"votes.jsonl: row 1: user {MISSING}"
    assert refusal(write("votes.jsonl", line.replace("1", "[1]"))).startswith("votes.jsonl: ids must be hashable")


def test_a_folder_and_a_file_that_does_not_exist_are_refused(tmp_path):
    assert refusal(tmp_path) == f"{tmp_path} is a folder; expected a file."
    assert refusal(tmp_path / "no.csv") == f"{tmp_path / 'no.csv'}: there is no such file."


@pytest.mark.parametrize("path", [None, 3, io.BytesIO(CSV.encode())])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ParameterError) as caught:
        read_comparisons(path)
    assert str(caught.value) == f"expected the path of a file, got {type(path).__name__}."


@pytest.mark.parametrize("name", ["votes.xlsx", "votes", "votes.gz", "votes.xml"])
def test_an_unknown_kind_of_file_is_refused(name, write):
    assert refusal(write(name, CSV)) == (
        f"{name}: unknown kind of file. Expected an ending of .csv, .txt, .tsv, .tab, .parquet, .pq, .jsonl, .ndjson, "
        ".json, or these with .gz. Ratings and rankings of other kinds become comparisons with `plurank convert`."
    )


def test_a_model_is_not_taken_for_data(write):
    told = "votes.plurank is a model; expected a file of data. `plurank show` looks into models."
    assert refusal(write("votes.plurank", "PK")) == told


def test_rankings_of_preflib_are_pointed_to_their_own_door(write):
    assert refusal(write("votes.soc", "1: 1,2\n")) == (
        "votes.soc holds rankings, not comparisons: turn them into comparisons with Comparisons.from_rankings "
        "or `plurank convert`."
    )


def test_a_semicolon_file_may_hold_commas_in_its_values(write):
    c = read_comparisons(write("votes.csv", "user;winner;loser\nu;a,b;c\nu;c;d,e\n"))
    assert c.items.tolist() == ["a,b", "c", "d,e"]


def test_a_decimal_comma_is_refused_as_a_weight_and_not_guessed_at(write):
    told = refusal(write("votes.csv", "user;winner;loser;weight\nu;a;b;0,5\n"))
    assert "the weight is not a positive number. Use a decimal point (0.5)" in told


def test_files_in_the_home_folder_can_be_named_from_there(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "votes.csv").write_text("user,winner,loser\nu,a,b\n")
    assert len(read_comparisons("~/votes.csv")) == 1

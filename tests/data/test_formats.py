"""MovieLens, pol.is and PrefLib, in small files written like theirs."""

import gzip

import polars as pl
import pytest

from plurank import (
    Comparisons,
    DataError,
    read_rankings,
    read_ratings,
)

RATED = {"user": [1, 1, 2], "item": [1193, 661, 1193], "rating": [5, 3, 4]}


def refusal(reader, path):
    with pytest.raises(DataError) as caught:
        reader(path)
    assert type(caught.value) is DataError
    return str(caught.value)


MOVIELENS = {
    "ratings.dat": "1::1193::5::978300760\n1::661::3::978302109\n2::1193::4::978298413\n",
    "u.data": "1\t1193\t5\t881250949\n1\t661\t3\t891717742\n2\t1193\t4\t878887116\n",
    "ratings.csv": "userId,movieId,rating,timestamp\n1,1193,5,964982703\n1,661,3,964981247\n2,1193,4,964982224\n",
}


@pytest.mark.parametrize("name", MOVIELENS)
def test_ratings_are_read_from_a_folder_whose_name_looks_like_a_glob(name, tmp_path):
    (tmp_path / "m[1]*?").mkdir()
    (tmp_path / "m[1]*?" / name).write_text(MOVIELENS[name])
    assert read_ratings(tmp_path / "m[1]*?" / name)["rating"].to_list() == RATED["rating"]


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", MOVIELENS)
def test_movielens_is_read(name, zipped, write):
    content = MOVIELENS[name].encode()
    frame = read_ratings(write(f"{name}.gz" if zipped else name, gzip.compress(content) if zipped else content))
    assert frame[:, :3].rename(dict(zip(frame.columns[:3], RATED, strict=True))).to_dict(as_series=False) == RATED
    assert Comparisons.from_ratings(frame).to_frame().rows() == [(1, 1193, 661)]


@pytest.mark.parametrize("name", MOVIELENS)
def test_half_stars_are_numbers(name, write):
    frame = read_ratings(
        write(name, MOVIELENS[name].replace("5:", "4.5:").replace("5\t", "4.5\t").replace(",5,", ",4.5,"))
    )
    assert frame["rating"].to_list() == [4.5, 3.0, 4.0]


def test_movielens_lines_may_end_as_on_windows_and_be_blank(write):
    content = MOVIELENS["ratings.dat"].replace("\n", "\r\n") + "\r\n"
    assert read_ratings(write("ratings.dat", content)).height == 3


@pytest.mark.parametrize(
    ("name", "line", "sentence"),
    [
        ("ratings.dat", "7::8::9", "ratings.dat, line 4: expected user::item::rating::time, got '7::8::9'."),
        (
            "ratings.dat",
            "1::2::3::4::5",
            "ratings.dat, line 4: expected user::item::rating::time, got '1::2::3::4::5'.",
        ),
        ("u.data", "1 2 3 4", "u.data, line 4: expected user\titem\trating\ttime, got '1 2 3 4'."),
    ],
)
def test_a_line_that_is_not_movielens_is_refused(name, line, sentence, write):
    assert refusal(read_ratings, write(name, MOVIELENS[name] + line + "\n")) == sentence


def test_a_movielens_file_that_is_no_text_is_refused(write):
    assert refusal(read_ratings, write("ratings.dat", b"\xff\xfe\x00" * 9)).startswith("ratings.dat ")
    assert refusal(read_ratings, write("ratings.dat", b"")) == (
        "ratings.dat is empty; expected a header and at least one row."
    )


def test_ratings_that_are_no_numbers_stay_and_are_refused_with_their_row(write):
    frame = read_ratings(write("ratings.csv", "user,item,rating\na,x,4.5\na,y,good\n"))
    with pytest.raises(DataError, match=r"^row 2: rating is not a number"):
        Comparisons.from_ratings(frame)


def test_ids_with_leading_zeros_stay_text_in_ratings(write):
    frame = read_ratings(write("ratings.csv", "user,item,rating\n1,007,4\n1,7,3\n"))
    assert frame["item"].to_list() == ["007", "7"]
    assert frame["user"].to_list() == [1, 1]


def test_ratings_are_read_from_parquet_as_they_are(tmp_path):
    frame = pl.DataFrame({"user": ["1"], "item": ["2"], "rating": [0.5]})
    frame.write_parquet(tmp_path / "ratings.parquet")
    assert read_ratings(tmp_path / "ratings.parquet").equals(frame)


VOTES = """timestamp,datetime,comment-id,voter-id,vote
1410001,Sat Sep 06 2014,0,5,-1
1410009,Sat Sep 06 2014,0,6,1
1410002,Sat Sep 06 2014,1,5,1
1410003,Sat Sep 06 2014,0,5,0
999,Sat Sep 06 2014,1,6,1
"""


def test_the_last_vote_of_a_voter_on_a_comment_counts(write):
    frame = read_ratings(write("votes.csv", VOTES))
    assert sorted(frame.select("user", "item", "rating").rows()) == [(5, 0, 0), (5, 1, 1), (6, 0, 1), (6, 1, 1)]
    assert Comparisons.from_ratings(frame).to_frame().rows() == [(5, 1, 0)]


MATRIX = """participant,group-id,n-comments,n-votes,n-agree,n-disagree,0,1,10
0,0,1,3,2,0,1,0,1
1,,0,1,0,1,-1,,
7,1,0,2,1,1,,1,-1
"""


def test_the_vote_matrix_of_polis_is_read(write):
    frame = read_ratings(write("participants-votes.csv", MATRIX))
    expected = [(0, 0, 1), (0, 1, 0), (0, 10, 1), (1, 0, -1), (7, 1, 1), (7, 10, -1)]
    assert sorted(frame.rows()) == expected
    assert frame.columns == ["user", "item", "rating"]
    assert sorted(Comparisons.from_ratings(frame).to_frame().rows()) == [(0, 0, 1), (0, 10, 1), (7, 1, 10)]


def test_a_vote_matrix_without_comments_is_refused(write):
    content = "participant,group-id,n-votes\n0,0,3\n"
    assert refusal(read_ratings, write("participants-votes.csv", content)) == (
        "participants-votes.csv looks like participants-votes.csv of pol.is, "
        "but no column is named by a comment number."
    )


NEW = """# FILE NAME: 00014-00000001.toi
# TITLE: Sushi
# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: ebi
# ALTERNATIVE NAME 2: anago: the eel
# ALTERNATIVE NAME 3: maguro
# ALTERNATIVE NAME 4: ika
2: 1,{2,3}
1: {4, 1},2,3
"""
OLD = """4
1,ebi
2,anago: the eel
3,maguro
4,ika
3,3,2
2,1,{2,3}
1,{4,1},2,3
"""
EBI, ANAGO, MAGURO, IKA = "ebi", "anago: the eel", "maguro", "ika"
BALLOTS = [
    (1, EBI, 1), (1, ANAGO, 2), (1, MAGURO, 2),
    (2, EBI, 1), (2, ANAGO, 2), (2, MAGURO, 2),
    (3, IKA, 1), (3, EBI, 1), (3, ANAGO, 2), (3, MAGURO, 3),
]  # fmt: skip


@pytest.mark.parametrize("content", [NEW, OLD, "\ufeff" + NEW, NEW.replace("\n", "\r\n"), OLD + "\n\n"])
@pytest.mark.parametrize("ending", ["soc", "soi", "toc", "toi", "TOI"])
def test_preflib_is_read_with_its_new_and_its_old_header(content, ending, write):
    assert read_rankings(write(f"sushi.{ending}", content)).rows() == BALLOTS


def test_preflib_may_be_gzipped_and_leads_to_comparisons(write):
    frame = read_rankings(write("sushi.toi.gz", gzip.compress(NEW.encode())))
    assert frame.rows() == BALLOTS
    c = Comparisons.from_rankings(frame)
    assert sorted(c.to_frame().filter(user=3).rows()) == [
        (3, ANAGO, MAGURO), (3, EBI, ANAGO), (3, EBI, MAGURO), (3, IKA, ANAGO), (3, IKA, MAGURO)
    ]  # fmt: skip


def test_alternatives_without_a_name_keep_their_number(write):
    assert read_rankings(write("x.soc", "1: 2,1\n")).rows() == [(1, "2", 1), (1, "1", 2)]


def test_alternatives_of_the_same_name_stay_different(write):
    content = "# ALTERNATIVE NAME 1: other\n# ALTERNATIVE NAME 2: other\n# ALTERNATIVE NAME 3: me\n1: 2,3,1\n"
    assert [row[1] for row in read_rankings(write("x.soc", content)).rows()] == ["other (2)", "me", "other (1)"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (NEW + "1; 2,3\n", "x.toi, line 10: expected 'count: a,b,{c,d}', got '1; 2,3'."),
        (NEW + "1: 2,{3\n", "x.toi, line 10: expected 'count: a,b,{c,d}', got '1: 2,{3'."),
        (NEW + "1: 2,}3\n", "x.toi, line 10: expected 'count: a,b,{c,d}', got '1: 2,}3'."),
        (NEW + "1:\n", "x.toi, line 10: expected 'count: a,b,{c,d}', got '1:'."),
        (NEW + "1: {}\n", "x.toi, line 10: expected at least one alternative, got '1: {}'."),
        (NEW + "1: 2,3,{1,2}\n", "x.toi, line 10: an alternative occurs twice in '2,3,{1,2}'."),
        ("# TITLE: none\n", "x.toi: there are no ballots; expected lines like '3: 1,2,{3,4}'."),
        ("4\n1,ebi\n", "x.toi: there are no ballots; expected lines like '3: 1,2,{3,4}'."),
        ("999999999: 1,2\n", "x.toi: expected at most 100,000,000 places on all ballots together, got 1,999,999,998."),
        ("9" * 30 + ": 1,2\n", f"x.toi, line 1: expected 'count: a,b,{{c,d}}', got '{'9' * 30}: 1,2'."),
        ("9" * 5000 + "\n1,ebi\n", f"x.toi, line 1: expected 'count: a,b,{{c,d}}', got '{'9' * 60}'."),
        ("2\n1,ebi\nika\n2,1,1\n", "x.toi, line 3: expected 'number,name' of an alternative, got 'ika'."),
        ("1: café\n".encode("latin-1"), "x.toi is not UTF-8 text (perhaps Latin-1 or UTF-16). Save it as UTF-8."),
        (b"", "x.toi is empty; expected a header and at least one row."),
    ],
)
def test_broken_ballots_are_refused_with_their_line(content, sentence, write):
    assert refusal(read_rankings, write("x.toi", content)) == sentence


def test_broken_gzip_is_refused_by_every_reader(write):
    half = gzip.compress(NEW.encode() * 100)[:80]
    assert refusal(read_rankings, write("x.soc.gz", half)).startswith("x.soc.gz could not be read as PrefLib ballots: ")
    assert refusal(read_ratings, write("ratings.dat.gz", half)).startswith(
        "ratings.dat.gz could not be read as MovieLens ratings: "
    )


def test_rankings_are_read_from_tables(write):
    frame = read_rankings(write("ranks.csv", "user,item,rank\na,x,1\na,y,2\n"))
    assert frame.rows() == [("a", "x", 1), ("a", "y", 2)]
    assert Comparisons.from_rankings(frame).to_frame().rows() == [("a", "x", "y")]


@pytest.mark.parametrize("reader", [read_ratings, read_rankings])
def test_readers_refuse_folders_and_unknown_files(reader, tmp_path, write):
    assert refusal(reader, tmp_path) == f"{tmp_path} is a folder; expected a file."
    assert refusal(reader, tmp_path / "no.csv") == f"{tmp_path / 'no.csv'}: there is no such file."
    assert refusal(reader, write("x.xlsx", "?")).startswith("x.xlsx: unknown kind of file. Expected an ending of ")

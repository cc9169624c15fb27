"""Small made-up files in the formats of the public data sets, and entries of the list that expect them."""

import hashlib
import io
import zipfile
from dataclasses import replace

from plurank.datasets import ENTRIES, digest_of

RATED = [(1, 10, 5), (1, 20, 3), (2, 10, 1), (2, 20, 4), (3, 20, 2), (3, 10, 3)]
FOOD = (
    "RespondentID,How much?,Please rate how much you like the traditional cuisine of Algeria:,"
    "Please rate how much you like the traditional cuisine ofÊAustralia.,"
    "Please rate how much you like the traditional cuisine of the Netherlands.,Gender\n"
    "7,Some,N/A,3,5,Male\n8,Not muchÊ,1,,2,Female\n9,Some,,,,\n"
)
VOTES = "participant,group-id,n-comments,n-votes,n-agree,n-disagree,0,1\n4,0,0,2,1,1,1,-1\n5,,0,2,1,0,0,1\n"
COMMENTS = 'timestamp,comment-id,comment-body\n2,1,"Second, with a comma"\n1,0,First\n'


def zipped(**members):
    """Give the bytes of a zip of some texts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text.encode("latin-1"))
    return buffer.getvalue()


def lines(rows, separator):
    return "".join(separator.join(map(str, (*row, 881250949))) + "\n" for row in rows)


FILES = {
    "ml-100k.zip": zipped(**{
        "ml-100k/u.data": lines(RATED, "\t"),
        "ml-100k/u.item": "10|Amélie (2001)|01-Jan-2001||\n20|Amélie (2001)|x||\n30|Unrated|x||\n",
    }),
    "ml-1m.zip": zipped(**{
        "ml-1m/ratings.dat": lines(RATED, "::"),
        "ml-1m/movies.dat": "10::Toy Story (1995)::Animation\n20::Jumanji (1995)::Adventure\n",
    }),
    "sushi3-2016.zip": zipped(**{
        "sushi3-2016/sushi3a.5000.10.order": "3 1\n0 3 2 0 1\n0 3 1 0 2\n",
        "sushi3-2016/sushi3b.5000.10.order": "5 1\n0 2 4 0\n0 2 0 3\n",
        "sushi3-2016/sushi3.idata": "".join(f"{i}\tsushi{i}\t1\t0\n" for i in range(5)),
    }),
    "food-world-cup-data.csv": FOOD.encode("latin-1"),
    "vtaiwan-participants-votes.csv": VOTES.encode(),
    "vtaiwan-comments.csv": COMMENTS.encode(),
}  # fmt: skip
SIZES = {
    "movielens-100k": (3, 2, 6), "movielens-1m": (3, 2, 6), "sushi-a": (2, 3, 6), "sushi-b": (2, 3, 4),
    "food-world-cup": (2, 3, 4), "vtaiwan": (2, 2, 4),
}  # fmt: skip


def made_up_entries(folder):
    """Give the list with the checksums, sizes and digests of the made-up files, which are written to a folder."""
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    return {name: expecting(entry, folder) for name, entry in ENTRIES.items()}


def expecting(entry, folder):
    files = tuple(
        replace(file, checksum=file.checksum and "md5:" + hashlib.md5(FILES[file.name]).hexdigest())
        for file in entry.files
    )
    users, items, values = SIZES[entry.name]
    digest = entry.digest and digest_of(entry.read([folder / file.name for file in files])[0])
    return replace(entry, files=files, n_users=users, n_items=items, n_values=values, digest=digest)

"""Tables about items: texts, and what moderation hides."""

import numpy as np
import polars as pl
import pytest

import plurank
from plurank import (
    Comparisons,
    DataError,
    read_comparisons,
    read_items,
)
from plurank.data.items import refuse_hidden

COMMENTS = """timestamp,datetime,comment-id,author-id,agrees,disagrees,moderated,comment-body
1,d,2,0,1,1,-1,Spam
1,d,0,0,1,1,1,"More
buses"
1,d,1,0,1,1,0,"Fewer, cars"
"""
IDEAS = """Wikisurvey ID,Idea ID,Idea Text,Wins,Losses,Active
7,101,Longer hours,1,2,True
7,102,Cheaper tickets,3,0,False
7,103,New seats,3,0,True
"""
VOTES = """Vote ID,Session ID,Wikisurvey ID,Winner ID,Winner Text,Loser ID,Loser Text,Left Choice ID,Valid
1,s1,7,101,Longer hours,102,Cheaper tickets,101,True
2,s1,7,103,New seats,101,Longer hours,101,True
3,s2,7,102,Cheaper tickets,103,New seats,102,False
4,s2,7,101,Longer hours,103,New seats,103,True
"""


def test_comments_of_polis_have_texts_on_one_line_and_hide_what_was_moderated_out(file):
    items = read_items(file("comments.csv", COMMENTS))
    assert items.ids.tolist() == [0, 1, 2]
    assert items.texts == ("More buses", "Fewer, cars", "Spam")
    assert items.hidden.tolist() == [False, False, True], "0 is not moderated, which hides nothing"


def test_ideas_of_all_our_ideas_are_hidden_where_they_are_not_active(file):
    items = read_items(file("ideas.csv", IDEAS))
    assert items.texts == ("Longer hours", "Cheaper tickets", "New seats")
    assert items.hidden.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("columns", "texts"),
    [
        ({"item": ["b", "a"], "text": ["B!", "A!"]}, ("A!", "B!")),
        ({"id": ["b", "a"], "name": ["B!", "A!"]}, ("A!", "B!")),
        ({"movieId": ["b", "a"], "title": ["B!", "A!"], "genres": ["x", "y"]}, ("A!", "B!")),
        ({"title": ["b", "a"]}, ("a", "b")),
        ({"item": ["b", "a"], "text": [None, "A!"]}, ("A!", "b")),
    ],
)
def test_the_usual_names_of_columns_are_understood(columns, texts):
    assert read_items(pl.DataFrame(columns)).texts == texts


def test_columns_of_other_names_are_named():
    frame = pl.DataFrame({"nr": [1, 2], "wording": ["one", "two"], "gone": ["no", "yes"], "part": ["x", "y"]})
    given = {"item": "nr", "text": "wording", "hidden": "gone", "group": "part"}
    items = read_items(frame, columns=given)
    assert (items.texts, items.hidden.tolist(), items.groups) == (("one", "two"), [False, True], ("x", "y"))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"wording": ["x"]}, "no column for the item: expected one of item, "),
        ({"item": ["a", "a"], "text": ["x", "y"]}, "item 'a' has more than one row"),
        ({"item": ["a", None]}, "row 2: item is missing"),
        ({"item": [], "text": []}, "there are no items"),
        ({"item": ["a"], "hidden": ["maybe"]}, "hidden is neither true nor false"),
    ],
)
def test_tables_that_cannot_be_meant_are_refused(columns, sentence):
    with pytest.raises(DataError, match=sentence):
        read_items(pl.DataFrame(columns))


def test_errors_about_a_file_name_it(file):
    with pytest.raises(DataError, match=r"^items.csv: item 'a' has more than one row"):
        read_items(file("items.csv", "item,text\na,x\na,y\n"))
    with pytest.raises(DataError, match="there is no such file"):
        read_items("nowhere.csv")


def test_comparisons_get_texts_and_lose_hidden_items():
    votes = Comparisons.from_arrays(["u", "u", "v", "w"], ["a", "b", "a", "c"], ["b", "c", "c", "a"])
    table = pl.DataFrame({"item": ["a", "b", "c"], "text": ["A!", "B!", "C!"], "hidden": [0, 0, 1]})
    shown = votes.with_items(table)
    assert shown.to_frame().rows() == [("u", "a", "b")]
    assert (shown.items.tolist(), shown.texts) == (["a", "b"], ("A!", "B!"))
    assert [str(entry) for entry in shown.excluded] == [
        "1 of 3 items left out: hidden by moderation",
        "3 of 4 rows left out: about items hidden by moderation",
        "2 of 3 users left out: compared hidden items only",
    ]


def test_an_item_that_the_table_does_not_have_is_its_own_text():
    votes = Comparisons.from_arrays(["u"], ["a"], ["b"])
    assert votes.with_items(pl.DataFrame({"item": ["a"], "text": ["A!"]})).texts == ("A!", "b")


def test_a_table_of_other_items_is_refused():
    votes = Comparisons.from_arrays(["u"], ["a"], ["b"])
    with pytest.raises(DataError, match="none of the items, such as 'a', is in the table of items, which has 'z'"):
        votes.with_items(pl.DataFrame({"item": ["z"], "text": ["Z!"]}))


def test_nothing_but_hidden_items_is_refused():
    votes = Comparisons.from_arrays(["u"], ["a"], ["b"])
    table = pl.DataFrame({"item": ["a", "b"], "hidden": [True, False]})
    with pytest.raises(DataError, match="every comparison has an item that is hidden"):
        votes.with_items(table)
    rated = pl.DataFrame({"user": ["u"], "item": ["a"], "rating": [1]})
    with pytest.raises(DataError, match="every rating is of an item that is hidden"):
        Comparisons.from_ratings(rated, items=read_items(table))


def test_hidden_items_are_left_out_of_ratings_before_anything_is_compared():
    frame = pl.DataFrame({"user": ["u", "u", "v", "v", "w"], "item": [1, 2, 1, 3, 3], "rating": [1, -1, 1, -1, 1]})
    table = pl.DataFrame({"item": [1, 2, 3], "text": ["one", "two", "three"], "hidden": [False, False, True]})
    made = Comparisons.from_ratings(frame, items=table)
    assert made.to_frame().rows() == [("u", 1, 2)]
    assert made.texts == ("one", "two")
    assert made.ratings.item_labels.tolist() == [1, 2]
    assert [str(entry) for entry in made.excluded] == [
        "1 of 3 items left out: hidden by moderation",
        "2 of 5 rows left out: about items hidden by moderation",
        "1 of 3 users left out: answered about hidden items only",
        "1 of 3 users left out: cast a single vote",
    ]


def test_with_items_leaves_hidden_items_out_of_the_ratings_too():
    frame = pl.DataFrame({"user": ["u"] * 3, "item": ["a", "b", "c"], "rating": [3, 2, 1]})
    made = Comparisons.from_ratings(frame).with_items(pl.DataFrame({"item": ["a", "b"], "hidden": [True, False]}))
    assert made.ratings.item_labels.tolist() == ["b", "c"]
    assert made.ratings.items.tolist() == [0, 1]
    assert made.ratings.values.tolist() == [2, 1]
    assert np.diff(made.ratings.offsets).tolist() == [2]


def test_votes_of_all_our_ideas_are_read_as_they_are(file):
    votes = read_comparisons(file("votes.csv", VOTES))
    assert votes.users.tolist() == ["s1", "s2"]
    assert sorted(votes.to_frame().rows()) == [("s1", 101, 102), ("s1", 103, 101), ("s2", 101, 103)]
    assert votes.texts == ("Longer hours", "Cheaper tickets", "New seats"), "the votes have texts themselves"
    assert [str(entry) for entry in votes.excluded] == ["1 of 4 rows left out: marked as invalid"]


def test_ideas_that_are_not_active_are_left_out_of_votes(file):
    votes = read_comparisons(file("votes.csv", VOTES), items=file("ideas.csv", IDEAS))
    assert votes.items.tolist() == [101, 103]
    assert votes.texts == ("Longer hours", "New seats")


def test_a_session_is_a_user_only_where_nothing_else_is():
    frame = pl.DataFrame({"voter": ["v"], "session_id": ["s"], "winner": ["x"], "loser": ["y"]})
    assert Comparisons.from_frame(frame).users.tolist() == ["v"]


def test_from_frame_takes_a_table_of_items():
    frame = pl.DataFrame({"user": ["u"], "winner": ["a"], "loser": ["b"]})
    items = read_items(pl.DataFrame({"item": ["a", "b"], "text": ["A!", "B!"]}))
    assert Comparisons.from_frame(frame, items=items).texts == ("A!", "B!")


def test_a_store_refuses_a_table_that_hides_its_items(tmp_path):
    frame = pl.DataFrame({"user": ["u", "u"], "winner": ["a", "b"], "loser": ["b", "a"]})
    frame.write_csv(tmp_path / "votes.csv")
    store = plurank.ingest(tmp_path / "votes.csv", tmp_path / "store")
    table = read_items(pl.DataFrame({"item": ["a", "b"], "hidden": [True, False]}))
    with pytest.raises(DataError, match="hides 1 item of the store, such as 'a'; items cannot be left out of a store"):
        refuse_hidden(store.items, table)


@pytest.mark.parametrize("sign", [1, -1])
def test_votes_the_wrong_way_round_are_refused_where_the_table_counts_them(sign):
    frame = pl.DataFrame(
        {"user": ["u", "u", "v", "v", "w"], "item": [0, 1, 0, 1, 0], "rating": [sign, -sign, sign, -sign, sign]}
    )
    table = pl.DataFrame({"comment-id": [0, 1], "comment-body": ["A", "B"], "agrees": [3, 0], "disagrees": [0, 1]})
    if sign == 1:
        assert Comparisons.from_ratings(frame, items=table).texts == ("A", "B")
        return
    with pytest.raises(DataError, match="1 and -1 are the wrong way round"):
        Comparisons.from_ratings(frame, items=table)

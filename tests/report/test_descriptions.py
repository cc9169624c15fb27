"""What a model says in words."""

import numpy as np
import pytest

import plurank
from plurank.models.summary import describe_mixing
from plurank.report import descriptions
from plurank.report.texts import fit_text
from plurank.text import listing, people
from tests.report.conftest import MAKERS, Told


@pytest.mark.parametrize("kind", MAKERS)
def test_every_model_is_described(kind, models):
    model = models(kind)
    told = plurank.describe_rankings(model)
    assert [entry["ranking"] for entry in told] == list(range(1, len(model.rankings_) + 1))
    for entry, share in zip(told, model.mean_weights_, strict=True):
        assert entry["share"] == pytest.approx(share)
        assert entry["sentence"].endswith(".")
        assert set(entry["high"]).isdisjoint(entry["low"])
    assert describe_mixing(model).endswith(".")


def test_a_ranking_is_told_by_what_it_puts_unusually_high_and_low():
    model = Told([[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 5, 4], [5, 1, 2, 3, 4, 0]], [0.4, 0.3, 0.3])
    third = plurank.describe_rankings(model)[2]
    assert third["high"] == ["f"]
    assert third["low"] == ["a"]
    assert third["sentence"] == "Puts f, b and c first; puts f higher and a lower than the others do."


def test_of_two_rankings_each_is_told_beside_the_other():
    first = plurank.describe_rankings(Told([[0, 1, 2, 3], [3, 1, 2, 0]], [0.6, 0.4]))[0]
    assert first["sentence"] == "Puts a, b and c first; puts a higher and d lower than the other does."


def test_one_ranking_is_told_without_others():
    only = plurank.describe_rankings(Told([[2, 0, 1]], [1.0]))
    assert only[0]["sentence"] == "Puts c, a and b first."
    assert only[0]["high"] == only[0]["low"] == []


def test_what_all_of_it_comes_first_in_one_ranking_only_is_said_shortly():
    first = plurank.describe_rankings(Told([[0, 1, 2, 3, 4, 5], [3, 4, 5, 0, 1, 2]], [0.6, 0.4]))[0]
    assert first["sentence"] == "Puts a, b and c first, unlike the other; puts d, e and f lower than the other does."


def test_what_is_not_certain_is_not_said():
    vague = plurank.describe_rankings(Told([[0, 1, 2, 3, 4, 5], [5, 1, 2, 3, 4, 0]], [0.5, 0.5], error=8.0))[0]
    assert vague["sentence"] == "Has no item that is surely in its best third."
    assert vague["top"] == vague["high"] == vague["low"] == []
    orders = [list(range(12)), [11, *range(1, 11), 0]]
    some = plurank.describe_rankings(Told(orders, [0.5, 0.5], error=0.7))[0]
    assert some["sentence"] == ("Has a, b and c in its best third; puts a higher and l lower than the other does.")


def test_nothing_is_said_of_items_with_few_votes():
    model = Told([[0, 1, 2, 3, 4, 5], [3, 4, 5, 0, 1, 2]], [0.6, 0.4])
    model.item_votes_ = np.array([1, 50, 50, 50, 50, 1])
    first = plurank.describe_rankings(model)[0]
    told = "Has b in its best third, unlike the other; puts c higher and d and e lower than the other does."
    assert first["sentence"] == told


def test_a_model_without_a_posterior_says_that_it_does_not_know(models):
    told = plurank.describe_rankings(models("TopicRanking"))[0]
    assert told["sentence"].endswith("this kind of model does not say how sure that is.")
    assert told["high"] == told["low"] == []


def test_long_statements_stand_in_quotation_marks_and_no_stop_is_doubled():
    texts = [
        "Labour was right to support the article 50 vote.",
        "Other issues matter more, to me, than this one.",
        "x.",
    ]
    only = plurank.describe_rankings(Told([[0, 1, 2]], [1.0], texts=texts))[0]
    assert only["sentence"] == (
        "Puts “Labour was right to support the article 50 vote”, “Other issues matter more, to me, than this one” "
        "and “x” first."
    )
    assert only["top"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([[1, 0, 0], [0, 1, 0]], "Everybody follows one ranking at 80% or more."),
        ([[0.34, 0.33, 0.33]], "Nobody stands out"),
        (
            [[0.6, 0.4, 0.0], [0.9, 0.1, 0.0]],
            "50% of people follow one ranking at 80% or more and everybody follows one at half or more.",
        ),
        (
            [[0.6, 0.4, 0.0], [0.4, 0.4, 0.2]],
            "Nobody follows one ranking at 80% or more and 50% follow one at half or more.",
        ),
    ],
)
def test_mixing_is_told_by_how_much_people_follow_one(weights, words):
    assert words in describe_mixing(Told([[0, 1]] * 3, [0.4, 0.3, 0.3], weights))


def test_those_who_blend_alike_are_said_to():
    model = Told([[0, 1]] * 3, [0.4, 0.3, 0.3], [[0.34, 0.33, 0.33]], mixing="utility")
    assert describe_mixing(model).startswith("Everybody blends the rankings in nearly the same shares")


def test_typical_people_are_near_a_ranking_and_well_known():
    model = Told([[0, 1], [1, 0]], [0.5, 0.5], [[0.9, 0.1], [0.901, 0.099], [0.1, 0.9], [0.5, 0.5]])
    model.user_concentration_ = np.array([50.0, 1.0, 9.0, 9.0])
    assert descriptions.typical_people(model, 2)[0]["users"] == ["user 0", "user 1"]
    assert descriptions.typical_people(model, 1)[1]["users"] == ["user 2"]
    assert descriptions.mixed_people(model, 1)["users"] == ["user 3"]


def test_long_labels_are_cut_to_columns():
    assert fit_text("x" * 50, 10) == "x" * 9 + "…"
    assert fit_text("one two three", 10) == "one two…"
    assert fit_text("共" * 50, 10) == "共" * 4 + "…"


def test_numbers_are_put_into_words():
    assert (people(1), people(2000)) == ("1 person", "2,000 people")
    assert [listing(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]

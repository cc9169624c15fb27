"""What a model says in words."""

import numpy as np
import pytest

import plurank
from plurank.report import descriptions
from plurank.report.wording import label, listing, people, percent
from tests.report.conftest import MAKERS


class Told:
    """As much of a model as descriptions look at."""

    def __init__(self, rankings, shares, weights=None):
        self.rankings_, self.mean_weights_ = np.array(rankings), np.array(shares)
        self.items_ = np.array([chr(97 + i) for i in range(self.rankings_.shape[1])], dtype=object)
        self.user_weights_ = np.array(shares)[None] if weights is None else np.array(weights)
        self.users_ = np.arange(len(self.user_weights_))


@pytest.mark.parametrize("kind", MAKERS)
def test_every_model_is_described(kind, models):
    model = models(kind)
    told = plurank.describe_rankings(model)
    assert [entry["ranking"] for entry in told] == list(range(1, len(model.rankings_) + 1))
    for entry, share in zip(told, model.mean_weights_, strict=True):
        assert entry["share"] == pytest.approx(share)
        assert entry["sentence"].endswith(".")
        assert set(entry["high"]).isdisjoint(entry["low"])
    assert descriptions.describe_mixing(model).endswith(".")
    assert descriptions.describe_agreement(model)["sentence"].endswith(".")


def test_a_ranking_is_told_by_what_it_puts_unusually_high_and_low():
    model = Told([[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 5, 4], [5, 1, 2, 3, 4, 0]], [0.4, 0.3, 0.3])
    third = plurank.describe_rankings(model)[2]
    assert third["high"] == ["f"]
    assert third["low"] == ["a"]
    assert third["sentence"] == "Puts f, b and c first, unlike the others; puts a lower than the others do."


def test_of_two_rankings_each_is_told_beside_the_other():
    first = plurank.describe_rankings(Told([[0, 1, 2, 3], [3, 1, 2, 0]], [0.6, 0.4]))[0]
    assert first["sentence"] == "Puts a, b and c first, unlike the other; puts d lower than the other does."


def test_one_ranking_is_told_without_others():
    only = plurank.describe_rankings(Told([[2, 0, 1]], [1.0]))
    assert only[0]["sentence"] == "Puts c, a and b first."
    assert only[0]["high"] == only[0]["low"] == []


def test_common_ground_and_disputes_are_told():
    model = Told([[0, 1, 2, 3, 4, 5], [0, 4, 2, 3, 1, 5]], [0.5, 0.5])
    told = descriptions.describe_agreement(model, 1)
    assert (told["agreed_high"], told["agreed_low"], told["contested"]) == (["a"], ["f"], ["b"])
    same = descriptions.describe_agreement(Told([[0, 1], [0, 1]], [0.5, 0.5]))
    assert same["sentence"] == "All rankings are the same."


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
    assert words in descriptions.describe_mixing(Told([[0, 1]] * 3, [0.4, 0.3, 0.3], weights))


def test_those_who_blend_alike_are_said_to():
    model = Told([[0, 1]] * 3, [0.4, 0.3, 0.3], [[0.34, 0.33, 0.33]])
    model.mixing = "utility"
    assert descriptions.describe_mixing(model).startswith("Everybody blends the rankings in nearly the same shares")


def test_typical_people_are_near_a_ranking_and_well_known():
    model = Told([[0, 1], [1, 0]], [0.5, 0.5], [[0.9, 0.1], [0.901, 0.099], [0.1, 0.9], [0.5, 0.5]])
    model.user_evidence_ = np.array([50.0, 1.0, 9.0, 9.0])
    assert descriptions.typical_people(model, 2)[0]["users"] == [0, 1]
    assert descriptions.typical_people(model, 1)[1]["users"] == [2]
    assert descriptions.mixed_people(model, 1)["users"] == [3]


def test_labels_are_one_line_and_show_what_cannot_be_seen():
    assert label("a\nb\x1b") == "a\\nb\\x1b"
    assert label("\u202eabc") == "\\u202eabc"
    assert label("\ud800") == "\\ud800"
    assert label("") == "(empty)"
    assert label(7) == "7"
    assert label("x" * 50, 10) == "x" * 9 + "…"


def test_numbers_are_put_into_words():
    assert [percent(share) for share in (0, 0.0001, 0.051, 0.5)] == ["0%", "under 0.1%", "5.1%", "50%"]
    assert (people(1), people(2000)) == ("1 person", "2,000 people")
    assert [listing(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]

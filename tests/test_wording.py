"""Words that sentences everywhere share."""

import pytest

from plurank.text import label, percent, quote, reason_of, shorten, spell_controls


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("no such thing.\nat line 3", "no such thing"),
        ("'a key'", "a key"),
        ("", "ValueError"),
        ("x" * 5000, "x" * 200 + "..."),
    ],
)
def test_the_reason_of_an_error_is_one_short_line(message, reason):
    assert reason_of(ValueError(message)) == reason


@pytest.mark.parametrize(
    ("text", "longest", "expected"),
    [
        ("We need more public debate", 26, "We need more public debate"),
        ("We need more public debate", 25, "We need more public…"),
        ("We need more public debate", 20, "We need more public…"),
        ("We need more public debate", 19, "We need more…"),
        ("Well, this, is it", 12, "Well, this…"),
        ("x" * 30, 10, "x" * 9 + "…"),
        (" " * 30, 10, "…"),
        ("ab", 1, "…"),
    ],
)
def test_long_text_is_cut_between_words(text, longest, expected):
    assert shorten(text, longest) == expected
    assert len(shorten(text, longest)) <= longest


def test_statements_in_sentences_are_quoted_and_shortened():
    assert quote("Buses are fine") == "“Buses are fine”"
    assert quote("Buses are fine", 12) == "“Buses are…”"


def test_labels_are_one_line_and_show_what_cannot_be_seen():
    assert label("a\nb\x1b") == "a\\nb\\x1b"
    assert label("\u202eabc") == "\\u202eabc"
    assert label("\ud800") == "\\ud800"
    assert label("") == "(empty)"
    assert label(7) == "7"
    assert label("👩\u200d🚀") == "👩\u200d🚀"
    assert label("می\u200cخواهم") == "می\u200cخواهم"
    assert spell_controls("a\nb\tc", but="\n") == "a\nb\\tc"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"),
        (1e-15, "0%"),
        (0.0001, "under 1%"),
        (0.0049, "under 1%"),
        (0.0051, "1%"),
        (0.051, "5%"),
        (0.5, "50%"),
        (0.9949, "99%"),
        (0.9951, "over 99%"),
        (0.9999, "over 99%"),
        (1 - 1e-15, "100%"),
        (1, "100%"),
    ],
)
def test_only_nothing_and_all_are_zero_and_a_hundred_percent(share, text):
    assert percent(share) == text

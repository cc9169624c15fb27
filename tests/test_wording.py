"""Words that sentences everywhere share."""

import pytest

from plurank.text import quote, reason_of, shorten


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

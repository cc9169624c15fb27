"""Words that sentences everywhere share."""

import pytest

from plurank.wording import reason_of


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

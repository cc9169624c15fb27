"""Items as people read them."""

from plurank.report.texts import has_statements, mention, text_of
from plurank.report.theme import names_of, row_height
from tests.report.conftest import Told

LONG = "It is possible that provision of a basic income could be done in a manner which does not cost more overall."


def test_names_stand_as_they_are_and_statements_in_quotation_marks():
    assert mention(["tea", "coffee"]) == "tea and coffee"
    assert mention(["tea", "milk, hot"]) == "“tea” and “milk, hot”"
    assert mention([LONG]) == ("“It is possible that provision of a basic income could be done in a manner which…”")


def test_a_text_is_one_line():
    model = Told([[0, 1]], [1.0], texts=["one\n\n  two ", "\x1b[31m"])
    assert text_of(model, 0) == "one two"
    assert text_of(model, 1) == "\\x1b[31m"
    assert text_of(Told([[0, 1]], [1.0]), 0) == "a"


def test_long_texts_make_statements():
    assert has_statements(Told([[0, 1]], [1.0], texts=["x", LONG]))
    assert not has_statements(Told([[0, 1]], [1.0]))


def test_names_of_figures_break_between_words_and_stay_apart():
    one, two, three = names_of([LONG, LONG, "tea"], 3)
    assert [len(line) <= 44 for line in one.split("\n")] == [True] * 3
    assert one.replace("\n", " ") == LONG
    assert two == f"{one} (2)"
    assert row_height([one]) > row_height([three])
    assert names_of([LONG])[0] == "It is possible that provision…"

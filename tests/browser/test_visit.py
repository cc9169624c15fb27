"""Somebody answers ten questions on the live page."""

import json
import sqlite3
from contextlib import closing

import pytest

from plurank.cli.demo import CAMPS
from tests.browser.conftest import PHONE

N_QUESTIONS = 10


def stored(file):
    """The answers in the database that were not withdrawn, as (user, winner, loser)."""
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("select user, winner, loser from plurank_feedback where withdrawn is null").fetchall()
    return [tuple(map(json.loads, row)) for row in rows]


@pytest.mark.parametrize("camp", CAMPS)
def test_ten_answers_show_which_ranking_somebody_follows(visit, service, ranking_of, camp):
    somebody = visit(service.url)
    before = somebody.mixture()
    for n in range(N_QUESTIONS):
        assert somebody.n_answers() == n
        somebody.answer(CAMPS[camp])
    after, own = somebody.mixture(), ranking_of[camp]
    assert after[own] > before[own]
    assert max(after, key=after.get) == own
    assert sorted(somebody.order()) == sorted(CAMPS[camp]), "items never asked about have a place too"
    assert f"after {N_QUESTIONS} answers" in somebody.text("sureness")


def test_a_reload_keeps_the_mixture_and_the_count_and_the_question(visit, service):
    somebody = visit(service.url)
    for _ in range(N_QUESTIONS):
        somebody.answer(CAMPS["city"])
    before = somebody.mixture(), somebody.order(), somebody.pair(), somebody.n_answers()
    somebody.reload()
    assert (somebody.mixture(), somebody.order(), somebody.pair(), somebody.n_answers()) == before
    assert "Welcome back" in somebody.text("said")


def test_every_answer_is_stored_once_by_the_service(visit, service, answers_file):
    somebody = visit(service.url)
    given = [somebody.answer(CAMPS["sea"]) for _ in range(N_QUESTIONS)]
    somebody.wait_until_stored()
    assert sorted(answer[1:] for answer in stored(answers_file) if answer[0] == somebody.name()) == sorted(given)


def test_an_answer_taken_back_no_longer_counts(visit, service, answers_file):
    somebody = visit(service.url)
    somebody.answer(CAMPS["sea"])
    somebody.click("undo")
    somebody.settle()
    kept = somebody.answer(CAMPS["mountains"])
    somebody.wait_until_stored()
    assert [answer[1:] for answer in stored(answers_file) if answer[0] == somebody.name()] == [kept]


def test_keys_alone_answer_skip_and_undo(visit, service):
    somebody = visit(service.url)
    first, before = somebody.pair(), somebody.mixture()
    for key in ("ArrowLeft", "ArrowRight", "a", "B"):
        somebody.press(key)
    assert somebody.n_answers() == 4
    skipped = somebody.pair()
    somebody.press("s")
    assert somebody.text("counted") == "4 answers, 1 skipped"
    assert set(somebody.pair()) != set(skipped)
    somebody.press("u")
    assert somebody.pair() == skipped
    for _ in range(4):
        somebody.press("u")
    assert (somebody.pair(), somebody.mixture(), somebody.n_answers()) == (first, before, 0)


def test_keys_can_be_switched_off_and_the_tab_key_still_reaches_the_cards(visit, service):
    somebody = visit(service.url)
    somebody.page.uncheck("#keys")
    somebody.press("a")
    assert somebody.n_answers() == 0
    somebody.page.focus("#to-explore")
    somebody.page.keyboard.press("Tab")
    somebody.press("Enter")
    assert somebody.n_answers() == 1
    assert somebody.page.evaluate("() => document.activeElement.id") == "left", "the focus stays where it was"


def test_starting_again_forgets_the_answers_and_asks_before(visit, service):
    somebody = visit(service.url)
    somebody.answer(CAMPS["sea"])
    somebody.click("again")
    somebody.click("keep")
    assert somebody.n_answers() == 1
    somebody.click("again")
    somebody.click("forget")
    somebody.page.get_by_text("0 answers", exact=True).wait_for()
    somebody.settle()
    somebody.reload()
    assert somebody.n_answers() == 0


def test_the_cards_stay_where_they_are(visit, service):
    somebody = visit(service.url)
    places = []
    for _ in range(5):
        places.append([somebody.page.locator(f"#{name}").bounding_box() for name in ("left", "right", "skip")])
        somebody.answer(CAMPS["city"])
        somebody.page.mouse.move(0, 0)  # a card under the mouse is lifted
    assert all(place == places[0] for place in places)


@pytest.mark.parametrize("options", [PHONE, {"viewport": {"width": 320, "height": 640}}], ids=["phone", "320 px"])
def test_a_small_screen_never_scrolls_sideways(visit, service, options):
    somebody = visit(service.url, **options)
    for _ in range(3):
        assert somebody.width_to_scroll() <= 0
        somebody.answer(CAMPS["sea"])
    somebody.click("to-explore")
    somebody.page.wait_for_selector("#places tr")
    assert somebody.width_to_scroll() <= 0

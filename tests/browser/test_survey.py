"""A survey that begins with a list of ideas: nothing about others is shown, and no answer is lost."""

import json
import sqlite3
from contextlib import closing

import pytest

from tests.browser.conftest import PHONE
from tests.browser.stage import Service
from tests.browser.test_accessibility import CONTRASTS, NAMELESS, SMALL, TEXTS
from tests.web.servers import served_here

IDEAS = {
    "bikes": "More bike parking",
    "rooms": "Better meeting rooms",
    "quiet": "A quiet zone where nobody talks, telephones or eats, on every floor of the building",
    "fruit": "Free fruit",
    "plants": "More plants",
    "hours": "Shorter hours in summer.",
    "lifts": "Lifts that work",
}
ORDER = list(IDEAS.values())
N_QUESTIONS = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("survey")
    rows = "".join(f'{label},"{text}"\n' for label, text in IDEAS.items())
    (made / "ideas.csv").write_text("id,text\n" + rows, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def survey(folder):
    texts = ("--title", "Our office", "--question", "What should come first?", "--questions", str(N_QUESTIONS))
    with Service(folder / "ideas.csv", *texts) as started:
        yield started


@pytest.fixture
def read_stored(folder):
    """Read (user, winner, loser, visitor) of the answers that were not withdrawn."""

    def read():
        with closing(sqlite3.connect(folder / "ideas.csv.feedback.db")) as database:
            asked = "select user, winner, loser, visitor from plurank_feedback where withdrawn is null"
            return [(*map(json.loads, row[:3]), row[3]) for row in database.execute(asked)]

    return read


@pytest.mark.parametrize("options", [{}, PHONE], ids=["wide", "phone"])
def test_no_answer_is_lost_when_the_tab_is_closed_at_once(visit, survey, read_stored, options):
    close_at_once(visit, survey, read_stored, options)


def close_at_once(visit, survey, read_stored, options):
    somebody = visit(survey.url, **options)
    name, given = somebody.name(), []
    for _ in range(5):
        given.append(somebody.answer(ORDER))
        somebody.page.wait_for_timeout(500 - 150)  # two answers a second, with what the page itself takes
    left, right = somebody.pair()
    somebody.click("left")
    somebody.page.close()
    given.append((left, right))
    expected = sorted((IDEAS_BY_TEXT[winner], IDEAS_BY_TEXT[loser]) for winner, loser in given)
    other = visit(survey.url)  # whatever the browser still has to send, it sends while this one is open
    other.page.wait_for_function(WAITED, arg=None, polling=100)
    assert sorted(row[1:3] for row in read_stored() if row[0] == name) == expected


IDEAS_BY_TEXT = {text: label for label, text in IDEAS.items()}
WAITED = "() => { window.waited = (window.waited ?? 0) + 1; return window.waited > 5; }"


def test_a_survey_shows_its_own_texts_and_progress_and_thanks_at_the_end(visit, survey, read_stored):
    somebody = visit(survey.url)
    assert somebody.text("title") == somebody.page.title() == "Our office"
    assert somebody.text("question") == "What should come first?"
    for n in range(N_QUESTIONS):
        assert somebody.text("counted") == f"{n} of {N_QUESTIONS}"
        assert set(somebody.pair()) < set(ORDER), "texts, not ids"
        somebody.answer(ORDER)
    somebody.page.get_by_text("You gave 6 answers, and all of them are stored. You may close this page.").wait_for()
    somebody.wait_for("#finished-title")
    somebody.wait_for("#left", "hidden")
    rows = [row for row in read_stored() if row[0] == somebody.name()]
    assert len(rows) == N_QUESTIONS
    assert len({row[3] for row in rows}) == 1
    assert rows[0][3], "the service knows the browser by its cookie"
    somebody.wait_for("#skip", "hidden")
    somebody.reload()
    somebody.wait_for("#finished-title")
    somebody.click("go-on")
    somebody.settle()
    assert somebody.text("counted") == f"{N_QUESTIONS} of {2 * N_QUESTIONS}"
    somebody.wait_for("#left")


def test_nothing_about_others_is_asked_for_or_shown(visit, survey):
    somebody = visit(survey.url, "#explore")
    asked = []
    somebody.page.on("request", lambda request: asked.append(request.url.removeprefix(survey.url)))
    somebody.reload()
    for _ in range(3):
        somebody.answer(ORDER)
        shown = somebody.page.inner_text("body")
        assert not any(word in shown for word in ("%", "Ranking", "average", "expected", "surprise"))
    somebody.wait_for("nav", "hidden")
    assert not {"health", "fold-in", "rank", "predict", "figures/rankings"} & {*asked}
    assert not [url for url in asked if url.startswith("rankings")]
    assert "feedback" in asked


def test_a_reload_asks_the_same_question_and_undo_takes_the_answer_back(visit, survey, read_stored):
    somebody = visit(survey.url)
    pair = somebody.pair()
    somebody.reload()
    assert somebody.pair() == pair
    somebody.answer(ORDER)
    somebody.wait_until_stored()
    assert len([row for row in read_stored() if row[0] == somebody.name()]) == 1
    somebody.press("u")
    assert sorted(somebody.pair()) == sorted(pair)
    somebody.wait_until_stored()
    assert [row for row in read_stored() if row[0] == somebody.name()] == []
    assert somebody.text("counted") == f"0 of {N_QUESTIONS}"


def test_an_item_that_is_a_sentence_gets_one_full_stop(visit, survey):
    somebody = visit(survey.url)
    for _ in range(N_QUESTIONS):
        somebody.answer(ORDER[5:] + ORDER[:5])
        assert ".." not in somebody.text("said")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_every_part_of_a_survey_has_contrast_names_and_size(visit, survey, scheme, width):
    look_at_every_part(visit, survey, scheme, width)


def look_at_every_part(visit, survey, scheme, width):
    somebody = visit(survey.url, color_scheme=scheme, viewport={"width": width, "height": 844})
    for n in range(N_QUESTIONS + 1):
        if n in (0, 1, N_QUESTIONS):
            assert [text for text in somebody.page.evaluate(CONTRASTS, TEXTS) if text[1] < 4.5] == []
            assert somebody.page.evaluate(NAMELESS) == []
            assert somebody.page.evaluate(SMALL) == []
            assert somebody.page.locator("h1:visible").count() == 1
            assert somebody.width_to_scroll() <= 0
            assert somebody.page.is_visible(".hint kbd") == (width > 600 and n < N_QUESTIONS), "phones have no keys"
        if n < N_QUESTIONS:
            somebody.answer(ORDER)


def test_a_model_that_knows_nothing_says_so(visit, folder):
    with served_here(folder / "ideas.csv", hide_results=False) as address:
        somebody = visit(f"{address}/")
        assert somebody.text("order-note").startswith("Nothing is known about this order yet")
        assert {*somebody.page.locator("#order .bounds").all_text_contents()} == {"any place"}
        assert sorted(somebody.order()) == sorted(ORDER)
        somebody.click("to-explore")
        somebody.page.wait_for_selector("#places tr")
        assert "could be anywhere" in somebody.text("places")
        somebody.close()


def test_answers_that_were_not_acknowledged_are_sent_again_and_all_at_once_when_the_page_is_left(
    visit, survey, read_stored
):
    somebody = visit(survey.url)
    name, bodies = somebody.name(), []

    def fail(route):
        bodies.append(route.request.post_data_json)
        route.fulfill(status=503, json={"error": "the disk is full."})

    somebody.page.route("**/feedback", fail)
    for _ in range(3):
        somebody.answer(ORDER)
    somebody.page.get_by_text("not stored by the service yet").wait_for()
    somebody.page.unroute("**/feedback")
    somebody.page.goto("about:blank")
    visit(survey.url).page.wait_for_function(WAITED, polling=100)
    assert len([row for row in read_stored() if row[0] == name]) == 3
    assert len(bodies) > 1
    assert all("503" in fault or "about:blank" in fault for fault in somebody.faults)
    somebody.faults.clear()


@pytest.mark.parametrize(
    "options", [{"color_scheme": "light"}, {**PHONE, "color_scheme": "dark"}], ids=["wide", "phone"]
)
def test_axe_finds_nothing_wrong_before_during_and_after_a_survey(visit, survey, options):
    axe = pytest.importorskip("tests.browser.axe")
    if axe.find_axe() is None:
        pytest.skip(axe.MISSING)
    somebody = visit(survey.url, bypass_csp=True, **options)
    for n in range(N_QUESTIONS + 1):
        if n in (0, 1, N_QUESTIONS):
            assert axe.violations(somebody.page) == []
        if n < N_QUESTIONS:
            somebody.answer(ORDER)

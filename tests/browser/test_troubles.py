"""What the live page does when labels are odd, all is asked, a token is wanted, or the service goes away."""

import numpy as np
import pytest

import plurank
from plurank.cli.demo import CAMPS
from tests.browser.conftest import PHONE
from tests.web.servers import served_here

ODD = ("<b>bold</b><script>alert(1)</script>", "🍜 ラーメン", "word " * 40, "x" * 200, "שלום & \"co\" 'quoted'", "007")


@pytest.fixture(scope="module")
def odd_service():
    """Serve a model whose labels are markup, emoji, long, or read from right to left."""
    rng = np.random.default_rng(0)
    pairs = np.sort(np.array([rng.choice(len(ODD), 2, replace=False) for _ in range(300)]), axis=1)
    labels = np.array(ODD, dtype=object)
    c = plurank.Comparisons.from_arrays(np.arange(300) // 10, labels[pairs[:, 0]], labels[pairs[:, 1]])
    model = plurank.MixedRanking(2, mixing="probability", concentration=1.0, score_scale=1.0, random_state=0).fit(c)
    with served_here(model, hide_results=False) as address:
        yield f"{address}/"


@pytest.mark.parametrize("options", [{}, PHONE], ids=["wide", "phone"])
def test_odd_labels_are_shown_as_they_are(visit, odd_service, options):
    somebody = visit(odd_service, **options)
    assert sorted(somebody.order()) == sorted(ODD)
    places = []
    for _ in range(4):
        assert set(somebody.pair()) < set(ODD)
        assert somebody.width_to_scroll() <= 0
        places.append(somebody.page.locator("#skip").bounding_box())
        somebody.answer(ODD)
    assert places == places[:1] * 4, "nothing moves, however long a label"
    somebody.click("to-explore")
    somebody.page.wait_for_selector("#places tr")
    assert somebody.page.locator("#places b, #places script").count() == 0


def test_when_every_pair_was_asked_the_page_says_so_and_undo_goes_back(visit, odd_service):
    somebody = visit(odd_service)
    for _ in range(len(ODD) * (len(ODD) - 1) // 2):
        somebody.answer(ODD)
    assert "no pair left" in somebody.text("finished-text")
    somebody.wait_for("#asking", "hidden")
    somebody.press("u")
    somebody.wait_for("#left")


def test_the_page_asks_for_the_token_and_says_when_it_is_wrong(browser, camps_model):
    with served_here(camps_model, token="open sesame") as address:
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        page.get_by_label("access token").fill("wrong")
        page.keyboard.press("Enter")
        page.get_by_text("That token was not accepted").wait_for()
        page.get_by_label("access token").fill("open sesame")
        page.keyboard.press("Enter")
        page.wait_for_selector("#portrait[aria-busy=false]")
        page.reload()
        page.wait_for_selector("#portrait[aria-busy=false]")
        context.close()


def test_the_page_says_that_the_service_is_away_and_goes_on_when_it_is_back(visit, service):
    somebody = visit(service.url)
    somebody.answer(CAMPS["sea"])
    service.stop()
    try:
        somebody.click("left")
        somebody.page.get_by_text("The service does not answer").wait_for()
        somebody.page.get_by_role("button", name="Try again").wait_for()
        assert somebody.n_answers() == 2
    finally:
        service.start()
    somebody.page.locator("#retry").dispatch_event("click")  # it may be gone by now: the page tries by itself, too
    somebody.settle()
    somebody.wait_for("#problem", "hidden")
    somebody.answer(CAMPS["sea"])
    assert somebody.n_answers() == 3
    somebody.wait_until_stored()
    assert all("ERR_CONNECTION_REFUSED" in fault for fault in somebody.faults)
    somebody.faults.clear()

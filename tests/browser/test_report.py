"""The report in a browser: a file that needs nothing else."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import plurank
from tests.browser.axe import MISSING, find_axe, violations
from tests.browser.conftest import PHONE
from tests.report.made_effects import with_effects

OPEN_ALL = "() => document.querySelectorAll('details').forEach((it) => { it.open = true; })"
# what reaches further than the page does, and from where to where, in pixels
OUTSIDE = """() => [...document.querySelectorAll("svg, svg text, table, p, li, h1, h2, h3, dd, dt")]
  .filter((it) => it.checkVisibility()).map((it) => [it.textContent.slice(0, 60), it.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.left < -0.5 || box.right > document.documentElement.clientWidth + 0.5))
  .map(([text, box]) => [text, box.left, box.right])"""
CLIPPED = "() => [...document.querySelectorAll('.scroll')].filter((it) => getComputedStyle(it).overflowX !== 'visible')"


@pytest.fixture(scope="module")
def report(camps_model, tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    plurank.write_report(with_effects(camps_model), file)
    return file.as_uri()


@pytest.mark.parametrize("options", [{"color_scheme": "dark"}, PHONE], ids=["wide and dark", "phone"])
def test_the_report_opens_from_a_file_without_a_network_errors_or_requests(browser, report, options):
    context = browser.new_context(offline=True, **options)
    page, faults, requests = context.new_page(), [], []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report)
    assert page.locator("h1").count() == 1
    assert page.locator("svg").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    context.close()
    assert (faults, requests) == ([], [report])


def test_no_label_of_a_figure_is_cut_off_where_nobody_can_scroll_to(browser, report):
    page = browser.new_page(**PHONE)
    page.goto(report)
    left = "(box) => Math.min(...[...box.querySelectorAll('text')].map((text) => text.getBoundingClientRect().left))"
    boxes = page.locator("figure > .scroll")
    assert all(box.evaluate(left) >= box.bounding_box()["x"] for box in boxes.all())
    assert boxes.count() > 1
    page.close()


@pytest.fixture(scope="module")
def poll_report(tmp_path_factory):
    """A poll with statements of a hundred characters, in four rankings, and a table and a figure of everything."""
    rng = np.random.default_rng(0)
    texts = tuple(
        f"Statement {n}: {'we should think about what this would mean for everybody ' * 2}".strip() for n in range(24)
    )
    sides = rng.choice([-1, 1], (3, 24))
    votes = [(u, i, int(sides[u % 3, i] if rng.random() < 0.9 else 0)) for u in range(90) for i in range(24)]
    frame = pl.DataFrame(votes, schema=["user", "item", "rating"], orient="row")
    comparisons = replace(plurank.Comparisons.from_ratings(frame), texts=texts)
    file = tmp_path_factory.mktemp("poll") / "report.html"
    model = plurank.MixedRanking(
        3, mixing="probability", concentration=1.0, score_scale=1.0, random_state=0, max_iter=20
    ).fit(comparisons)
    plurank.write_report(model, file, comparisons, with_people=True)
    return file.as_uri()


@pytest.mark.skipif(find_axe() is None, reason=MISSING)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_wrong_with_the_report(browser, report, poll_report, scheme, width):
    check_by_axe(browser, (report, poll_report), scheme, width)


def check_by_axe(browser, addresses, scheme, width):
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 844}, bypass_csp=True)
    page = context.new_page()
    for address in addresses:
        page.goto(address)
        page.evaluate(OPEN_ALL)
        assert violations(page) == []
    context.close()


def test_nothing_is_cut_off_on_paper(browser, report, poll_report):
    page = browser.new_page(viewport={"width": 680, "height": 1000})  # A4 less margins of 15 mm, at 96 pixels an inch
    page.emulate_media(media="print")
    for address in (report, poll_report):
        page.goto(address)
        page.evaluate(OPEN_ALL)
        assert page.evaluate(OUTSIDE) == []
        assert page.evaluate(CLIPPED) == []
    page.close()


def test_what_is_wider_than_a_phone_scrolls_and_says_so(browser, poll_report):
    page = browser.new_page(**PHONE)
    page.goto(poll_report)
    page.evaluate(OPEN_ALL)
    boxes = page.locator(".scroll").all()
    assert len(boxes) > 5
    for box in boxes:
        is_wider = box.evaluate("(it) => it.scrollWidth > it.clientWidth")
        has_hint = box.evaluate("(it) => it.previousElementSibling?.matches('.hint') ?? false")
        assert has_hint == is_wider
    assert page.locator(".hint").first.is_visible()
    # a long statement stands in a few lines, not in one or two words a line
    rows = page.locator("tbody tr").all()
    assert max(row.bounding_box()["height"] for row in rows) < 250
    page.close()

"""A small model that is served, a browser, and visits that fail on any console error or request elsewhere."""

import pytest

import plurank
from plurank.cli.demo import CAMPS, make_people
from tests.browser.stage import Service, find_chromium, open_browser
from tests.browser.visit import Visit

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def pytest_collection_modifyitems(items):
    if find_chromium() is None:
        reason = "NO BROWSER: the live page is not tested. Install chromium, or name one in PLURANK_CHROMIUM."
        for item in items:
            if "tests/browser" in item.path.as_posix():
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def camps_model():
    """The three camps of ``plurank demo``."""
    return plurank.MixedRanking(len(CAMPS), mixing="probability", random_state=0).fit(make_people(0).comparisons)


@pytest.fixture(scope="session")
def ranking_of(camps_model):
    """Which ranking is which camp's, counted from 1."""
    order = plurank.align(camps_model.items_[camps_model.rankings_], list(CAMPS.values())).tolist()
    return {camp: k + 1 for camp, k in zip(CAMPS, order, strict=True)}


@pytest.fixture(scope="session")
def camps_file(camps_model, tmp_path_factory):
    file = tmp_path_factory.mktemp("served") / "camps.plurank"
    camps_model.save(file)
    return file


@pytest.fixture(scope="session")
def answers_file(tmp_path_factory):
    return tmp_path_factory.mktemp("answers") / "answers.db"


@pytest.fixture(scope="package")
def service(camps_file, answers_file):
    with Service(camps_file, "--feedback", str(answers_file), "--show-results") as started:
        yield started


# for this folder only, which is a package for that: while Playwright is there, no other test could run an event loop
@pytest.fixture(scope="package")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture
def visit(browser):
    """Open pages as new visitors; nothing may have gone wrong on any of them."""
    visits = []

    def begin(url, part="", **options):
        context = browser.new_context(reduced_motion="reduce", **options)
        context.set_default_timeout(60_000)
        visits.append(Visit(context.new_page(), url))
        return visits[-1].open(part)

    yield begin
    for begun in visits:
        begun.close()
    assert [fault for begun in visits for fault in begun.faults] == []

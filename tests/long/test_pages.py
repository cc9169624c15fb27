"""The live page and the report on every screen in every colour scheme, and tabs closed again and again."""

import pytest

from tests.browser.axe import MISSING, find_axe
from tests.browser.conftest import PHONE, camps_model, visit
from tests.browser.stage import find_chromium, open_browser
from tests.browser.test_report import check_by_axe, poll_report, report
from tests.browser.test_survey import close_at_once, folder, look_at_every_part, read_stored, survey

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="NO BROWSER: the live page is not tested.")


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.mark.skipif(find_axe() is None, reason=MISSING)
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_with_the_report(browser, report, poll_report, scheme, width):
    check_by_axe(browser, (report, poll_report), scheme, width)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_part_of_a_survey_has_contrast_names_and_size(visit, survey, scheme, width):
    look_at_every_part(visit, survey, scheme, width)


@pytest.mark.parametrize("run", range(10))
def test_no_answer_is_lost_when_the_tab_is_closed_at_once(visit, survey, read_stored, run):
    close_at_once(visit, survey, read_stored, PHONE if run % 2 else {})

"""The report in a browser: a file that needs nothing else."""

import pytest

import plurank
from tests.browser.conftest import PHONE


@pytest.fixture(scope="module")
def report(camps_model, tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    plurank.write_report(camps_model, file)
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

"""Checks by hand of what everybody needs to use the live page: names, structure, contrast, size."""

import pytest

from plurank.cli.demo import CAMPS

TEXTS = "h1, h2, p, .label, .share, .which, .bounds, .small, nav a, .pill, th, td, label, option"
NAMELESS = """() => [...document.querySelectorAll("button, a, input, select")]
  .filter((it) => it.checkVisibility() && !(it.textContent.trim() || it.labels?.length || it.ariaLabel))
  .map((it) => it.outerHTML)"""
SMALL = """() => [...document.querySelectorAll("button, nav a, select, input:not([type=checkbox]), label:has(input)")]
  .filter((it) => it.checkVisibility()).map((it) => [it.outerHTML, it.getBoundingClientRect()])
  .filter(([, box]) => box.width < 44 || box.height < 44).map(([html]) => html)"""
# relative luminance and contrast as WCAG 2 defines them; the background is the nearest one that is painted
CONTRASTS = """(texts) => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [[r, 0.2126], [g, 0.7152], [b, 0.0722]].reduce((sum, [c, weight]) => {
    const share = c / 255;
    return sum + weight * (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4);
  }, 0);
  const behind = (it) => {
    const colour = numbers(getComputedStyle(it).backgroundColor);
    return colour.length === 3 || colour[3] > 0 ? colour : behind(it.parentElement);
  };
  const shown = [...document.querySelectorAll(texts)].filter((it) => it.checkVisibility() && it.textContent.trim());
  return shown.map((it) => {
    const [one, other] = [numbers(getComputedStyle(it).color), behind(it)].map(light);
    return [`${it.tagName}.${it.className} ${it.id}`, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)];
  });
}"""


@pytest.fixture
def somebody(visit, service):
    begun = visit(service.url)
    begun.answer(CAMPS["sea"])
    return begun


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_and_controls_have_names_and_size(somebody, scheme):
    somebody.page.emulate_media(color_scheme=scheme)
    for part, sign in {"to-prefer": "#order tr", "to-explore": "#places tr"}.items():
        somebody.click(part)
        somebody.page.wait_for_selector(sign)
        contrasts = somebody.page.evaluate(CONTRASTS, TEXTS)
        assert len(contrasts) > 20
        assert [text for text in contrasts if text[1] < 4.5] == []
        assert somebody.page.evaluate(NAMELESS) == []
        assert somebody.page.evaluate(SMALL) == []


def test_the_page_has_a_language_one_heading_landmarks_and_alternatives(somebody):
    page = somebody.page
    assert page.get_attribute("html", "lang") == "en"
    assert page.locator("img:not([alt])").count() == 0
    for part in ("to-prefer", "to-explore"):
        somebody.click(part)
        assert page.locator("h1:visible").count() == 1
    for landmark in ("banner", "main", "navigation", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map((it) => it.id)")
    assert len(ids) == len(set(ids))


def test_what_was_answered_and_what_comes_next_is_told_to_screen_readers(somebody):
    left, right = somebody.pair()
    status = somebody.page.locator("[role=status]#status").text_content()
    assert "You chose" in status
    assert f"Next: {left}, or {right}?" in status


def test_nothing_moves_for_those_who_want_it_still(somebody):
    moving = "() => document.getAnimations().length"
    somebody.click("left")
    assert somebody.page.evaluate(moving) == 0
    somebody.settle()
    assert somebody.page.evaluate(moving) == 0

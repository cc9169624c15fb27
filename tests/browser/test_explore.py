"""The rankings, on the live page."""

from plurank.cli.demo import CAMPS


def cells(somebody, column):
    return somebody.page.locator(f"#places tr > :nth-child({column})").all_text_contents()


def test_the_table_has_every_item_of_every_ranking_and_the_chart_is_drawn(visit, service, camps_model):
    somebody = visit(service.url, "#explore")
    somebody.page.wait_for_selector("#chart canvas")
    assert cells(somebody, 1) == camps_model.items_[camps_model.rankings_[0]].tolist()
    assert somebody.page.locator("#camps > li").count() == len(CAMPS)
    told = somebody.page.locator(".followers").all_text_contents()
    for text, people in zip(told, camps_model.camps()["people"], strict=True):
        assert text.startswith(f"Followed most by {people} people, by ")
    labels = camps_model.common_ground()["label"].to_list()
    assert somebody.page.get_by_role("heading", name="All camps like").count() == ("liked by all camps" in labels)
    assert somebody.page.get_by_role("heading", name="Camps disagree about").count() == ("contested" in labels)


def test_items_are_filtered_and_sorted(visit, service, camps_model):
    somebody = visit(service.url, "#explore")
    somebody.page.select_option("#sort", "2")
    assert cells(somebody, 1) == camps_model.items_[camps_model.rankings_[2]].tolist()
    somebody.page.fill("#filter", "SEA sw")
    assert cells(somebody, 1) == ["sea swim"]
    assert somebody.text("found").startswith("1 item of 12")


def test_the_skip_link_and_going_back_keep_to_the_part_one_is_in(visit, service):
    somebody = visit(service.url)
    somebody.click("to-explore")
    somebody.page.focus(".jump")
    somebody.page.keyboard.press("Enter")
    somebody.wait_for("#explore")
    somebody.click("to-prefer")
    somebody.wait_for("#left")
    assert somebody.page.get_attribute("#to-prefer", "aria-current") == "page"

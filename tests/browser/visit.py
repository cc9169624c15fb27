"""Somebody who visits the live page: what they see, what they do, and whatever goes wrong meanwhile."""

import re
from urllib.parse import urlsplit

READY = "#portrait[aria-busy=false]"


class Visit:
    """A page of a browser on a service, which keeps note of console errors and of requests to anywhere else."""

    def __init__(self, page, url):
        self.page, self.url, self.faults = page, url, []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.faults.append(f"error in the page: {error}"))
        page.on("request", self._watch)

    def _hear(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(f"console: {message.text}")

    def _watch(self, request):
        ours, its = urlsplit(self.url), urlsplit(request.url)
        if (its.scheme, its.netloc) != (ours.scheme, ours.netloc) and its.scheme not in ("data", "blob"):
            self.faults.append(f"request to another origin: {request.url}")

    def open(self, part=""):
        self.page.goto(self.url + part)
        self.settle()
        return self

    def settle(self):
        """Wait until everything that belongs to the answers so far is shown."""
        self.page.wait_for_selector(READY, state="attached")

    def wait_for(self, selector, state="visible"):
        """Wait until an element is visible, or hidden."""
        self.page.wait_for_selector(selector, state=state)

    def close(self):
        """Leave the page, while the service is still there."""
        self.page.context.close()

    def reload(self):
        self.page.reload()
        self.settle()

    def pair(self):
        return tuple(self.page.text_content(f"#{side} .label") for side in ("left", "right"))

    def answer(self, order, act=None):
        """Prefer what stands first in an order: by clicking, or by what ``act`` does with the side."""
        left, right = self.pair()
        side = "left" if order.index(left) < order.index(right) else "right"
        (act or self.click)(side)
        self.settle()
        return (left, right) if side == "left" else (right, left)

    def click(self, name):
        self.page.click(f"#{name}")

    def press(self, key):
        self.page.keyboard.press(key)
        self.settle()

    def mixture(self):
        """The weights shown, by ranking."""
        rows = self.page.locator("#mixture > li").all()
        return {int(row.get_attribute("data-ranking")): float(row.get_attribute("data-weight")) for row in rows}

    def order(self):
        return self.page.locator("#order .item").all_text_contents()

    def n_answers(self):
        return int(re.match(r"[\d,]+", self.text("counted")).group().replace(",", ""))

    def name(self):
        """The random name by which the service knows this visitor."""
        return self.page.evaluate("() => JSON.parse(Object.values(localStorage)[0]).visitor")

    def wait_until_stored(self):
        """Wait until the service has all answers."""
        self.page.wait_for_function("() => JSON.parse(Object.values(localStorage)[0]).queue.length === 0")

    def text(self, name):
        return self.page.text_content(f"#{name}").strip()

    def width_to_scroll(self):
        """By how many pixels the page is wider than the window."""
        return self.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")

"""The files of the live page, read once from the package; no request's path reaches the file system."""

import threading
from importlib.resources import files

KINDS = {"index.html": "text/html", "page.css": "text/css", "page.js": "text/javascript"}


def read_page() -> dict[str, bytes]:
    """Give the content of every file of the page."""
    folder = files("plurank.web") / "page"
    return {name: (folder / name).read_bytes() for name in KINDS if (folder / name).is_file()}


class VegaBundle:
    """The library that draws figures in a browser, put together by vl-convert the first time somebody wants it."""

    def __init__(self) -> None:
        self.lock, self.content = threading.Lock(), b""

    def get(self) -> bytes:
        """Give the script."""
        with self.lock:
            if not self.content:
                import vl_convert

                self.content = vl_convert.javascript_bundle().encode()  # type: ignore[call-arg]
            return self.content

"""The files of the live page, read once from the package; no request's path reaches the file system."""

import subprocess
import sys
import threading
from importlib.resources import files
from pathlib import PurePath
from typing import NamedTuple

KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
INDEX = "index.html"
# in a process of its own, because vl-convert lets no other thread run for the seconds it takes
BUNDLE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"


class PageFile(NamedTuple):
    """A file of the page: what it holds, and of which kind that is."""

    content: bytes
    kind: str


def read_page() -> dict[str, PageFile]:
    """Give every file of the page, by the path it is served at: the page itself at /, others at their names."""
    folder = files("plurank.web") / "page"
    found = {}
    for file in folder.iterdir() if folder.is_dir() else ():
        kind = KINDS.get(PurePath(file.name).suffix)
        if kind is not None and file.is_file():
            found["/" if file.name == INDEX else f"/{file.name}"] = PageFile(file.read_bytes(), kind)
    return found


class VegaBundle:
    """The library that draws figures in a browser, put together by vl-convert the first time somebody wants it."""

    def __init__(self) -> None:
        self.lock, self.content = threading.Lock(), b""

    def get(self) -> bytes:
        """Give the script."""
        with self.lock:
            if not self.content:
                self.content = subprocess.run([sys.executable, "-c", BUNDLE], capture_output=True, check=True).stdout
            return self.content

"""The live page: its files, read once from the package, and the library that draws its figures."""

import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from fastapi import FastAPI
from starlette.responses import Response

if TYPE_CHECKING:
    from plurank.web.application import Service

MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
INDEX = "index.html"
ONE_DAY = {"cache-control": "public, max-age=86400"}
# in a process of its own, because vl-convert holds the GIL for the seconds it takes
BUNDLE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"


class PageFile(NamedTuple):
    """A file of the page."""

    content: bytes
    media_type: str


def read_page() -> dict[str, PageFile]:
    """Return every file of the page by the path it is served at: index.html at /, others at their names."""
    folder = files("plurank.web") / "page"
    found = {}
    for file in folder.iterdir() if folder.is_dir() else ():
        media_type = MEDIA_TYPES.get(PurePath(file.name).suffix)
        if media_type is not None and file.is_file():
            found["/" if file.name == INDEX else f"/{file.name}"] = PageFile(file.read_bytes(), media_type)
    return found


class VegaBundle:
    """The JavaScript library that draws figures, bundled by vl-convert when it is first requested."""

    def __init__(self) -> None:
        self.lock, self.content = threading.Lock(), b""

    def get(self) -> bytes:
        """Return the script."""
        with self.lock:
            if not self.content:
                self.content = subprocess.run([sys.executable, "-c", BUNDLE], capture_output=True, check=True).stdout
            return self.content


def add_page(app: FastAPI, service: "Service") -> None:
    """Serve the files of the page; no path of a request reaches the file system."""
    for path, file in service.page.items():
        app.add_api_route(path, _sender_of(file), include_in_schema=False)

    @app.get("/vega.js", include_in_schema=False)
    def vega() -> Response:
        return Response(service.vega.get(), headers=ONE_DAY, media_type="text/javascript")


def _sender_of(file: PageFile) -> Callable[[], Awaitable[Response]]:
    async def send_file() -> Response:
        return Response(file.content, headers={"cache-control": "no-cache"}, media_type=file.media_type)

    return send_file

"""A served model and a browser to visit it with: what the tests of the live page stand on."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from tests.web.servers import find_port, wait_for

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def find_chromium():
    """Give the path of Chromium, or None."""
    return shutil.which(os.environ.get("PLURANK_CHROMIUM", "chromium"))


@contextmanager
def open_browser():
    """Run Chromium with an empty profile, through Playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Service:
    """``plurank serve`` as a process of its own; it can be stopped and started again at the same address."""

    def __init__(self, model_file, *options):
        port = find_port()
        self.url = f"http://127.0.0.1:{port}/"
        self.log = Path(model_file).with_suffix(f".{port}.log")
        self.command = [sys.executable, "-m", "plurank", "serve", str(model_file), "--port", str(port), *options]

    def start(self):
        """Start, and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT)
        wait_for(self.url, self.process, self.log.read_text)
        return self

    def stop(self):
        """End the process, by its own handle."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=30)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

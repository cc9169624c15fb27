"""A served model and a browser to visit it with: what the tests of the live page stand on."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PATIENCE = 240  # seconds for the service to start: the first time on a machine it compiles


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
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.log = Path(model_file).with_suffix(f".{self.port}.log")
        self.command = [sys.executable, "-m", "plurank", "serve", str(model_file), "--port", str(self.port), *options]

    def start(self):
        """Start, and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + PATIENCE
        while not self._answers():
            assert self.process.poll() is None, f"the service ended: {self.log.read_text()}"
            assert time.monotonic() < end, f"the service does not answer: {self.log.read_text()}"
            time.sleep(0.1)
        return self

    def _answers(self):
        try:
            with urllib.request.urlopen(f"{self.url}health", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def stop(self):
        """End the process, by its own handle."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=30)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

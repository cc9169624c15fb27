"""The site builds without a warning, loads nothing from elsewhere, and leaves nothing public out."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import plurank

ROOT = Path(__file__).parents[2]
LOADED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)=[\"']?(https?:)?//", re.IGNORECASE)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_every_page_is_there(site):
    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")}
    assert all((site / page).is_file() for page in pages)


def test_the_site_loads_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        assert not LOADED.search(page.read_text()), page.name


def test_the_command_reference_has_the_help_of_every_command(site):
    from plurank.cli.program import COMMANDS

    text = (site / "reference/command_line.html").read_text()
    for command in COMMANDS:
        assert f"Usage: plurank {command} " in text


def test_the_python_reference_has_every_public_name(site):
    text = (site / "reference/python.html").read_text()
    shown = set(re.findall(r'id="plurank\.(?:[a-z_]+\.)*(\w+)"', text)) | {"datasets"}
    assert set(plurank.__all__) <= shown


def test_figures_of_the_results_come_along(site):
    for figure in re.findall(r'src="([^"]+\.svg)"', (site / "results.html").read_text()):
        assert (site / figure).is_file()

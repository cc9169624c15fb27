"""Every example of the documentation runs, page by page, in a folder of its own.

A block of Python runs, with >>> as a doctest; a block with a title is written to a file of that name; of a block of
shell, lines that start with plurank run. A comment ``<!-- not run: why -->`` above a block leaves it out.
"""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plurank.cli.program import app

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
BLOCK = re.compile(
    r'(?:<!-- not run: (?P<why>[^>]+) -->\n)?```(?P<kind>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<body>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search((DOCS / page).read_text())])
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in BLOCK.finditer((DOCS / page).read_text()):
        if block["title"]:
            (tmp_path / block["title"]).write_text(block["body"])
        elif block["why"]:
            continue
        elif block["kind"] == "python":
            run_python(block["body"], names, page)
        elif block["kind"] == "sh":
            run_shell(block["body"])


def run_python(body, names, page):
    if ">>>" not in body:
        exec(compile(body, page, "exec"), names)
        return
    example = doctest.DocTestParser().get_doctest(body, names, page, page, 0)
    report = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    failed = runner.run(example, out=report.append, clear_globs=False).failed
    names.update(example.globs)
    assert not failed, "".join(report)


def run_shell(body):
    for line in body.splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["plurank"]:
            result = CliRunner(env={"COLUMNS": "80"}).invoke(app, words[1:], prog_name="plurank")
            assert result.exit_code == 0, f"{line}\n{result.output}"


def test_blocks_that_do_not_run_say_why():
    texts = [(DOCS / page).read_text() for page in PAGES]
    assert all(len(why) > 10 for text in texts for why in re.findall("<!-- not run: (.*) -->", text))

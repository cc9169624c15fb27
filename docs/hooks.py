"""What mkdocs does not do by itself: the command line's reference, figures of the benchmarks, tidy docstrings."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FIGURES = "benchmarks/results/"
PLACE = "<!-- commands -->"
ROLE = re.compile(r":(?:meth|func|class|mod|attr):(?=<code)")


def on_files(files: Any, config: Any) -> Any:
    """Add the figures that the results show, which are kept beside the figures' numbers."""
    from mkdocs.structure.files import File

    for figure in sorted((ROOT / FIGURES).rglob("*.svg")):
        files.append(File.generated(config, figure.relative_to(ROOT).as_posix(), content=figure.read_text()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Point at the figures where the site has them, and put in what every command says about itself."""
    markdown = markdown.replace(f"](../{FIGURES}", f"]({FIGURES}")
    return markdown.replace(PLACE, describe_commands()) if PLACE in markdown else markdown


def on_page_content(html: str, **_: Any) -> str:
    """Leave out the roles of reStructuredText, which docstrings have for other tools."""
    return ROLE.sub("", html)


def describe_commands() -> str:
    """Give the help of every command, in Markdown."""
    from plurank.cli.program import COMMANDS

    helps = {command: help_of(command) for command in COMMANDS}
    return "\n".join(f"## plurank {name}\n\n```text\n{text}\n```\n" for name, text in helps.items())


def help_of(command: str) -> str:
    """Give what `plurank COMMAND --help` prints in a window of 80 columns."""
    from typer.testing import CliRunner

    from plurank.cli.program import app

    runner = CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1"})
    return runner.invoke(app, [command, "--help"], prog_name="plurank").stdout.rstrip()

"""The documents point to things that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "paper_map.md").read_text().splitlines()
    if line.startswith("| ") and "src/plurank" in line
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_of_the_paper_map_names_a_file_that_defines_what_it_says(row):
    _, names, file, _ = row
    source = (ROOT / file.strip("`")).read_text()
    for name in re.findall(r"`(\w+)`", names):
        assert re.search(rf"^(def|class) {name}\b", source, re.MULTILINE), f"{name} is not in {file}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_of_the_paper_map_names_a_test_or_benchmark_that_exists(row):
    shown_by = row[3].strip("`")
    if shown_by.startswith("python -m "):
        assert (ROOT / (shown_by.removeprefix("python -m ").replace(".", "/") + ".py")).is_file()
        return
    file, _, name = shown_by.partition("::")
    assert not name or re.search(rf"^def {name}\b", (ROOT / file).read_text(), re.MULTILINE)
    assert (ROOT / file).is_file()


BAD_INPUTS = re.findall(r"^\| .* \| `(tests/.*)` \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("shown_by", BAD_INPUTS)
def test_a_bad_input_of_the_contributors_guide_has_its_test(shown_by):
    file, _, name = shown_by.partition("::")
    assert re.search(rf"^ *def {name}\b", (ROOT / file).read_text(), re.MULTILINE)


def test_where_to_change_what_names_files_that_exist():
    section = (ROOT / "CONTRIBUTING.md").read_text().split("## Where to change what")[1].split("\n## ")[0]
    paths = re.findall(r"`([\w/]+(?:\.(?:py|html\.jinja)|/))`", section)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / "src/plurank" / path).exists()] == []


def test_the_contributors_guide_lists_the_bad_inputs():
    assert len(BAD_INPUTS) >= 13


def test_the_paper_map_has_all_four_algorithms():
    named = " ".join(row[0] for row in ROWS)
    assert all(f"Algorithm {n}" in named for n in range(1, 5))


def test_every_step_file_says_where_it_comes_from():
    usual = ("__init__.py", "estimator.py", "leaderboard.py", "selection.py")
    steps = [
        path for part in ("topic", "mixed") for path in (ROOT / "src/plurank" / part).glob("*.py")
        if path.name not in usual
    ]  # fmt: skip
    assert len(steps) >= 16
    for path in steps:
        opening = path.read_text().split('"""')[1]
        assert "Paper:" in opening or "Ours" in opening, path.name


DOCUMENTS = [file for place in ("*.md", "Makefile", "docs/**/*.md", "benchmarks/**/*.md") for file in ROOT.glob(place)]
RUN = re.compile(r"python -m ((?:benchmarks|tests|docs|tools)\.[^`#)|\n]*)")
COMMANDS = sorted({command for document in DOCUMENTS for command in RUN.findall(document.read_text())})


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_a_document_names_exists_with_its_options(command):
    module, *words = re.sub(r"[\[\]]", "", command).split()
    source = (ROOT / module.replace(".", "/")).with_suffix(".py").read_text()
    assert 'if __name__ == "__main__":' in source
    if "parse_to_draw(" in source:  # adds options of its own
        source += (ROOT / "benchmarks/common.py").read_text()
    assert [word for word in words if word.startswith("--") and f'"{word}"' not in source] == []


def test_the_list_of_benchmarks_has_every_one_that_can_be_run():
    folder = ROOT / "benchmarks"
    files = [file for part in (".", "paper", "scale") for file in (folder / part).glob("*.py")]
    runnable = {file.stem for file in files if 'if __name__ == "__main__":' in file.read_text()}
    listed = {command.split()[0].rpartition(".")[2] for command in RUN.findall((folder / "README.md").read_text())}
    assert listed == runnable


def test_the_citation_names_the_version_of_the_package():
    versions = [
        re.search(pattern, (ROOT / file).read_text(), re.MULTILINE)[1]
        for file, pattern in [("pyproject.toml", r'^version = "(.*)"$'), ("CITATION.cff", r"^version: (.*)$")]
    ]
    assert versions[0] == versions[1]

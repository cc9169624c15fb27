"""Check that the measured numbers in README.md and docs/ are in the CSV files of results.

    python -m tools.check_numbers [--strict] [FILE ...]

Measured numbers have decimals, a sign, a unit or a per cent sign, or are counts ("642 of 645"); in tables whole numbers
count as well, in cells that begin with one, but for the first column. Code and versions are left out.

A number must agree, as rounded as it is shown, with a cell of a CSV file, or with the mean, median, sum, standard error
or count of cells. The files are those that its section or one around it names, by path or by the command that writes
them. The rows are those that share most with the sentence, or with the table's row and heading. If numbers next to it
would be found there as well, finding it says little, and a query has to say what it is.

Comments say what else a number is, at the end of its paragraph or in a paragraph of their own behind the block:

    <!-- numbers: select avg(auto - ten_utility) from populations where "set" = 'cars 1' -->
    <!-- numbers: given 0.5, 10 % -->     settings, sizes, bounds, formulas, examples
    <!-- numbers: cited 0.822, 0.829 -->  what others measured
    <!-- numbers: unverified 93 % -->     in no file: an error with --strict only

A query is SQL; its tables are the CSV files by name. In a paragraph each number must be in the answer of one of its
queries, or found without. Behind a table each row must have its numbers, in order, in one row of an answer, and say the
texts of that row; or each number must be in a row of an answer whose texts the table's row and heading say. A word
without numbers is about the whole block, and below a heading about the whole section (``unverified`` there: about what
is not found otherwise).

Errors are also: a comment that is about nothing, a file of results or a command that a document names and that does not
exist, and a file of results that no document names.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from tools.documents import Block, Marker, Number, read_blocks
from tools.results import Results, words_of

ROOT = Path(__file__).parents[1]
CHANCE = 4  # of the twenty neighbours of a number: where more are found, it would be found by chance
WORDS = ("given", "cited", "unverified")


@dataclass(frozen=True)
class Problem:
    """What is wrong, and where."""

    line: int
    what: str
    unverified: bool = False


class Answers:
    """The answers to the queries of a block, and which of them confirmed a number."""

    def __init__(self, markers: list[Marker], results: Results):
        self.problems: list[Problem] = []
        self.frames: dict[Marker, pl.DataFrame] = {}
        self.used: set[Marker] = set()
        for marker in markers:
            try:
                self.frames[marker] = results.query(marker.text)
            except (pl.exceptions.PolarsError, ValueError) as error:
                self.problems.append(Problem(marker.line, f"the query cannot be answered ({error}): {marker.text}"))

    def have(self, number: Number) -> bool:
        """Return whether an answer has a number."""
        found = [
            marker for marker, frame in self.frames.items()
            if number.is_in(sorted(value for row in frame.rows() for value in row if is_number(value)))
        ]  # fmt: skip
        self.used.update(found)
        return bool(found)

    def have_row(self, text: str, numbers: list[Number]) -> bool:
        """Return whether a row of an answer has the numbers of a table's row, in order, and no text but the row's."""
        for marker, frame in self.frames.items():
            for row in frame.rows():
                values = iter([value for value in row if is_number(value)])  # each search begins where the last ended
                if words_in(row).issubset(words_of(text)) and all(
                    any(number.is_in([value]) for value in values) for number in numbers
                ):
                    self.used.add(marker)
                    return True
        return False

    def have_cell(self, labels: str, number: Number) -> bool:
        """Return whether a row of an answer has a number, and texts that are all among the labels, the most of them."""
        for marker, frame in self.frames.items():
            said = {row: words_in(row) for row in frame.rows() if words_in(row)}
            said = {row: words for row, words in said.items() if words.issubset(words_of(labels))}
            for row, words in said.items():
                longest = not any(words < others for others in said.values())
                if longest and number.is_in(sorted(value for value in row if is_number(value))):
                    self.used.add(marker)
                    return True
        return False


def check_document(document: str, results: Results) -> Iterator[Problem]:
    """Yield what is wrong with the numbers of a document."""
    blocks = read_blocks(document)
    headed = [marker for block in blocks for section in block.section.and_above() for marker in section.markers]
    for marker in dict.fromkeys(headed):
        if marker.kind not in WORDS or marker.shown:
            expected = f"expected one of {', '.join(WORDS)} without numbers below a heading"
            yield Problem(marker.line, f"{expected}, got {marker.kind} {marker.text}".strip())
    for block in blocks:
        _, missing = results.named_in(block.text)
        yield from (Problem(block.line, f"{name} does not exist") for name in missing)
        yield from check_block(block, results)


def check_block(block: Block, results: Results) -> Iterator[Problem]:
    """Yield the numbers of a block that nothing confirms, and markers that are for nothing."""
    rows = list(block.rows()) if block.is_table else [("", [(number, "") for number in block.numbers()])]
    left = [number for _, row in rows for number, _ in row]
    around = [marker for section in block.section.and_above() for marker in section.markers]
    unverified = [marker for marker in around if marker.kind == "unverified"]
    for marker in [*block.markers, *around]:
        if marker.kind == "query" or marker in unverified:
            continue
        marked = [number for number in left if not marker.shown or number.shown in marker.shown]
        if marker in block.markers:
            yield from check_word(marker, marked)
        if marker.kind == "unverified":
            yield from (Problem(number.line, f"{number.shown} is unverified", unverified=True) for number in marked)
        left = [number for number in left if number not in marked]
    answers = Answers([marker for marker in block.markers if marker.kind == "query"], results)
    yield from answers.problems
    for text, row in rows:
        row = [pair for pair in row if pair[0] in left]
        problems: Iterator[Problem] = iter(())
        if row and block.is_table and answers.frames:
            problems = check_row(text, row, answers)
        elif row:
            problems = check_numbers(block, text, row, answers, results)
        yield from (replace(problem, unverified=bool(unverified)) for problem in problems)
    unused = [marker for marker in answers.frames if marker not in answers.used]
    yield from (Problem(marker.line, f"the query confirms nothing: {marker.text}") for marker in unused)


def check_word(marker: Marker, marked: list[Number]) -> Iterator[Problem]:
    """Yield what is wrong with a marker that is no query."""
    if marker.kind not in WORDS:
        yield Problem(marker.line, f"expected a query or one of {', '.join(WORDS)}, got {marker.kind}")
    absent = [shown for shown in marker.shown if shown not in [number.shown for number in marked]]
    yield from (Problem(marker.line, f"{shown} is marked {marker.kind} and not in the text") for shown in absent)
    if not marked and not absent:
        yield Problem(marker.line, f"nothing is left to be {marker.kind}")


def check_row(text: str, row: list[tuple[Number, str]], answers: Answers) -> Iterator[Problem]:
    """Yield the numbers of a table's row that no row of an answer has for the whole row or for their column."""
    if not answers.have_row(text, [number for number, _ in row]):
        for number, head in row:
            if not answers.have_cell(f"{text} {head}", number):
                yield Problem(number.line, f"{number.shown} is in no answer that fits the row: {text.strip()[:90]}")


def check_numbers(
    block: Block, text: str, row: list[tuple[Number, str]], answers: Answers, results: Results
) -> Iterator[Problem]:
    """Yield the numbers of a table's row, or of a whole paragraph, that are neither in an answer nor in the files."""
    names = sorted({name for section in block.section.and_above() for name in results.named_in(section.text)[0]})
    where = ", ".join(names) or "any file, as none is named"
    for number, head in row:
        if answers.have(number):
            continue
        labels = text or block.sentence(number)
        values = [results.values(name, f"{labels} {head}", head) for name in names]
        by_chance = [sum(n.is_in(part) for n in number.neighbours()) for part in values if number.is_in(part)]
        if not by_chance or min(by_chance) > CHANCE:
            why = f"one of many values in {where}: add a query" if by_chance else f"not in {where}"
            yield Problem(number.line, f"{number.shown} is {why}: {' '.join(labels.split())[:90]}")


def words_in(row: tuple[object, ...]) -> set[str]:
    """Return the words of the texts in a row of an answer."""
    return {word for value in row if isinstance(value, str) for word in words_of(value)}


def is_number(value: object) -> bool:
    """Return whether a value of an answer is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def main() -> None:
    """Print what is wrong, and fail if there is anything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strict", action="store_true", help="numbers marked unverified are errors, too")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    given = parser.parse_args()
    results = Results(ROOT)
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    n_errors = n_unverified = 0
    for path in given.files or documents:
        for problem in check_document(path.read_text(), results):
            n_unverified += problem.unverified
            n_errors += given.strict or not problem.unverified
            if given.strict or not problem.unverified:
                print(f"{path.resolve().relative_to(ROOT)}:{problem.line}: {problem.what}")
    if not given.files:
        named = results.named_in("\n".join(path.read_text() for path in documents))[0]
        for name in sorted(results.paths.keys() - named):
            print(f"{results.paths[name].relative_to(ROOT)}: no document names it")
            n_errors += 1
    print(f"{n_errors} errors, {n_unverified} numbers unverified")
    sys.exit(n_errors > 0)


if __name__ == "__main__":
    main()

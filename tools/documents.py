"""Markdown as the checks see it: blocks with their section, the numbers they show, and their markers.

A block is a paragraph, a list item or a table. Code is not searched for numbers, but names files and commands. A marker
is a comment that begins with ``numbers:``. It belongs to the block that it ends or follows, or, directly below a
heading, to the section with all that is in it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
CODE = re.compile(r"`[^`]+`")
LINK_TARGET = re.compile(r"(?<=\])\([^()]*\)")
VERSION = re.compile(r"\d+(?:\.\d+){2,}|(?:Python|BY|[Ss]ection) \d+\.\d+")
LEVEL = re.compile(r"\b\d+ ?%(?= (?:confidence |credible )?(?:interval|range))")  # of an interval: says what is shown
NUMBER = re.compile(
    r"(?<![\w.^+])(?P<sign>[+-])?(?P<digits>\d{1,3}(?:,\d{3})+|\d+)(?P<rest>\.\d+)?(?P<power>e-?\d+)?(?!\w)"
)
CLOCK = re.compile(r"(?<![\w:])(\d+):(\d\d)(?![\w:])")
MORE = r"(?:(?:,| to| and| or| against) [+-]?[\d.,]*\d)*"  # "2, 3 and 5 s": the unit is that of all
PERCENT = re.compile(MORE + r" ?%")
UNIT = re.compile(MORE + r" ?(?:ms|s|ns|(?:micro|nano|core-)?seconds?|minutes?|hours?|[kMGT]i?B|times|points)\b")
SCALES = {" million": 1e6, " billion": 1e9}
COUNT = re.compile(r"\b\d[\d,]* of (?:the )?\d[\d,]*\b")
SENTENCE_END = re.compile(r"[.!?]\s+(?=[A-Z*`\[(])")
STARTS = re.compile(r"[*\s]*(?:\d[^|]*)?")
ITEM = re.compile(r" *(?:[-*]|\d+\.) ")


@dataclass(frozen=True)
class Number:
    """A number as a document shows it: its value, half a unit of its last digit, and where it is."""

    shown: str
    value: float
    half: float
    percent: bool
    line: int
    start: int  # in the text of the block

    def is_in(self, values: list[float]) -> bool:
        """Return whether one of the values, which are sorted, rounds to this number; or a share to this percentage."""
        half = self.half * (1 + 1e-6)
        for scale in (1, 100) if self.percent else (1,):
            place = bisect_left(values, (self.value - half) / scale)
            if place < len(values) and values[place] <= (self.value + half) / scale:
                return True
        return False

    def neighbours(self) -> list["Number"]:
        """Return the numbers up to ten units of the last digit away."""
        return [replace(self, value=self.value + 2 * self.half * k) for k in range(-10, 11) if k]


@dataclass(frozen=True)
class Marker:
    """What a comment says of numbers: a query, or a word and the numbers it is about (none: all)."""

    line: int
    kind: str  # query, or the word
    text: str  # the query, or the numbers

    @property
    def shown(self) -> list[str]:
        """Return the numbers that are listed."""
        return [part.strip() for part in re.split(r",\s", self.text) if part.strip()]


@dataclass
class Section:
    """A heading, the sections around it, and what its own text says."""

    above: "Section | None"
    depth: int
    markers: list[Marker] = field(default_factory=list)
    text: str = ""

    def and_above(self) -> Iterator["Section"]:
        """Yield this section and those that enclose it."""
        section: Section | None = self
        while section is not None:
            yield section
            section = section.above


@dataclass
class Block:
    """A paragraph, a list item or a table."""

    line: int
    text: str
    section: Section
    markers: list[Marker] = field(default_factory=list)

    @property
    def bare(self) -> str:
        """Return the text with blanks for code, targets of links, versions and levels of intervals."""
        text = self.text
        for pattern in (CODE, LINK_TARGET, VERSION, LEVEL):
            text = pattern.sub(_blank, text)
        return text

    @property
    def is_table(self) -> bool:
        """Return whether the block is a table."""
        return self.text.lstrip().startswith("|")

    def numbers(self) -> list[Number]:
        """Return the measured numbers of a paragraph: with decimals, sign or unit, or one of a count."""
        return [number for number, measured in _find_numbers(self.bare, self.line) if measured]

    def rows(self) -> Iterator[tuple[str, list[tuple[Number, str]]]]:
        """Yield the rows of a table: the text, and the numbers with the heading of their column.

        Whole numbers are measured in cells that begin with a number, but in the first column they are labels.
        """
        heads: list[str] = []
        start = 0
        bare = self.bare
        for n, line in enumerate(self.text.split("\n")):
            if n == 0:
                heads = [cell.strip() for cell in line.split("|")]
            elif n > 1 and line.strip():
                row = []
                for number, measured in _find_numbers(bare[start : start + len(line)], self.line + n):
                    column = line[: number.start].count("|")
                    cell = line[: number.start].rpartition("|")[2]
                    if measured or (column > 1 and (STARTS.fullmatch(cell) or "," in number.shown)):
                        row.append((number, heads[min(column, len(heads) - 1)]))
                yield line, row
            start += len(line) + 1

    def sentence(self, number: Number) -> str:
        """Return the sentence around a number."""
        ends = [0, *(match.end() for match in SENTENCE_END.finditer(self.text)), len(self.text)]
        begin = max(end for end in ends if end <= number.start)
        return self.text[begin : min(end for end in ends if end > number.start)]


def read_blocks(document: str) -> list[Block]:
    """Return the blocks of a document in Markdown."""
    document = FENCE.sub(_blank, document)
    blocks: list[Block] = []
    section = Section(None, 0)
    is_heading = False
    for line, raw in _split(document):
        markers = [_read_marker(match, line, raw) for match in COMMENT.finditer(raw)]
        own = [marker for marker in markers if marker is not None]
        text = COMMENT.sub(_blank, raw)
        if text.startswith("#"):
            depth = len(text) - len(text.lstrip("#"))
            above = next(outer for outer in section.and_above() if outer.depth < depth)
            section, is_heading = Section(above, depth), True
            continue
        if text.strip():
            blocks.append(Block(line, text, section, own))
            section.text += text + "\n"
        elif is_heading:
            section.markers += own
        elif blocks:
            blocks[-1].markers += own
        is_heading = is_heading and not text.strip()
    return blocks


def _split(document: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of headings, paragraphs, items and tables; comments are not divided."""
    lines = document.split("\n")
    start = 0
    for n, line in enumerate([*lines, ""]):
        inside = "\n".join(lines[start:n])
        if inside.count("<!--") > inside.count("-->") and n < len(lines):
            continue
        begins = line.startswith("#") or ITEM.match(line) is not None or lines[start].startswith("#")
        if not line.strip() or begins:
            if inside.strip():
                yield start + 1, inside
            start = n if line.strip() else n + 1
            if start >= len(lines):
                return


def _read_marker(match: re.Match[str], line: int, raw: str) -> Marker | None:
    """Return the marker in a comment, or None if it is another comment."""
    words = " ".join(match[1].split())
    if not words.startswith("numbers:"):
        return None
    text = words.removeprefix("numbers:").strip()
    word, _, rest = text.partition(" ")
    line += raw[: match.start()].count("\n")
    return Marker(line, "query", text) if word.lower() in ("select", "with") else Marker(line, word, rest)


def _find_numbers(bare: str, line: int) -> Iterator[tuple[Number, bool]]:
    """Yield the numbers in a text, and whether they have decimals, sign or unit, or are of a count."""
    counts = [match.span() for match in COUNT.finditer(bare)]
    for match in CLOCK.finditer(bare):
        seconds = 60 * int(match[1]) + int(match[2])
        yield Number(match[0], seconds, 0.5, False, line + bare[: match.start()].count("\n"), match.start()), True
    bare = CLOCK.sub(_blank, bare)
    for match in NUMBER.finditer(bare):
        percent = PERCENT.match(bare, match.end())
        unit = UNIT.match(bare, match.end())
        is_count = any(begin <= match.start() < end for begin, end in counts)
        scale = next((by for word, by in SCALES.items() if bare.startswith(word, match.end())), 1.0)
        plain = match[0].replace(",", "")
        digits, _, power = plain.partition("e")
        unit_of_last = 10.0 ** (int(power or 0) - len(digits.partition(".")[2])) * scale
        shown = match[0] + (" %" if percent else "")
        place = line + bare[: match.start()].count("\n")
        number = Number(shown, float(plain) * scale, unit_of_last / 2, percent is not None, place, match.start())
        yield number, bool(match["rest"] or match["power"] or match["sign"] or percent or unit or is_count)


def _blank(match: re.Match[str]) -> str:
    """Return blanks and line ends in place of a match."""
    return re.sub(r"[^\n]", " ", match[0])

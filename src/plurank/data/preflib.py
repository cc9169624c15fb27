"""Ballots of PrefLib (.soc, .soi, .toc, .toi), with the header of today or of before 2022."""

import re
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl

from plurank.data.readers import open_text, reading
from plurank.exceptions import DataError

Lines = list[tuple[int, str]]
MOST_DIGITS = 9  # of a count
MOST_PLACES = 10**8  # to be spelled out, one a row
LEVEL = r"(?:\{[^{}]*\}|[^,{}\s]+)"  # one alternative, or tied ones in braces


def read_preflib(file: Path) -> pl.DataFrame:
    """Read ballots into a frame with columns user, item, rank; see :func:`plurank.read_rankings`."""
    with reading(file, "PrefLib ballots"), open_text(file) as stream:
        lines = [(number, line.strip()) for number, line in enumerate(stream, start=1) if line.strip()]
    if lines and re.fullmatch(rf"\d{{1,{MOST_DIGITS}}}", lines[0][1]):
        names, ballots = _split_old_header(file.name, lines)
    else:
        names, ballots = _split_header(lines)
    counts, orders = [], []
    for number, line in ballots:
        count, order = _read_ballot(f"{file.name}, line {number}", line)
        counts.append(count)
        orders.append(order)
    if not sum(counts):
        raise DataError(f"{file.name}: there are no ballots; expected lines like '3: 1,2,{{3,4}}'.")
    n_places = sum(count * len(order) for count, order in zip(counts, orders, strict=True))
    if n_places > MOST_PLACES:
        raise DataError(
            f"{file.name}: expected at most {MOST_PLACES:,} places on all ballots together, got {n_places:,}."
        )
    return _cast(counts, orders, names)


def _split_header(lines: Lines) -> tuple[dict[str, str], Lines]:
    """Read the names of alternatives from lines like ``# ALTERNATIVE NAME 1: Ebi``."""
    named = (re.match(r"#\s*ALTERNATIVE NAME\s+(\d+)\s*:\s*(.+)", line, re.IGNORECASE) for _, line in lines)
    names = {match[1]: match[2].strip() for match in named if match}
    return names, [(number, line) for number, line in lines if not line.startswith("#")]


def _split_old_header(name: str, lines: Lines) -> tuple[dict[str, str], Lines]:
    """Read the old header: how many alternatives, a line ``1,Ebi`` for each, and a line of three totals."""
    rest = iter(lines)
    n_items = int(next(rest)[1])
    names = {}
    for number, line in islice(rest, n_items):
        item, comma, label = line.partition(",")
        if not comma or not item.strip().isdecimal():
            raise DataError(f"{name}, line {number}: expected 'number,name' of an alternative, got {line[:60]!r}.")
        names[item.strip()] = label.strip()
    next(rest, None)
    return names, list(rest)


def _read_ballot(where: str, line: str) -> tuple[int, list[tuple[int, str]]]:
    """Read ``3: 1,{2,3},4`` (once ``3,1,{2,3},4``) as the count and (rank, item); tied ones share a rank."""
    ballot = re.fullmatch(rf"(\d{{1,{MOST_DIGITS}}})\s*[:,]\s*({LEVEL}(?:\s*,\s*{LEVEL})*)\s*,?", line)
    if not ballot:
        raise DataError(f"{where}: expected 'count: a,b,{{c,d}}', got {line[:60]!r}.")
    levels = re.findall(LEVEL, ballot[2])
    order = [
        (rank, item.strip())
        for rank, level in enumerate(levels, start=1)
        for item in level.strip("{}").split(",")
        if item.strip()
    ]
    if not order:
        raise DataError(f"{where}: expected at least one alternative, got {line[:60]!r}.")
    if len({item for _, item in order}) < len(order):
        raise DataError(f"{where}: an alternative occurs twice in {ballot[2][:60]!r}.")
    return int(ballot[1]), order


def _cast(counts: list[int], orders: list[list[tuple[int, str]]], names: dict[str, str]) -> pl.DataFrame:
    """Give every ballot to as many users as cast it; alternatives of the same name keep their number."""
    repeated = Counter(names.values())
    labels = {item: f"{name} ({item})" if repeated[name] > 1 else name for item, name in names.items()}
    items = [[labels.get(item, item) for _, item in order] for order in orders]
    ballots = pl.DataFrame({"item": items, "rank": [[rank for rank, _ in order] for order in orders]})
    cast = ballots[np.repeat(np.arange(len(counts)), counts)]
    users = pl.Series("user", np.arange(1, len(cast) + 1))
    return cast.insert_column(0, users).explode("item", "rank")

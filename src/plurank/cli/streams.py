"""Data that come from a pipe: kept in a file for as long as the command runs, their format told by how they begin."""

import re
import shutil
import sys
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from plurank.exceptions import DataError

STDIN = ("-", "/dev/stdin")
HEAD = 2**16  # bytes that tell the format
GZIP = 31  # what zlib calls it
given: dict[Path, Path] = {}  # the names under which what came from pipes was asked for


def as_file(ctx: typer.Context, path: Path | None) -> Path | None:
    """Return a path as it is or, for stdin and other pipes, that of a file with what came from there."""
    if path is None or not (str(path) in STDIN or path.is_fifo()):
        return path
    if str(path) in STDIN and sys.stdin.isatty():
        example = "`cat votes.csv | plurank show -`"
        raise DataError(f"{path} stands for data from a pipe, as in {example}; got a terminal.")
    folder = TemporaryDirectory(prefix="plurank-")
    try:
        named = _keep(path, Path(folder.name) / "stdin")
    except BaseException:
        folder.cleanup()
        raise
    ctx.call_on_close(folder.cleanup)
    given[named] = path
    return named


def _keep(path: Path, target: Path) -> Path:
    """Copy a pipe into a file, and give it the ending of its format."""
    with target.open("wb") as file:
        if str(path) in STDIN:
            shutil.copyfileobj(sys.stdin.buffer, file)
        else:
            with path.open("rb") as stream:
                shutil.copyfileobj(stream, file)
    return target.rename(target.with_name(f"{target.name}{find_ending(target)}"))


def name_of(path: Path) -> Path:
    """Return the name that a file was asked for by: - for stdin."""
    return given.get(path, path)


def find_ending(file: Path) -> str:
    """Return the ending that a file of this content should have, by its first bytes."""
    with file.open("rb") as opened:
        head = opened.read(HEAD)
    if not head.startswith(b"\x1f\x8b"):
        return _ending_of(head)
    try:
        return f"{_ending_of(zlib.decompressobj(GZIP).decompress(head, HEAD))}.gz"
    except zlib.error:  # whoever reads it says so
        return ".csv.gz"


def _ending_of(head: bytes) -> str:
    text: Any = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PAR1"):
        return ".parquet"
    if head.startswith(b"PK\x03\x04"):
        return ".plurank"
    if text.startswith(b"#") and b"ALTERNATIVE" in text.upper():
        return ".toi"
    if re.match(rb"[^,\n]+::[^,\n]+::", text):
        return ".dat"
    return {b"[": ".json", b"{": ".jsonl"}.get(text[:1], ".csv")

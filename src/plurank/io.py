"""Files that are whole or absent: written beside, flushed to disk, renamed."""

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plurank.exceptions import DataError, ParameterError

# Paths that people give, of files and folders: what can be none is refused with a sentence.

MOST_SHOWN = 80  # characters of a path


def as_path(path: Any, what: str = "file") -> Path:
    """Return a path with ~ spelled out; refuse what is no path, and what nothing can be called.

    Such are names that are too long, hold a zero byte or half of a character, and links that lead to themselves.
    """
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise ParameterError(f"expected the path of a {what}, got {type(path).__name__}.")
    try:
        spelled = Path(path).expanduser()
        os.stat(spelled)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # whoever reads or writes there says so
    except (OSError, RuntimeError, ValueError) as error:
        shown = ascii(os.fspath(path))
        shown = shown if len(shown) <= MOST_SHOWN else f"{shown[:MOST_SHOWN]}..."
        reason = str(getattr(error, "strerror", None) or error).rstrip(".")
        raise DataError(f"{shown} cannot be a {what} ({reason}). Use another name.") from None
    return spelled


try:
    import fcntl
except ImportError:  # where there is none, nobody is kept out
    fcntl = None  # type: ignore[assignment]


def check_target(path: str | os.PathLike[str]) -> Path:
    """Return the whole path of a file to write; refuse one without a folder, and what is there but no file."""
    target = as_path(path).resolve()
    check_parent(target)
    if target.is_dir():
        raise DataError(f"{target} is a folder. Use the name of a file.")
    if target.exists() and not target.is_file():  # a device or a pipe would be renamed away
        raise DataError(f"{target} is not a file that can be replaced. Use the name of a file.")
    return target


def check_parent(target: Path) -> None:
    """Raise an error for a path without a folder."""
    if not target.parent.is_dir():
        raise DataError(f"{target}: there is no folder {str(target.parent)!r} to write in. Create it first.")


@contextmanager
def write_beside(target: Path) -> Iterator[Path]:
    """Return a name beside the target to write to; rename it at the end, or remove it if anything fails.

    An error of the system, such as a full disk, names the target.
    """
    beside = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    try:
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(beside)):
            error.filename = str(target)
        raise


def write_json(target: Path, value: Any) -> None:
    """Write a value as JSON."""
    with write_beside(target) as beside, beside.open("w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)
        file.write("\n")


@contextmanager
def only_one(lock: Path, busy: Exception) -> Iterator[None]:
    """Keep others out while something is written; raise ``busy`` where somebody else is at it.

    The lock ends with the process, however it ends; the empty file is removed by whoever held it.
    """
    with lock.open("a") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_it = os.path.samestat(os.fstat(file.fileno()), lock.stat())  # or was it removed just now?
            except OSError:
                is_it = False
            if not is_it:
                raise busy
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)

"""Paths that people give, of files and folders: what can be none is refused with a sentence."""

import os
from pathlib import Path
from typing import Any

from plurank.exceptions import DataError, ParameterError

MOST_SHOWN = 80  # characters of a path


def as_path(path: Any, what: str = "file") -> Path:
    """Give a path with ~ spelled out; refuse what is no path, and what nothing can be called.

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
        raise DataError(f"{shown} cannot be a {what} ({reason}). Give another name.") from None
    return spelled

"""Files that commands write: checked before the work starts, written beside and renamed."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plurank import io as writing
from plurank.exceptions import DataError, ParameterError
from plurank.io import as_path

if TYPE_CHECKING:
    import polars as pl

TABLES = (".csv", ".parquet", ".pq")
PAGES = (".html", ".htm")
written: list[Path] = []  # by this command, so that Ctrl-C can tell


def forget_written() -> None:
    """Start a new command."""
    written.clear()


def check_output(path: Path, *inputs: Path) -> Path:
    """Refuse, before any work, a place where a file cannot be written; follow links to the file meant."""
    target = as_path(path).resolve()
    if not target.parent.is_dir():
        raise DataError(f"{path}: there is no folder {str(path.parent)!r} to write in. Make it first.")
    if target.exists() and not target.is_file():
        raise DataError(f"{path} is not a file that can be replaced. Give the name of a file.")
    if any(source.exists() and target == source.resolve() for source in inputs):
        raise DataError(f"{path} is also the input; writing there would destroy it. Give another name.")
    if not os.access(target.parent, os.W_OK):
        raise DataError(f"{path}: the folder {str(path.parent)!r} is not yours to write in.")
    return target


def check_table(path: Path, *inputs: Path) -> Path:
    """Check a place for a table, whose ending says how it is written."""
    if path.suffix.lower() not in TABLES:
        raise ParameterError(f"{path.name}: expected a name ending in {', '.join(TABLES)}.")
    return check_output(path, *inputs)


def check_model(path: Path, *inputs: Path) -> Path:
    """Check a place for a model: not that of a table, which may be somebody's data."""
    target = check_output(path, *inputs)
    if path.suffix.lower() in TABLES:
        raise ParameterError(f"{path.name}: a model is no table. Expected a name such as {path.stem}.plurank.")
    return target


def check_page(path: Path, *inputs: Path) -> Path:
    """Check a place for a page, which browsers tell by its ending."""
    target = check_output(path, *inputs)
    if path.suffix.lower() not in PAGES:
        raise ParameterError(f"{path.name}: expected a name ending in {' or '.join(PAGES)}.")
    return target


def write_table(frame: "pl.DataFrame", target: Path) -> None:
    """Write a frame as CSV or Parquet, by the name's ending."""
    from polars.exceptions import PolarsError

    with writing.write_beside(target) as beside:
        try:
            frame.write_csv(beside) if target.suffix.lower() == ".csv" else frame.write_parquet(beside)
        except (OSError, PolarsError) as error:  # polars wraps a full disk in either
            raise OSError(f"{target.name} could not be written: {error}") from error
    written.append(target)


def write_json(value: Any, target: Path) -> None:
    """Write a value as JSON."""
    writing.write_json(target, value)
    written.append(target)

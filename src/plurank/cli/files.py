"""Files that commands write: checked before the work starts, written atomically."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plurank import io as writing
from plurank.exceptions import DataError, ParameterError
from plurank.io import check_target

if TYPE_CHECKING:
    import polars as pl

TABLES = (".csv", ".parquet", ".pq")
PAGES = (".html", ".htm")
written: list[Path] = []  # by this command, for the message after Ctrl-C


def forget_written() -> None:
    """Forget the files of an earlier command."""
    written.clear()


def check_output(path: Path, *inputs: Path) -> Path:
    """Return the resolved path of an output file; raise, before any work, where it cannot be written."""
    target = check_target(path)
    if any(source.exists() and target == source.resolve() for source in inputs):
        raise DataError(f"{path} is also the input and would be overwritten. Use another name.")
    if not os.access(target.parent, os.W_OK):
        raise DataError(f"{path}: no write permission for folder {str(path.parent)!r}.")
    return target


def check_table(path: Path, *inputs: Path) -> Path:
    """Check the path of a table, whose suffix determines the format."""
    if path.suffix.lower() not in TABLES:
        raise ParameterError(f"{path.name}: expected a name ending in {', '.join(TABLES)}.")
    return check_output(path, *inputs)


def check_model(path: Path, *inputs: Path) -> Path:
    """Check the path of a model; the suffixes of tables, which may be somebody's data, are rejected."""
    target = check_output(path, *inputs)
    if path.suffix.lower() in TABLES:
        raise ParameterError(f"{path.name}: a model is not a table. Use a name such as {path.stem}.plurank.")
    return target


def check_page(path: Path, *inputs: Path) -> Path:
    """Check the path of a page, which browsers recognise by its suffix."""
    target = check_output(path, *inputs)
    if path.suffix.lower() not in PAGES:
        raise ParameterError(f"{path.name}: expected a name ending in {' or '.join(PAGES)}.")
    return target


def write_table(frame: "pl.DataFrame", target: Path) -> None:
    """Write a frame as CSV or Parquet, by the suffix."""
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

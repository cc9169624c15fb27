"""What to ingest: files, globs and folders become one list of files, which must not change while they are read."""

import glob
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from plurank.data.readers import KINDS, File, existing, kind_of, plain_suffix
from plurank.exceptions import DataError, ParameterError
from plurank.paths import as_path

Inputs = File | Iterable[File]


def list_inputs(inputs: Inputs, without: tuple[Path, ...]) -> list[Path]:
    """Give the files meant, in the order given; those of a folder or a glob are sorted by name.

    ``without``: folders whose files a glob does not mean, such as the store that is being made.
    """
    given = [inputs] if isinstance(inputs, (str, PathLike)) or not isinstance(inputs, Iterable) else list(inputs)
    if not given:
        raise ParameterError("expected at least one file, glob or folder to ingest, got none.")
    files = [file for entry in given for file in _find_files(entry, without)]
    for file in files:
        if kind_of(existing(file)) == "JSON":
            raise DataError(
                f"{file.name} is one JSON array, which has to be read at once. Write one record a line, .jsonl."
            )
    _refuse_repeats(files)
    return files


def _find_files(entry: File, without: tuple[Path, ...]) -> list[Path]:
    path = as_path(entry)
    if path.is_dir():
        return _files_of_folder(path)
    if path.exists() or not glob.has_magic(str(path)):
        return [path]
    matches = (match for match in map(Path, glob.glob(str(path), recursive=True)) if match.is_file())
    found = sorted(match for match in matches if not any(match.resolve().is_relative_to(each) for each in without))
    if not found:
        raise DataError(f"{path}: no file has a name like this.")
    return found


def _files_of_folder(folder: Path) -> list[Path]:
    known = [file for file in folder.iterdir() if file.is_file() and KINDS.get(plain_suffix(file), "JSON") != "JSON"]
    found = sorted(file for file in known if file.name[0] not in "._")  # such names are other programs' notes
    if not found:
        endings = ", ".join(ending for ending, kind in KINDS.items() if kind != "JSON")
        raise DataError(f"{folder} holds no file to ingest. Expected an ending of {endings}, or these with .gz.")
    return found


def _refuse_repeats(files: list[Path]) -> None:
    seen: set[Path] = set()
    for file in files:
        if file.resolve() in seen:
            raise DataError(f"{file} is given twice; its comparisons would count twice. Give every file once.")
        seen.add(file.resolve())


def fingerprint(files: list[Path]) -> list[dict[str, Any]]:
    """Give what tells whether files have changed: path, size and time of the last change of each."""
    found = []
    for file in files:
        status = existing(file).stat()
        found.append({"path": str(file.resolve()), "size": status.st_size, "changed": status.st_mtime_ns})
    return found


def name_files(files: list[Path]) -> list[str]:
    """Give the names to tell people: without folders, unless several files have the same name."""
    names = [file.name for file in files]
    return [file.name if names.count(file.name) == 1 else str(file) for file in files]

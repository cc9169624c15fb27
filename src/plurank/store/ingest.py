"""Files of any size become a store: read once, sorted by user within bounded memory, and merged into shards.

Everything is built in ``STORE.part`` and renamed at the end. What is there of an ingest that was stopped is not done
again: batches that were read are runs, shards that were merged have records.
"""

import glob
import json
import os
import shutil
import warnings
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from plurank.choices import Ties
from plurank.data.columns import ROLES, check_roles
from plurank.data.encoding import as_series
from plurank.data.formats import find_format
from plurank.data.frames import KINDS, File, existing, kind_of, plain_suffix
from plurank.exceptions import Argument, DataError, ParameterError, PlurankError
from plurank.io import as_path, check_parent, only_one, write_json
from plurank.store.batches import Budget, parse_memory
from plurank.store.merge import CUTS, merge_runs
from plurank.store.rated import RatedStore
from plurank.store.rows import InputFile, Job
from plurank.store.runs import RUNS, list_runs, read_inputs
from plurank.store.shards import MANIFEST
from plurank.store.store import Store, open_store
from plurank.types import Progress, silent
from plurank.validation import check_choice

FORMAT = "plurank ingest 2"
PLAN, STORE, FINISHED = "plan.json", "store", "finished"

Plan = dict[str, Any]
Inputs = File | Iterable[File]


def ingest(
    inputs: Inputs,
    store: File,
    *,
    columns: Mapping[str, str] | None = None,
    ties: Ties = "half",
    offered: Any = None,
    memory: int | str = "2GB",
    overwrite: bool = False,
    on_progress: Progress = silent,
) -> Store | RatedStore:
    r"""Build a store on disk from files of comparisons, ratings or rankings, which may be more than memory holds.

    An ingest that was interrupted continues where it was when it is called again with the same arguments.

    Parameters
    ----------
    inputs : str, path or iterable of these
        Files (CSV, TSV, Parquet, JSON lines, plain or gzipped), globs or folders, all of one form: comparisons as
        ``read_comparisons`` reads them, or columns user, item, rating (or rank).
    store : str or path
        Folder of the store to write.
    columns : mapping of str to str or None, default=None
        Names of your columns by role, as in ``{"user": "voter"}``.
    ties : {"half", "drop"}, default="half"
        For comparisons: whether a tie counts as half a win each way, or is left out.
    offered : "all", array-like of labels or None, default=None
        For rankings: items that every user could have ranked, as for ``Rankings.from_frame``.
    memory : int or str, default="2GB"
        About the most memory to use: bytes, or a size such as "800MB" or "1.5 GiB".
    overwrite : bool, default=False
        Whether to replace a store that exists.
    on_progress : callable, default=silent
        Called with the name of a stage and the share of it that is done.

    Returns
    -------
    Store or RatedStore
        The store, opened: of comparisons, or of ratings, votes or rankings.

    Raises
    ------
    DataError
        If a file cannot be read or its rows are not valid, inputs are of different forms, a user rated an item twice,
        the store exists, or another ingest is writing it.
    ParameterError
        If there are no inputs, or ``memory``, ``ties``, ``offered`` or a role in ``columns`` is not valid.

    Warns
    -----
    UserWarning
        If the inputs or options of an interrupted ingest have changed, so that it starts again.

    Examples
    --------
    >>> import plurank, pathlib
    >>> _ = pathlib.Path("votes.csv").write_text("user,winner,loser\nann,tea,milk\nbob,milk,tea\n")
    >>> store = plurank.ingest("votes.csv", "votes.store")
    >>> store.to_comparisons().to_frame().rows()
    [('ann', 'tea', 'milk'), ('bob', 'milk', 'tea')]
    """
    budget = Budget.of(parse_memory(memory))
    return build_store(inputs, store, columns, ties, budget, overwrite, on_progress, offered)


def build_store(
    inputs: Inputs, store: File, columns: Mapping[str, str] | None, ties: Ties, budget: Budget, overwrite: bool,
    on_progress: Progress, offered: Any = None,
) -> Store | RatedStore:  # fmt: skip
    """Ingest in pieces of the given sizes; see :func:`ingest`."""
    check_roles(columns, (*ROLES, "item", "rating", "rank"))
    check_choice("ties", ties, Ties)
    target = as_path(store, "store").resolve()
    part = target.with_name(f"{target.name}.part")
    job = Job(list_inputs(inputs, without=(target, part)), columns, ties, _list_offered(offered))
    check_parent(target)
    busy = DataError(f"another ingest is writing {target} right now. Wait for it, or use another name.")
    with only_one(target.with_name(f".{target.name}.lock"), busy):
        _build(part, target, job, budget, overwrite, on_progress)
    return open_store(store)


def _list_offered(offered: Any) -> Any:
    """Return items on offer as plain values."""
    return offered if offered is None or isinstance(offered, str) else as_series(offered, "item").to_list()


def _build(part: Path, target: Path, job: Job, budget: Budget, overwrite: bool, on_progress: Progress) -> None:
    plan = _make_plan(job)
    shutil.rmtree(_trash(part), ignore_errors=True)
    if not _is_finished(part, target, plan):
        _check_target(target, overwrite)
        _prepare(part, plan)
        _fill(part, job, plan, budget, on_progress)
    _finish(part, target)


def _make_plan(job: Job) -> Plan:
    """Return all that an ingest depends on; memory may change on the way."""
    named = {role: str(name) for role, name in (job.columns or {}).items()}
    return {
        "format": FORMAT,
        "inputs": fingerprint(job.files),
        "columns": named,
        "ties": job.ties,
        "offered": job.offered,
    }


def _read_plan(part: Path) -> Plan | None:
    try:
        plan = json.loads((part / PLAN).read_bytes())
    except (OSError, ValueError):
        return None
    return plan if isinstance(plan, dict) and str(plan.get("format")).startswith("plurank ingest") else None


def _is_finished(part: Path, target: Path, plan: Plan) -> bool:
    """Check whether nothing but renaming the store is left to do."""
    is_ours = (part / FINISHED).exists() and _read_plan(part) == plan
    return is_ours and ((part / STORE).exists() or target.exists())


def _check_target(target: Path, overwrite: bool) -> None:
    if not target.exists():
        return
    if not (target / MANIFEST).is_file():
        raise DataError(f"{target} exists and is not a store. Use another name.")
    if not overwrite:
        raise DataError(
            f"{target} already exists.",
            parameter="overwrite",
            hint=("Use another name, or replace it with ", Argument("overwrite", True), "."),
        )


def _prepare(part: Path, plan: Plan) -> None:
    """Create the working folder, or reuse that of an ingest with the same plan."""
    known = _read_plan(part)
    if known == plan and not (part / FINISHED).exists():
        return
    if known is not None:
        if known != plan:
            warnings.warn(
                f"{_describe_change(known, plan)} since the interrupted ingest; discarding {part.name}.", stacklevel=4
            )
        _remove(part)
    elif part.exists() and any(not entry.name.startswith(".") for entry in part.iterdir()):
        raise DataError(f"{part} exists and was not created by an ingest. Move or delete it.")
    part.mkdir(exist_ok=True)
    write_json(part / PLAN, plan)


def _describe_change(known: Plan, plan: Plan) -> str:
    before = {entry["path"]: entry for entry in known["inputs"]}
    if list(before) != [entry["path"] for entry in plan["inputs"]]:
        return "the inputs have changed"
    changed = [entry["path"] for entry in plan["inputs"] if entry != before[entry["path"]]]
    return f"{changed[0]} has changed" if changed else "the options have changed"


def _fill(part: Path, job: Job, plan: Plan, budget: Budget, on_progress: Progress) -> None:
    """Read and merge, or continue; invalid data leave no files behind."""
    try:
        if not (part / CUTS).exists():  # written when all is read
            read_inputs(job, part, budget, on_progress)
            now = _make_plan(job)
            if now != plan:
                raise DataError(f"{_describe_change(plan, now)} while it was read. Run again when it is complete.")
        merge_runs(list_runs(part / RUNS), part, part / STORE, budget, on_progress, job.offered)
    except PlurankError as error:
        if isinstance(error, DataError) or not list_runs(part / RUNS):  # too little memory costs nothing that was read
            _remove(part)
        raise


def _finish(part: Path, target: Path) -> None:
    """Rename the store; repeating this after an interruption does no harm."""
    write_json(part / FINISHED, True)
    if (part / STORE).exists():
        if target.exists():
            os.replace(target, part / "replaced")
        os.replace(part / STORE, target)
    for entry in part.iterdir():  # the slow part, while FINISHED is still there
        if entry.is_dir():
            shutil.rmtree(entry)
    _remove(part)


def _remove(part: Path) -> None:
    """Remove the folder worked in, under another name, so that half of it is never taken for the whole."""
    os.replace(part, _trash(part))
    shutil.rmtree(_trash(part))


def _trash(part: Path) -> Path:
    return part.with_name(f".{part.name}.trash")


# Inputs: files, globs and folders become one list of files, which must not change while they are read.


def list_inputs(inputs: Inputs, without: tuple[Path, ...]) -> list[InputFile]:
    """Return the files to read, in the order given; those of a folder or a glob are sorted by name.

    ``without``: folders whose files a glob does not include, such as the store that is being written.
    """
    given = [inputs] if isinstance(inputs, (str, PathLike)) or not isinstance(inputs, Iterable) else list(inputs)
    if not given:
        raise ParameterError("expected at least one file, glob or folder to ingest, got none.", parameter="inputs")
    files = [file for entry in given for file in _find_files(entry, without)]
    kinds = [kind_of(_refuse_formats(existing(file))) for file in files]
    if "JSON" in kinds:
        name = files[kinds.index("JSON")].name
        raise DataError(f"{name} is one JSON array, which has to be read at once. Write one record a line, .jsonl.")
    _refuse_repeats(files)
    return [InputFile(*each) for each in zip(files, kinds, name_files(files), strict=True)]


def _refuse_formats(file: Path) -> Path:
    """Raise an error for a file of MovieLens or PrefLib."""
    known = find_format(file)
    if known is not None:
        example = f"plurank.{known.form.capitalize()}.from_file"
        raise DataError(
            f"{file.name} holds {known.form} in a format that has to be read at once: fit the file itself. For a "
            f"store, write it as a table ({example} and to_frame) and ingest that."
        )
    return file


def _find_files(entry: File, without: tuple[Path, ...]) -> list[Path]:
    path = as_path(entry)
    if path.is_dir():
        return _files_of_folder(path)
    if path.exists() or not glob.has_magic(str(path)):
        return [path]
    folder = next(parent for parent in (*path.parents, Path()) if parent.is_dir())  # not a pattern
    pattern = str(Path(glob.escape(str(folder))) / path.relative_to(folder))
    matches = (match for match in map(Path, glob.glob(pattern, recursive=True)) if match.is_file())
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
            raise DataError(f"{file} is listed twice; its rows would count twice. List every file once.")
        seen.add(file.resolve())


def fingerprint(files: list[InputFile]) -> list[dict[str, Any]]:
    """Return what tells whether files have changed: path, size and time of the last change of each."""
    found = []
    for file in files:
        status = existing(file.path).stat()
        found.append({"path": str(file.path.resolve()), "size": status.st_size, "changed": status.st_mtime_ns})
    return found


def name_files(files: list[Path]) -> list[str]:
    """Return the names that messages use: without folders, unless several files have the same name."""
    names = [file.name for file in files]
    return [file.name if names.count(file.name) == 1 else str(file) for file in files]

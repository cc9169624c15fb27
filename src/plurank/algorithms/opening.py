"""Users in memory, or in a store with the files of a fit."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from plurank.algorithms.checkpoint import NAME, Checkpoint
from plurank.algorithms.crowd import Crowd, InMemory
from plurank.algorithms.stored_crowd import StoredCrowd
from plurank.algorithms.weight_files import WeightFiles
from plurank.data.store import MANIFEST, Store
from plurank.engine.local import Engine
from plurank.engine.sources import as_comparisons
from plurank.exceptions import ParameterError
from plurank.paths import as_path
from plurank.writing import only_one


@contextmanager
def open_crowd(
    X: Any, n_rankings: int, engine: Engine, about: dict[str, Any], checkpoint: str | PathLike[str] | None, resume: bool
) -> Iterator[tuple[Crowd, Checkpoint | None]]:
    """Give the crowd, and where its fit keeps checkpoints.

    Files of the fit are removed in the end, unless ``checkpoint`` names the folder: there they stay until the model is
    saved. ``resume`` goes on from them if there are any.
    """
    if not isinstance(X, Store):
        if checkpoint is not None or resume:
            raise ParameterError("checkpoints need a store: make one with plurank.ingest or `plurank ingest`.")
        yield InMemory(as_comparisons(X)), None
        return
    folder = _own_folder(X) if checkpoint is None else _named_folder(checkpoint, resume)
    if checkpoint is None and resume:
        raise ParameterError("resume=True needs checkpoint=, the folder of the fit that was stopped.")
    files = WeightFiles(folder)
    busy = ParameterError(f"another fit is using {folder} right now. Wait for it, or name another folder.")
    kept = None if checkpoint is None else Checkpoint(files, {**about, "store": X.fingerprint})
    try:
        with only_one(folder / ".lock", busy):
            if kept is not None and kept.path.exists():
                kept.load()
            else:
                files.clear()
            yield StoredCrowd(X, n_rankings, engine, files, least_groups=engine.least_units), kept
    finally:
        if checkpoint is None:
            files.remove()


def _own_folder(store: Store) -> Path:
    """Make a folder for a fit; workers of a cluster must reach it, so it lies beside the store."""
    try:
        return Path(tempfile.mkdtemp(prefix=f".{store.path.name}.fit-", dir=store.path.parent))
    except OSError as error:
        raise ParameterError(
            f"cannot write beside {store.path} ({error.strerror}). Name a folder for the fit with checkpoint=."
        ) from None


def _named_folder(checkpoint: str | PathLike[str], resume: bool) -> Path:
    if not isinstance(checkpoint, (str, PathLike)):
        raise ParameterError(f"checkpoint must be the path of a folder, got {type(checkpoint).__name__}.")
    folder = as_path(checkpoint).resolve()
    if any((place / MANIFEST).exists() for place in (folder, *folder.parents)):
        raise ParameterError(f"{folder} is inside a store. Name a folder elsewhere for checkpoint=.")
    if (folder / NAME).exists() and not resume:
        raise ParameterError(f"{folder} holds a fit already. Go on with resume=True, or remove its {NAME}.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"{folder} cannot be a folder for checkpoint= ({error.strerror}). Name another.") from None
    return folder

"""Checkpoints of a fit on a store, and the users it runs over.

Ours. What a fit knows is in one small file, written beside and renamed, so that a fit that was stopped or killed goes
on.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurank.engine.blocks import as_comparisons
from plurank.engine.local import Engine
from plurank.exceptions import Argument, DataError, ParameterError
from plurank.io import as_path, only_one, write_beside
from plurank.mixed.bradley_terry import ScoreSums
from plurank.mixed.priors import Priors
from plurank.mixed.refine import QuasiNewton, RefineState
from plurank.mixed.users import Users, WeightFiles
from plurank.store.shards import MANIFEST
from plurank.store.store import Store

EVERY = 3  # passes
NAME = "checkpoint.npz"


class CheckpointState(NamedTuple):
    """What a checkpoint holds: whether comparisons count as ratings, priors and how well they predict, the state of the
    refinement, the version of the weights, and how many groups of users these are in, at least."""

    rated: bool
    priors: Priors
    quality: dict[str, Any] | None
    state: RefineState
    version: int
    least_groups: int


@dataclass
class Checkpoint:
    """The checkpoint of one fit. identity: what it is a fit of, in JSON; another fit's checkpoint is an error.

    rated, quality and selection are what the fit found before its first pass; saved is what an earlier fit left.
    """

    files: WeightFiles
    identity: dict[str, Any]
    saved: CheckpointState | None = None
    rated: bool = False
    quality: dict[str, Any] | None = None
    selection: dict[str, Any] | None = None

    @property
    def path(self) -> Path:
        """The file."""
        return self.files.folder / NAME

    def resume(self, users: Users) -> tuple[Users, RefineState]:
        """Return the users with their weights, and the state of the refinement."""
        assert self.saved is not None
        self.files.resume(self.saved.version)
        begun = users.begin(self.saved.priors.mean)
        return begun.resume(self.saved.version, self.saved.least_groups), self.saved.state

    def keep(self, users: Users, priors: Priors, state: RefineState) -> None:
        """Save every few passes."""
        if len(state.history) % EVERY:
            return
        version = users.accepted
        assert version is not None
        self.files.settle(version)
        arrays: dict[str, Any] = {
            "about": np.array(json.dumps(self.identity)), "quality": np.array(json.dumps(self.quality)),
            "selection": np.array(json.dumps(self.selection)),
            "rated": self.rated,
            "version": version, "mean": priors.mean, "least_groups": users.least_groups,
            "priors": np.array(
                [priors.concentration, priors.score_scale, priors.rating_weight, priors.concentration_error]
            ),
            "scores": state.scores,
            "log_posterior": state.here.log_posterior, "slope": state.here.gradient, "curvature": state.here.hessian,
            "information": state.here.information,
            "history": np.array(state.history), "still": state.n_stalled, "length": state.length,
            **state.memory.to_arrays(),
        }  # fmt: skip
        with write_beside(self.path) as beside, beside.open("wb") as file:
            np.savez(file, **arrays)
        self.files.keep(version)

    def load(self) -> None:
        """Read what was saved; refuse a file that is damaged or of another fit."""
        try:
            with self.path.open("rb") as file, np.load(file) as found:
                arrays = dict(found)
            self.saved = _restore(arrays)
            self.selection = json.loads(str(arrays["selection"]))
            about = json.loads(str(arrays["about"]))
            store = about.pop("store")
        except Exception:  # a damaged zip, JSON or npy can raise nearly anything
            raise DataError(f"{self.path} is no checkpoint, or is damaged. Remove it and fit again.") from None
        if store != self.identity["store"]:
            raise ParameterError(
                f"{self.path} belongs to a fit of other data.", parameter="checkpoint", hint="Use another folder."
            )
        other = sorted(name for name in about if about[name] != self.identity.get(name))
        if other:
            was, now = f"{about[other[0]]!r:.80}", f"{self.identity.get(other[0])!r:.80}"
            raise ParameterError(
                (f"{self.path} belongs to another fit: ", Argument(other[0]), f" was {was}, now it is {now}."),
                parameter="checkpoint",
                hint="Use the same settings, or another folder.",
            )


def _restore(arrays: dict[str, Any]) -> CheckpointState:
    here = ScoreSums(float(arrays["log_posterior"]), arrays["slope"], arrays["curvature"], arrays["information"])
    memory = QuasiNewton.from_arrays(arrays)
    state = RefineState(
        arrays["scores"], here, arrays["history"].tolist(), int(arrays["still"]), float(arrays["length"]), memory
    )
    priors = Priors(arrays["mean"], *arrays["priors"].tolist())
    quality = json.loads(str(arrays["quality"]))
    return CheckpointState(
        bool(arrays["rated"]), priors, quality, state, int(arrays["version"]), int(arrays["least_groups"])
    )


def clear_checkpoint(folder: Path) -> None:
    """Remove what a fit kept, once its model is saved, and the folder if nothing else is in it."""
    (folder / NAME).unlink(missing_ok=True)
    WeightFiles(folder).remove()


@contextmanager
def open_users(
    X: Any, engine: Engine, identity: dict[str, Any], checkpoint: str | PathLike[str] | None, resume: bool
) -> Iterator[tuple[Users, Checkpoint | None]]:
    """Return the users, and where their fit keeps checkpoints.

    Files of the fit are removed in the end, unless ``checkpoint`` names the folder: there they stay until the model is
    saved. ``resume`` goes on from them if there are any.
    """
    if not isinstance(X, Store):
        if checkpoint is not None or resume:
            raise ParameterError(
                "checkpoints require a store.",
                parameter="checkpoint",
                hint="Create one with `plurank ingest` (plurank.ingest).",
            )
        yield Users(as_comparisons(X)), None
        return
    folder = _own_folder(X) if checkpoint is None else _named_folder(checkpoint, resume)
    if checkpoint is None and resume:
        raise ParameterError(
            (Argument("resume", True), " requires ", Argument("checkpoint"), ", the folder of the interrupted fit."),
            parameter="resume",
        )
    files = WeightFiles(folder)
    busy = ParameterError(
        f"another fit is using {folder} right now.", parameter="checkpoint", hint="Wait for it, or use another folder."
    )
    kept = None if checkpoint is None else Checkpoint(files, {**identity, "store": X.fingerprint})
    try:
        with only_one(folder / ".lock", busy):
            if kept is not None and kept.path.exists():
                kept.load()
            else:
                files.clear()
            yield Users(X, storage=files, engine=engine, least_groups=engine.least_units), kept
    finally:
        if checkpoint is None:
            files.remove()


def _own_folder(store: Store) -> Path:
    """Make a folder for a fit; workers of a cluster must reach it, so it lies beside the store."""
    try:
        return Path(tempfile.mkdtemp(prefix=f".{store.path.name}.fit-", dir=store.path.parent))
    except OSError as error:
        raise ParameterError(
            f"cannot write next to {store.path} ({error.strerror}).",
            parameter="checkpoint",
            hint=("Set a folder for the fit with ", Argument("checkpoint"), "."),
        ) from None


def _named_folder(checkpoint: str | PathLike[str], resume: bool) -> Path:
    if not isinstance(checkpoint, (str, PathLike)):
        raise ParameterError(parameter="checkpoint", expected="the path of a folder", got=type(checkpoint).__name__)
    folder = as_path(checkpoint).resolve()
    if any((place / MANIFEST).exists() for place in (folder, *folder.parents)):
        raise ParameterError(parameter="checkpoint", expected="a folder outside of any store", got=f"{folder}")
    if (folder / NAME).exists() and not resume:
        raise ParameterError(
            f"{folder} already contains a fit.",
            parameter="checkpoint",
            hint=("Continue it with ", Argument("resume", True), f", or remove its {NAME}."),
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = f"a folder that can be written ({error.strerror})"
        raise ParameterError(parameter="checkpoint", expected=reason, got=f"{folder}") from None
    return folder

"""User weights between the passes of a fit: one file for every group of users and version, in a folder of the fit.

Ours. A version is written beside the one accepted last, so that a step that does not help costs nothing to undo.
"""

import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plurank.data.arrays import write_array
from plurank.exceptions import DataError
from plurank.wording import reason_of

Floats = NDArray[np.float64]
PREFIX = "plurank-weights-"


@dataclass
class WeightFiles:
    """Arrays by name, group and version. A file is written beside and renamed, so that it is whole or absent.

    ``kept`` is a version that must stay, because a checkpoint goes on from it.
    """

    folder: Path
    latest: int = 0
    kept: int | None = None

    def new_version(self) -> int:
        """Give a number that no version has had."""
        self.latest += 1
        return self.latest

    def write(self, name: str, group: int, version: int, array: Floats) -> None:
        """Write one array; the system may keep it in memory until ``settle``."""
        target = self._path(name, group, version)
        target.parent.mkdir(exist_ok=True)  # not its parents: where the fit is over, nothing comes back
        beside = target.with_name(f"{target.name}.{secrets.token_hex(6)}.part")
        with beside.open("wb") as file:
            write_array(file, array)
        os.replace(beside, target)

    def read(self, name: str, group: int, version: int) -> Floats:
        """Read one array."""
        path = self._path(name, group, version)
        try:
            array: Floats = np.load(path)
        except Exception as error:  # a damaged npy can raise nearly anything
            reason = reason_of(error)
            raise DataError(f"{path} is missing or damaged ({reason}); the fit cannot go on. Fit again.") from None
        return array

    def _path(self, name: str, group: int, version: int) -> Path:
        return self._home(version) / f"{name}-{group:05}.npy"

    def _home(self, version: int) -> Path:
        return self.folder / f"{PREFIX}{version:06}"

    def forget(self, version: int) -> None:
        """Remove a version, unless a checkpoint needs it."""
        if version != self.kept:
            shutil.rmtree(self._home(version), ignore_errors=True)

    def settle(self, version: int) -> None:
        """Make sure that a version is on disk."""
        for file in self._home(version).iterdir():
            with file.open("rb") as opened:
                os.fsync(opened.fileno())

    def keep(self, version: int) -> None:
        """Keep a version instead of the one kept before."""
        before, self.kept = self.kept, version
        if before is not None and before != version:
            self.forget(before)

    def clear(self) -> None:
        """Remove all versions."""
        for version in self.folder.glob(PREFIX + "[0-9]" * 6):
            shutil.rmtree(version, ignore_errors=True)

    def remove(self) -> None:
        """Remove all versions, and the folder if nothing else is in it."""
        self.clear()
        with suppress(OSError):
            self.folder.rmdir()

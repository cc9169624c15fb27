"""The model in use, which follows its file: an update is served without a restart."""

import hashlib
import logging
import os
import signal
import threading
import zipfile
from pathlib import Path

from plurank.data.readers import is_item_list, read_item_list
from plurank.exceptions import DataError
from plurank.mixed.estimator import blank_model
from plurank.models.base import RankingModel
from plurank.models.persistence import load
from plurank.web.served import Served

LOG = logging.getLogger("plurank.web")
EVERY_SECOND = 1.0
Version = tuple[int, int, int]


class Holder:
    """Holds what is served now, and looks at the model's file once a second."""

    def __init__(self, model: str | os.PathLike[str] | RankingModel, parent: int | None = None) -> None:
        self.parent, self.stopped = parent, threading.Event()
        self.path = None if isinstance(model, RankingModel) else Path(model)
        self.seen = None if self.path is None else _version(self.path)
        self.served = Served(model) if isinstance(model, RankingModel) else read(Path(model))

    def start(self) -> None:
        """Begin to look."""
        self.stopped = threading.Event()
        threading.Thread(target=self._look, args=(self.stopped,), name="plurank-reload", daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        self.stopped.set()

    def _look(self, stopped: threading.Event) -> None:
        while not stopped.wait(EVERY_SECOND):
            self.refresh()
            if self.parent is not None and os.getppid() != self.parent:
                os.kill(os.getpid(), signal.SIGTERM)  # a worker must not outlive who started it and could stop it

    def refresh(self) -> None:
        """Serve the file's model, if it is another one now; keep the old one where the new one is damaged."""
        if self.path is None or (version := _version(self.path)) in (self.seen, None):
            return
        self.seen = version
        try:
            self.served = read(self.path)
        except Exception as error:  # nothing that is wrong with a file may end the service
            LOG.warning("%s has changed but cannot be served; going on with the old one. %s", self.path.name, error)
        else:
            LOG.warning("%s has changed and was loaded again.", self.path.name)


def read(path: Path) -> Served:
    """Load a model's file; a list of items becomes a model that knows nothing yet."""
    model = blank_model(*read_item_list(path)) if is_item_list(path) else _load(path)
    return Served(model, hashlib.sha256(path.read_bytes()).hexdigest()[:16])


def _load(path: Path) -> RankingModel:
    try:
        return load(path)
    except DataError as error:
        if path.is_file() and not zipfile.is_zipfile(path):
            raise DataError(f"{error} Or begin a survey with a list of items: a .txt file, one item a line.") from None
        raise


def _version(path: Path) -> Version | None:
    """Tell versions of a file apart without reading it."""
    try:
        found = path.stat()
    except OSError:  # it is being replaced, or gone: the model in memory still serves
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size

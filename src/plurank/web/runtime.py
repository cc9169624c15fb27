"""What keeps a service running: the current model, reloaded when its file changes, and threads to compute in."""

import hashlib
import os
import signal
import threading
import zipfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread

from plurank.data.items import is_item_list, read_item_list
from plurank.exceptions import DataError
from plurank.mixed.blank import blank_model
from plurank.models.base import RankingModel
from plurank.models.persistence import load
from plurank.web.responses import LOG, RequestError
from plurank.web.service import ModelService

Result = TypeVar("Result")
RELOAD_SECONDS = 1.0


class ModelWatcher:
    """Holds the service of the current model, and reloads the model when its file changes."""

    def __init__(self, model: str | os.PathLike[str] | RankingModel, parent: int | None = None) -> None:
        self.parent, self.stopped = parent, threading.Event()
        self.path = None if isinstance(model, RankingModel) else Path(model)
        self.version = None if self.path is None else _file_version(self.path)
        self.current = ModelService(model) if isinstance(model, RankingModel) else load_service(Path(model))

    def start(self) -> None:
        """Start to check the file, once a second."""
        self.stopped = threading.Event()
        threading.Thread(target=self._watch, args=(self.stopped,), name="plurank-reload", daemon=True).start()

    def stop(self) -> None:
        """Stop checking."""
        self.stopped.set()

    def _watch(self, stopped: threading.Event) -> None:
        while not stopped.wait(RELOAD_SECONDS):
            self.reload_if_changed()
            if self.parent is not None and os.getppid() != self.parent:
                os.kill(os.getpid(), signal.SIGTERM)  # a worker must not outlive its parent, which could stop it

    def reload_if_changed(self) -> None:
        """Serve the new model if the file has changed; keep the old one where the new one is damaged."""
        if self.path is None or (version := _file_version(self.path)) in (self.version, None):
            return
        self.version = version
        try:
            self.current = load_service(self.path)
        except Exception as error:  # no damaged file may end the service
            LOG.warning("%s has changed but cannot be loaded; still serving the old model. %s", self.path.name, error)
        else:
            LOG.warning("%s has changed and was reloaded.", self.path.name)


def load_service(path: Path) -> ModelService:
    """Load a model file; a list of items becomes an uninformative model."""
    model = blank_model(*read_item_list(path)) if is_item_list(path) else _load_model(path)
    return ModelService(model, hashlib.sha256(path.read_bytes()).hexdigest()[:16])


def _load_model(path: Path) -> RankingModel:
    try:
        return load(path)
    except DataError as error:
        if path.is_file() and not zipfile.is_zipfile(path):
            hint = "To begin a survey with a list of items, pass a .txt file with one item per line."
            raise DataError(f"{error} {hint}") from None
        raise


def _file_version(path: Path) -> tuple[int, int, int] | None:
    """Return what differs between versions of a file, without reading it."""
    try:
        found = path.stat()
    except OSError:  # being replaced, or deleted: the model in memory is still served
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


class WorkerThreads:
    """Runs functions in threads, so that the event loop stays responsive; a bounded number of calls may wait.

    Native functions release the GIL, so that several requests are computed at once on several cores.
    """

    def __init__(self, n_threads: int, max_pending: int) -> None:
        self.n_threads, self.max_pending, self.n_pending = n_threads, max_pending, 0

    @cached_property
    def _limiter(self) -> CapacityLimiter:
        return CapacityLimiter(self.n_threads)  # can only be created while an event loop runs

    async def run(self, function: Callable[..., Result], *args: Any) -> Result:
        """Call a function in a thread and return its result; raise 503 where too many calls are waiting."""
        if self.n_pending >= self.max_pending:
            message = f"the service is busy: {self.n_pending:,} requests are waiting. Try again later."
            raise RequestError(503, message, retry_after="5")
        self.n_pending += 1
        try:
            return await to_thread.run_sync(function, *args, limiter=self._limiter)
        finally:
            self.n_pending -= 1

"""Work runs on a Dask cluster: one that is there, or workers started on this machine.

The store and the folder of the fit must be reachable from all workers under the same path. A worker that dies takes
nothing with it: tasks depend on files alone, so Dask runs them again elsewhere and they give the same.
"""

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeVar

import numba
from distributed import Client, KilledWorker, LocalCluster, get_worker

from plurank.exceptions import EngineError

Unit = TypeVar("Unit")
Result = TypeVar("Result")
RETRIES = 3
UNITS_PER_WORKER = 4  # so that a slow one does not keep all others waiting
TIMEOUT = 20  # seconds to find a scheduler
_one_kernel_at_a_time = threading.Lock()


class DaskEngine:
    """Runs tasks on the workers of a scheduler, given by its address or a client; without one, on worker processes of
    this machine, one for every core."""

    def __init__(self, scheduler: str | Client | None = None) -> None:
        self._started: list[Any] = []
        if isinstance(scheduler, Client):
            self._client = scheduler
            return
        try:
            if scheduler is None:
                cluster = LocalCluster(threads_per_worker=1, dashboard_address=None)  # type: ignore[no-untyped-call]
                self._started.append(cluster)
            self._client = Client(scheduler or cluster, timeout=TIMEOUT)  # type: ignore[no-untyped-call]
            self._started.insert(0, self._client)
        except (OSError, ValueError) as error:
            raise EngineError(
                f"no Dask scheduler answers at {scheduler!r} ({error}). Expected an address such as tcp://host:8786; "
                "is it running, and can this machine reach it?"
            ) from None

    @property
    def least_units(self) -> int:
        """A few for every worker."""
        return UNITS_PER_WORKER * max(len(self._client.scheduler_info(n_workers=-1)["workers"]), 1)

    def reduce(
        self,
        task: Callable[[Any, Unit], Result],
        shared: Any,
        units: Sequence[Unit],
        merge: Callable[[Result, Result], Result],
    ) -> Result:
        """Add up what the task gives for every unit, on the workers: only the total travels back."""
        with self._watch():
            parts = self._submit(task, shared, units)
            while len(parts) > 1:
                parts = [
                    self._client.submit(merge, *pair, pure=False, retries=RETRIES) if len(pair) == 2 else pair[0]
                    for pair in (parts[n : n + 2] for n in range(0, len(parts), 2))
                ]
            total: Result = parts[0].result()
        return total

    def map(self, task: Callable[[Any, Unit], Result], shared: Any, units: Sequence[Unit]) -> Iterator[Result]:
        """Give what the task gives for every unit, in their order."""
        with self._watch():
            for part in self._submit(task, shared, units):
                yield part.result()

    def _submit(self, task: Callable[[Any, Unit], Result], shared: Any, units: Sequence[Unit]) -> list[Any]:
        with warnings.catch_warnings():  # what is shared is large, and sent once
            warnings.simplefilter("ignore", UserWarning)
            sent = self._client.submit(_same, shared, pure=False, retries=RETRIES)
            return [self._client.submit(_run, task, sent, unit, pure=False, retries=RETRIES) for unit in units]

    @contextmanager
    def _watch(self) -> Iterator[None]:
        """Say in a sentence what became of the cluster."""
        try:
            yield
        except KilledWorker:
            raise EngineError(
                f"a part of the work ended {RETRIES} workers one after the other; perhaps they have too little memory. "
                "Give them more, or use fewer threads for each."
            ) from None
        except (OSError, CancelledError, RuntimeError):
            if self._client.status == "running":
                raise
            raise EngineError(
                "the Dask scheduler is gone, and with it the work under way. Start it again; a fit with checkpoint= "
                "goes on where it was with resume=True."
            ) from None

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here."""
        for each in self._started:
            each.close()


def _same(shared: Any) -> Any:
    return shared


def _run(task: Callable[[Any, Any], Any], shared: Any, unit: Any) -> Any:
    """Run a task on a worker; kernels use all threads of the worker, one at a time."""
    with _one_kernel_at_a_time:
        numba.set_num_threads(min(get_worker().state.nthreads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
        return task(shared, unit)

"""Work runs on a Dask cluster: one that is there, or workers started on this machine.

The store and the folder of the fit must be reachable from all workers under the same path. A worker that dies takes
nothing with it: tasks depend on files alone, so Dask runs them again elsewhere and they give the same.
"""

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from distributed import Client, KilledWorker, LocalCluster, get_worker

from plurank.engine.local import one_blas_thread
from plurank.exceptions import Argument, EngineError, ParameterError, PlurankError
from plurank.kernels import threads

Unit = TypeVar("Unit")
Result = TypeVar("Result")
RETRIES = 3
UNITS_PER_WORKER = 4  # so that a slow one does not keep all others waiting
TIMEOUT = 20  # seconds to find a scheduler


class DaskEngine:
    """Runs tasks on the workers of a scheduler, given by its address or a client; without one, on worker processes of
    this machine, one for every core."""

    def __init__(self, scheduler: str | Client | None = None) -> None:
        self._started: list[Any] = []
        if isinstance(scheduler, Client):
            self._client = scheduler
        elif scheduler is None:
            self._start_workers()
        elif isinstance(scheduler, str):
            self._connect(scheduler)
        else:
            raise ParameterError(
                parameter="scheduler", expected="an address or a client of Dask", got=type(scheduler).__name__
            )

    def _start_workers(self) -> None:
        try:
            cluster = LocalCluster(  # type: ignore[no-untyped-call]
                threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
            )
        except (OSError, RuntimeError) as error:
            raise EngineError(
                f"Dask could not start workers here ({type(error).__name__}). In a script, call fit under "
                "`if __name__ == '__main__':`, because every worker reads the script."
            ) from None
        self._client = Client(cluster)  # type: ignore[no-untyped-call]
        self._started = [self._client, cluster]

    def _connect(self, address: str) -> None:
        try:
            self._client = Client(address, timeout=TIMEOUT)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise EngineError(
                f"no Dask scheduler answers at {address!r} ({error}). Expected an address such as tcp://host:8786; "
                "is it running, and can this machine reach it?"
            ) from None
        self._started = [self._client]

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
                    self._client.submit(_merge, merge, *pair, pure=False, retries=RETRIES)
                    if len(pair) == 2
                    else pair[0]
                    for pair in (parts[n : n + 2] for n in range(0, len(parts), 2))
                ]
            total: Result = _unwrap(parts[0].result())
        return total

    def map(self, task: Callable[[Any, Unit], Result], shared: Any, units: Sequence[Unit]) -> Iterator[Result]:
        """Return what the task gives for every unit, in their order."""
        with self._watch():
            for part in self._submit(task, shared, units):
                yield _unwrap(part.result())

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
                "the connection to the Dask scheduler was lost, and with it the running work.",
                hint=(
                    "Start it again; a fit with ", Argument("checkpoint"), " continues with ",
                    Argument("resume", True), ".",
                ),
            ) from None  # fmt: skip

    def close(self) -> None:
        """Leave the cluster, and end it if it was started here."""
        for each in self._started:
            each.close()


def _same(shared: Any) -> Any:
    return shared


def _run(task: Callable[[Any, Any], Any], shared: Any, unit: Any) -> Any:
    """Run a task on a worker; kernels use as many threads as the worker has, and BLAS one, as in this process."""
    threads.set_num_threads(get_worker().state.nthreads)
    try:
        with one_blas_thread():
            return task(shared, unit)
    except PlurankError as error:
        return Refusal(error)


class Refusal(NamedTuple):
    """A task that cannot be done, which running it again would not change; it travels as a result."""

    error: PlurankError


def _merge(merge: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    for part in (one, other):
        if isinstance(part, Refusal):
            return part
    return merge(one, other)


def _unwrap(result: Any) -> Any:
    if isinstance(result, Refusal):
        raise result.error
    return result

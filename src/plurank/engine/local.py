"""Where work runs: in this process, one part after the other, with kernels that use all its threads; or elsewhere."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from threadpoolctl import threadpool_limits

from plurank.choices import EngineName
from plurank.engine.blocks import sum_tree
from plurank.exceptions import Argument, EngineError, ParameterError
from plurank.store.folder import BaseStore
from plurank.validation import check_choice

Unit = TypeVar("Unit")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs a task for every unit of the data.

    ``task(shared, unit)`` may run anywhere and more than once: it depends on its arguments and on files alone. What is
    shared travels once, and what comes back is added up as a tree, so that the answer does not depend on the engine.
    """

    @property
    def least_units(self) -> int:
        """How many units there should be at least, to keep all workers busy."""

    def reduce(
        self,
        task: Callable[[Any, Unit], Result],
        shared: Any,
        units: Sequence[Unit],
        merge: Callable[[Result, Result], Result],
    ) -> Result:
        """Add up what the task gives for every unit."""

    def map(self, task: Callable[[Any, Unit], Result], shared: Any, units: Sequence[Unit]) -> Iterator[Result]:
        """Return what the task gives for every unit, in their order."""

    def close(self) -> None:
        """Let go of what was started for the work."""


class LocalEngine:
    """Runs everything here."""

    least_units = 1

    def __init__(self, scheduler: Any = None) -> None:
        if scheduler is not None:
            raise ParameterError(
                (Argument("scheduler"), " requires ", Argument("engine", "dask"), "."), parameter="scheduler"
            )

    def reduce(
        self,
        task: Callable[[Any, Unit], Result],
        shared: Any,
        units: Sequence[Unit],
        merge: Callable[[Result, Result], Result],
    ) -> Result:
        """Add up what the task gives for every unit."""
        return sum_tree(self.map(task, shared, units), merge)

    def map(self, task: Callable[[Any, Unit], Result], shared: Any, units: Sequence[Unit]) -> Iterator[Result]:
        """Return what the task gives for every unit, in their order."""
        return (task(shared, unit) for unit in units)

    def close(self) -> None:
        """Nothing was started."""


@contextmanager
def open_engine(X: Any, engine: EngineName, scheduler: Any) -> Iterator[Engine]:
    """Return the engine that a fit of these data runs on."""
    check_choice("engine", engine, EngineName)
    if engine != "local" and not isinstance(X, BaseStore):
        raise ParameterError(
            (Argument("engine", engine), " requires a store, not data in memory."),
            parameter="engine",
            hint="Create one with `plurank ingest` (plurank.ingest).",
        )
    runner = ENGINES[engine](scheduler)
    try:
        yield runner
    finally:
        runner.close()


def _dask_engine(scheduler: Any) -> Engine:
    try:
        from plurank.engine.dask import DaskEngine
    except ImportError as error:
        needs = f" requires {error.name}: pip install 'plurank[dask]'."
        raise EngineError((Argument("engine", "dask"), needs), parameter="engine") from None
    return DaskEngine(scheduler)


ENGINES: dict[EngineName, Callable[[Any], Engine]] = {"local": LocalEngine, "dask": _dask_engine}


_lock, _n_inside = threading.Lock(), 0
_limits: threadpool_limits | None = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, so that sums in matrix products have one order.

    The limit is lifted when the last of several fits at once has ended.
    """
    global _n_inside, _limits
    with _lock:
        _n_inside += 1
        if _n_inside == 1:
            _limits = threadpool_limits(1, "blas")
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            if _n_inside == 0 and _limits is not None:
                _limits.restore_original_limits()
                _limits = None

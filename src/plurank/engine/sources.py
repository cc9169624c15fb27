"""What a fit is given, comparisons in memory, a frame or a store, and the engine that runs over its users."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from plurank.choices import EngineName
from plurank.data.comparisons import Comparisons
from plurank.engine.blocks import Group, group_users
from plurank.engine.local import Engine
from plurank.exceptions import Argument, EngineError, ParameterError
from plurank.store.store import Store
from plurank.validation import check_choice

Result = TypeVar("Result")


def as_comparisons(X: Any) -> Comparisons:
    """Take Comparisons, or a frame or a store that can become Comparisons."""
    if isinstance(X, Store):
        return X.to_comparisons()
    return X if isinstance(X, Comparisons) else Comparisons.from_frame(X)


def as_source(X: Any) -> Comparisons | Store:
    """Take a store as it is, and anything else as Comparisons."""
    return X if isinstance(X, Store) else as_comparisons(X)


def pieces_of(X: Any, *, labelled: bool = True) -> Iterator[Comparisons]:
    """Return comparisons at once, and those of a store group by group of users."""
    if not isinstance(X, Store):
        yield as_comparisons(X)
        return
    for group in group_users(X.offsets):
        yield X.block(*group.users, labelled=labelled)


@contextmanager
def open_engine(X: Any, engine: EngineName, scheduler: Any) -> Iterator[Engine]:
    """Return the engine that a fit of these data runs on."""
    check_choice("engine", engine, EngineName)
    if engine != "local" and not isinstance(X, Store):
        raise ParameterError(
            (Argument("engine", engine), " requires a store, not comparisons in memory."),
            parameter="engine",
            hint="Create one with `plurank ingest` (plurank.ingest).",
        )
    try:
        room = import_module(f"plurank.engine.{engine}")
    except ImportError as error:
        needs = f" requires {error.name}: pip install 'plurank[{engine}]'."
        raise EngineError((Argument("engine", engine), needs), parameter="engine") from None
    runner: Engine = room.ENGINE(scheduler)
    try:
        yield runner
    finally:
        runner.close()


def map_users(
    source: Comparisons | Store,
    task: Callable[[Any, int, Comparisons], Result],
    shared: Any,
    engine: Engine,
    *,
    labelled: bool = False,
) -> Iterator[Result]:
    """Run ``task(shared, number, users)`` for all users: at once where they are in memory, group by group in a store.

    Without ``labelled`` the users of a store are without their names, which the task does not need.
    """
    if not isinstance(source, Store):
        yield task(shared, 0, source)
        return
    groups = group_users(source.offsets, engine.least_units)
    yield from engine.map(partial(_run_on_group, task, labelled), (source, shared), groups)


def _run_on_group(
    task: Callable[[Any, int, Comparisons], Result], labelled: bool, given: tuple[Store, Any], group: Group
) -> Result:
    store, shared = given
    return task(shared, group.number, store.block(*group.users, labelled=labelled))

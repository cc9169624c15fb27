"""Weights of more users than memory holds, written to Parquet or CSV as they come."""

import copy
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from plurank.choices import EngineName
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import as_series
from plurank.engine.blocks import Group, as_observations, as_source, groups_of, read_users
from plurank.engine.local import open_engine
from plurank.io import check_target, write_beside
from plurank.models.base import RankingModel
from plurank.models.sklearn_api import check_is_fitted
from plurank.store.store import Store


def write_weights(
    model: RankingModel,
    X: Any,
    path: str | PathLike[str],
    *,
    engine: EngineName = "local",
    scheduler: Any = None,
) -> None:
    """Write the weights of all users of comparisons or of a store: columns user, ranking 1, ranking 2, ...

    The file is CSV where its name ends in .csv, else Parquet. Users are folded in by a fitted model as ``transform``
    does; nothing is fitted again. Group by group of users, here or on a Dask cluster; the file is whole or absent.
    """
    check_is_fitted(model)
    target = check_target(path)
    with (
        open_engine(X, engine, scheduler) as runner,
        TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder,
    ):
        source: Any = as_source(X) if model.posterior is None else as_observations(X)
        given = _without_users(model), source, Path(folder)
        parts = list(runner.map(_write_part, given, groups_of(source, runner.least_units)))
        with write_beside(target) as beside:
            table = pl.scan_parquet(parts, glob=False)
            table.sink_csv(beside) if target.suffix.lower() == ".csv" else table.sink_parquet(beside)


def _without_users(model: RankingModel) -> RankingModel:
    """Leave out what the model knows about its own users, so that little travels."""
    lean = copy.copy(model)
    for name, field in model.fields.items():
        array = getattr(model, name)
        if "M" in field.shape and array is not None:
            setattr(lean, name, array[(slice(None),) * field.shape.index("M") + (slice(0),)])
    return lean


def _write_part(given: tuple[RankingModel, Comparisons | Store, Path], group: Group) -> Path:
    model, source, folder = given
    users = read_users(source, group, labelled=True)
    weights = model.set_output(transform="default").transform(users)
    columns = [pl.Series(f"ranking {k + 1}", weights[:, k]) for k in range(weights.shape[1])]
    part = folder / f"{group.number:06}.parquet"
    with write_beside(part) as beside:
        pl.DataFrame([as_series(users.users, "user"), *columns]).write_parquet(beside)
    return part

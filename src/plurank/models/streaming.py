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
from plurank.engine.sources import as_source, map_users, open_engine
from plurank.io import check_target, write_beside
from plurank.models.base import RankingModel
from plurank.models.estimator import check_is_fitted


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
        parts = list(map_users(as_source(X), _write_part, (_without_users(model), Path(folder)), runner, labelled=True))
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


def _write_part(given: tuple[RankingModel, Path], number: int, users: Comparisons) -> Path:
    model, folder = given
    weights = model.set_output(transform="default").transform(users)
    columns = [pl.Series(f"ranking {k + 1}", weights[:, k]) for k in range(weights.shape[1])]
    part = folder / f"{number:06}.parquet"
    with write_beside(part) as beside:
        pl.DataFrame([as_series(users.users, "user"), *columns]).write_parquet(beside)
    return part

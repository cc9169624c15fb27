"""How a model was fitted, as names and values for people."""

import platform
from importlib.metadata import version
from typing import Any

from plurank.models.base import RankingModel

PACKAGES = ("plurank", "numpy", "scipy", "polars", "vl-convert-python")


def method_of(model: RankingModel) -> str:
    """Name the method."""
    return f"{model.about} ({type(model).__name__})"


def settings_of(model: RankingModel) -> list[tuple[str, str]]:
    """List how the model was fitted."""
    rows = [("method", method_of(model))]
    rows += [(name, _show(value)) for name, value in model.get_params().items() if value is not None]
    rows.append(("passes", f"{model.n_iter_:,}, {'to the end' if model.converged_ else 'stopped while it improved'}"))
    return rows


def versions() -> list[tuple[str, str]]:
    """List what made the report."""
    return [("Python", platform.python_version()), *((name, version(name)) for name in PACKAGES)]


def _show(value: Any) -> str:
    return f"{value:,g}" if isinstance(value, float) else str(value)

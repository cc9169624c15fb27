"""How a model was fitted, as names and values for people."""

import platform
from importlib.metadata import version
from typing import Any

from plurank.models.base import RankingModel

METHODS = {
    "MixedRanking": "rankings and weights by maximum posterior (MixedRanking)",
    "TopicRanking": "the topic-model method of Ding, Ishwar and Saligrama (TopicRanking)",
    "SingleRanking": "one Bradley-Terry ranking for everybody (SingleRanking)",
    "ClusteredRanking": "a mixture in which everybody follows one ranking (ClusteredRanking)",
    "FJS": "the sparsest mixture behind the pooled preferences (FJS)",
    "PairTopics": "topics of pairs, without ranking structure (PairTopics)",
}
PACKAGES = ("plurank", "numpy", "scipy", "numba", "polars", "altair")


def method_of(model: RankingModel) -> str:
    """Name the method."""
    kind = type(model).__name__
    return METHODS.get(kind, kind)


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

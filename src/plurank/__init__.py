"""plurank: the few rankings a population shares, and how much each person follows each, from pairwise comparisons."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from plurank.exceptions import extra

if TYPE_CHECKING:
    from plurank import datasets
    from plurank.baselines.clustered_ranking import ClusteredRanking
    from plurank.baselines.fjs import FJS
    from plurank.baselines.pair_topics import PairTopics
    from plurank.baselines.quality import held_out_quality
    from plurank.baselines.single_ranking import SingleRanking
    from plurank.data.comparisons import Comparisons
    from plurank.data.diagnostics import DataReport
    from plurank.data.formats import read_rankings, read_ratings
    from plurank.data.items import Items, read_items
    from plurank.data.readers import read_comparisons
    from plurank.data.simulate import (
        Simulation,
        is_separable,
        novel_pairs,
        simulate,
    )
    from plurank.exceptions import (
        ConvergenceWarning,
        DataError,
        EngineError,
        MissingExtraError,
        NotFittedError,
        NotIdentifiableError,
        ParameterError,
        PlurankError,
        SkippedWarning,
    )
    from plurank.metrics.predictions import Influence, Quality, accuracy, log_likelihood
    from plurank.metrics.rankings import align, kendall_tau, ranking_error
    from plurank.mixed.blank import blank_model
    from plurank.mixed.estimator import MixedRanking
    from plurank.mixed.selection import Selection, select_rankings
    from plurank.models.committee import Committee
    from plurank.models.persistence import load
    from plurank.models.person import Person
    from plurank.models.rating_predictor import RatingPredictor
    from plurank.report.charts import save_figure
    from plurank.report.descriptions import describe_rankings
    from plurank.report.page import write_report
    from plurank.store.ingest import ingest
    from plurank.store.store import Store, open_store
    from plurank.topic.estimator import TopicRanking
    from plurank.topic.theory import SampleBound, sample_bound
    from plurank.web.learning import read_feedback

    __version__: str

# imported on first use, so that `import plurank` is quick
_HOMES = {
    "ClusteredRanking": "baselines.clustered_ranking",
    "Committee": "models.committee",
    "Comparisons": "data.comparisons",
    "ConvergenceWarning": "exceptions",
    "DataError": "exceptions",
    "DataReport": "data.diagnostics",
    "EngineError": "exceptions",
    "FJS": "baselines.fjs",
    "Influence": "metrics.predictions",
    "Items": "data.items",
    "MissingExtraError": "exceptions",
    "MixedRanking": "mixed.estimator",
    "NotFittedError": "exceptions",
    "NotIdentifiableError": "exceptions",
    "PairTopics": "baselines.pair_topics",
    "ParameterError": "exceptions",
    "Person": "models.person",
    "PlurankError": "exceptions",
    "Quality": "metrics.predictions",
    "RatingPredictor": "models.rating_predictor",
    "SampleBound": "topic.theory",
    "Selection": "mixed.selection",
    "Simulation": "data.simulate",
    "SingleRanking": "baselines.single_ranking",
    "SkippedWarning": "exceptions",
    "Store": "store.store",
    "TopicRanking": "topic.estimator",
    "accuracy": "metrics.predictions",
    "align": "metrics.rankings",
    "blank_model": "mixed.blank",
    "describe_rankings": "report.descriptions",
    "held_out_quality": "baselines.quality",
    "ingest": "store.ingest",
    "is_separable": "data.simulate",
    "kendall_tau": "metrics.rankings",
    "load": "models.persistence",
    "log_likelihood": "metrics.predictions",
    "novel_pairs": "data.simulate",
    "open_store": "store.store",
    "ranking_error": "metrics.rankings",
    "read_comparisons": "data.readers",
    "read_feedback": "web.learning",
    "read_items": "data.items",
    "read_rankings": "data.formats",
    "read_ratings": "data.formats",
    "sample_bound": "topic.theory",
    "save_figure": "report.charts",
    "select_rankings": "mixed.selection",
    "simulate": "data.simulate",
    "write_report": "report.page",
}

_EXTRAS = ("report", "web")  # packages that need the extra of their name
__all__ = [
    "FJS",
    "ClusteredRanking",
    "Committee",
    "Comparisons",
    "ConvergenceWarning",
    "DataError",
    "DataReport",
    "EngineError",
    "Influence",
    "Items",
    "MissingExtraError",
    "MixedRanking",
    "NotFittedError",
    "NotIdentifiableError",
    "PairTopics",
    "ParameterError",
    "Person",
    "PlurankError",
    "Quality",
    "RatingPredictor",
    "SampleBound",
    "Selection",
    "Simulation",
    "SingleRanking",
    "SkippedWarning",
    "Store",
    "TopicRanking",
    "accuracy",
    "align",
    "blank_model",
    "datasets",
    "describe_rankings",
    "held_out_quality",
    "ingest",
    "is_separable",
    "kendall_tau",
    "load",
    "log_likelihood",
    "novel_pairs",
    "open_store",
    "ranking_error",
    "read_comparisons",
    "read_feedback",
    "read_items",
    "read_rankings",
    "read_ratings",
    "sample_bound",
    "save_figure",
    "select_rankings",
    "simulate",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        value: Any = import_module("plurank.datasets")
    elif name == "__version__":
        value = import_module("importlib.metadata").version("plurank")
    elif name in _HOMES:
        value = _import(name)
    else:
        raise AttributeError(f"module 'plurank' has no attribute {name!r}")
    globals()[name] = value
    return value


def _import(name: str) -> Any:
    package, _, _ = _HOMES[name].partition(".")
    if package not in _EXTRAS:
        return getattr(import_module(f"plurank.{_HOMES[name]}"), name)
    with extra(package, f"plurank.{name}"):
        return getattr(import_module(f"plurank.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

# The public names of plurank, each once. Type checkers read this file; __init__.py imports the names on first use.

from . import datasets as datasets
from .baselines.clustered_ranking import ClusteredRanking as ClusteredRanking
from .baselines.fjs import FJS as FJS
from .baselines.pair_topics import PairTopics as PairTopics
from .baselines.quality import held_out_quality as held_out_quality
from .baselines.single_ranking import SingleRanking as SingleRanking
from .data.comparisons import Comparisons as Comparisons
from .data.diagnostics import DataReport as DataReport
from .data.formats import read_rankings as read_rankings
from .data.formats import read_ratings as read_ratings
from .data.items import Items as Items
from .data.items import read_items as read_items
from .data.rated import Rankings as Rankings
from .data.rated import Ratings as Ratings
from .data.readers import read_comparisons as read_comparisons
from .data.simulate import Simulation as Simulation
from .data.simulate import is_separable as is_separable
from .data.simulate import novel_pairs as novel_pairs
from .data.simulate import simulate as simulate
from .exceptions import ConvergenceWarning as ConvergenceWarning
from .exceptions import DataError as DataError
from .exceptions import EngineError as EngineError
from .exceptions import MissingExtraError as MissingExtraError
from .exceptions import NotFittedError as NotFittedError
from .exceptions import NotIdentifiableError as NotIdentifiableError
from .exceptions import ParameterError as ParameterError
from .exceptions import PlurankError as PlurankError
from .exceptions import SkippedWarning as SkippedWarning
from .metrics.predictions import Influence as Influence
from .metrics.predictions import Quality as Quality
from .metrics.predictions import accuracy as accuracy
from .metrics.predictions import log_likelihood as log_likelihood
from .metrics.rankings import align as align
from .metrics.rankings import kendall_tau as kendall_tau
from .metrics.rankings import ranking_error as ranking_error
from .mixed.blank import blank_model as blank_model
from .mixed.estimator import MixedRanking as MixedRanking
from .mixed.selection import Selection as Selection
from .mixed.selection import select_rankings as select_rankings
from .models.committee import Committee as Committee
from .models.persistence import load as load
from .models.person import Person as Person
from .models.rating_predictor import RatingPredictor as RatingPredictor
from .report.charts import save_figure as save_figure
from .report.descriptions import describe_rankings as describe_rankings
from .report.page import write_report as write_report
from .store.ingest import ingest as ingest
from .store.store import Store as Store
from .store.store import open_store as open_store
from .topic.estimator import TopicRanking as TopicRanking
from .topic.theory import SampleBound as SampleBound
from .topic.theory import sample_bound as sample_bound
from .web.learning import read_feedback as read_feedback

__all__: list[str]
__version__: str

"""How good a model is: what it predicts of comparisons it has not seen, beside one ranking for everybody."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone

from plurank.data.checks import is_number
from plurank.data.comparisons import Comparisons
from plurank.data.sampling import some_users
from plurank.data.splitting import split_safely
from plurank.evaluation.calibration import calibration_table
from plurank.evaluation.prediction import accuracy, log_likelihood
from plurank.exceptions import DataError, ParameterError
from plurank.models.base import RankingModel, as_comparisons, as_source
from plurank.models.files import class_named
from plurank.progress import Progress, silent
from plurank.rng import RandomState, as_generator
from plurank.wording import count

ENOUGH = 1_000_000  # comparisons to judge by
YARDSTICK = "SingleRanking"  # lives in a room above this one


@dataclass(frozen=True)
class Quality:
    """What a model, fitted to ``n_train`` comparisons, predicts of ``n_test`` others, and what one ranking does.

    ``log_likelihood`` is per comparison; guessing is -0.693. ``calibration`` has columns predicted, share, n: how often
    the item predicted to win did so.
    """

    n_train: int
    n_test: int
    log_likelihood: float
    accuracy: float
    single_log_likelihood: float
    single_accuracy: float
    calibration: pl.DataFrame = field(compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain Python values, for JSON."""
        return {**vars(self), "calibration": self.calibration.to_dict(as_series=False)}


def held_out_quality(
    model: RankingModel,
    comparisons: Any,
    test_size: float = 0.2,
    *,
    test: Any = None,
    random_state: RandomState = 0,
    on_progress: Progress = silent,
) -> Quality:
    """Hold out some comparisons, fit the model and one ranking again to the others, and judge both on those held out.

    The model given stays as it is. Where comparisons come from ratings, a person's items are held out, not single
    pairs. With ``test`` nothing is held out: the fits are to all comparisons, and ``test`` is what is predicted.
    """
    if not is_number(test_size) or not 0 < test_size < 1:
        raise ParameterError(f"test_size must lie between 0 and 1, got {test_size!r}.")
    rng = as_generator(random_state)
    sample = some_users(as_source(comparisons), ENOUGH, rng)
    train, held_out = _split(sample, test_size, rng) if test is None else (sample, as_comparisons(test))
    fresh = clone(model)
    if "random_state" in fresh.get_params() and fresh.random_state is None:
        fresh.set_params(random_state=random_state)
    fresh.fit(train, on_progress=on_progress)
    single = class_named(YARDSTICK)().fit(train, on_progress=on_progress)
    return _judge(fresh, single, len(train), held_out)


def _split(sample: Comparisons, share: float, rng: np.random.Generator) -> tuple[Comparisons, Comparisons]:
    kept, held_out = split_safely(sample, share, rng)
    if not kept.any() or not held_out.any():
        raise DataError(
            f"{count(len(sample), 'comparison')} of {count(sample.n_users, 'user')} are too few to hold some out. "
            "Expected users with several comparisons each."
        )
    return sample.select(kept), sample.select(held_out)


def _judge(model: RankingModel, single: RankingModel, n_train: int, test: Comparisons) -> Quality:
    probabilities, weights = model.predict_held_out(test)
    by_one, _ = single.predict_held_out(test)
    return Quality(
        n_train, len(test),
        log_likelihood(probabilities, weights), accuracy(probabilities, weights),
        log_likelihood(by_one, weights), accuracy(by_one, weights),
        calibration_table(probabilities, weights),
    )  # fmt: skip

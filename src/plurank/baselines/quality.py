"""How good a model is: what it predicts of comparisons it has not seen, beside one ranking for everybody."""

from typing import Any

from plurank.baselines.single_ranking import SingleRanking
from plurank.data.split import check_test_size, hold_out, some_users, too_few
from plurank.engine.sources import as_comparisons, as_source
from plurank.exceptions import ParameterError
from plurank.metrics.predictions import Quality
from plurank.models.base import RankingModel
from plurank.models.estimator import clone
from plurank.progress import Progress, silent
from plurank.random import RandomState, as_generator

ENOUGH = 1_000_000  # comparisons to judge by


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
    check_model(model)
    check_test_size(test_size)
    rng = as_generator(random_state)
    sample = some_users(as_source(comparisons), ENOUGH, rng)
    parts = hold_out(sample, test_size, rng) if test is None else (sample, as_comparisons(test))
    if parts is None:
        raise too_few(sample)
    train, held_out = parts
    fresh = clone(model)
    if fresh.get_params().get("random_state", 0) is None:
        fresh.set_params(random_state=random_state)
    fresh.fit(train, on_progress=on_progress)
    single = SingleRanking().fit(train, on_progress=on_progress)
    probabilities, weights = fresh.predict_held_out(held_out)
    return Quality.of(len(train), probabilities, single.predict_held_out(held_out)[0], weights)


def check_model(model: Any) -> None:
    """Raise an error unless this is a model of plurank."""
    if not isinstance(model, RankingModel):
        raise ParameterError(parameter="model", expected="a model of plurank", got=type(model).__name__)

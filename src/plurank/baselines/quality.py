"""How good a model is: what it predicts of comparisons it has not seen, beside one ranking for everybody."""

from typing import Any

from plurank.baselines.single_ranking import SingleRanking
from plurank.data.split import hold_out, some_users, too_few
from plurank.engine.blocks import as_comparisons, as_source
from plurank.exceptions import ParameterError
from plurank.metrics.predictions import Quality
from plurank.models.base import RankingModel
from plurank.models.sklearn_api import clone
from plurank.random import RandomState, as_generator
from plurank.types import Progress, silent
from plurank.validation import check_share

QUALITY_SAMPLE = 1_000_000  # comparisons to judge by


def held_out_quality(
    model: RankingModel,
    comparisons: Any,
    test_size: float = 0.2,
    *,
    test: Any = None,
    random_state: RandomState = 0,
    on_progress: Progress = silent,
) -> Quality:
    """Fit a model and one ranking again without some of the comparisons, and judge both on these.

    The model given stays as it is. Of comparisons made from ratings, and of users whose comparisons all agree with one
    order, items are held out, not single comparisons.

    Parameters
    ----------
    model : RankingModel
        A model, fitted or not; its parameters are used, and what it chose where these are "auto".
    comparisons : Comparisons, Store or data frame
        The comparisons; of more than 1,000,000, a sample of users.
    test_size : float, default=0.2
        Share to hold out, between 0 and 1.
    test : Comparisons, Store, data frame or None, default=None
        Test comparisons; nothing is held out then, and the fits are to all of ``comparisons``.
    random_state : int, numpy.random.Generator or None, default=0
        Seed of what is held out, and of the fit where the model has none.
    on_progress : callable, default=silent
        Called with the name of a stage and the share of it that is done.

    Returns
    -------
    Quality
        Log-likelihood, accuracy and calibration of the model, and of one ranking for all users.

    Raises
    ------
    DataError
        If the comparisons are not valid, or too few to hold some out.
    ParameterError
        If ``model`` is not a model of plurank, or ``test_size`` is not between 0 and 1.

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(200, 5, 2, 20, random_state=0)
    >>> quality = plurank.held_out_quality(plurank.TopicRanking(2), made.comparisons)
    >>> quality.log_likelihood > quality.single_log_likelihood
    True
    """
    check_model(model)
    check_share("test_size", test_size)
    rng = as_generator(random_state)
    sample = some_users(as_source(comparisons), QUALITY_SAMPLE, rng)
    parts = hold_out(sample, test_size, rng) if test is None else (sample, as_comparisons(test))
    if parts is None:
        raise too_few(sample)
    train, held_out = parts
    fresh = clone(model).set_params(**model.chosen_parameters)
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

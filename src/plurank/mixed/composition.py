"""Who follows which ranking, by a model that was fitted without covariates.

Ours: the method of composition (Tanner 1996; stm's ``estimateEffect``) with the prior divided out. Draws of every
user's weights count by how probable a regression on covariates makes them, compared with the prior of the fit, which
draws all users towards one mean.
"""

from typing import Any

import numpy as np
import polars as pl

from plurank.data.design import Design
from plurank.exceptions import ParameterError
from plurank.inference.posterior import LEVEL
from plurank.mixed.membership_regression import compose, weights_of
from plurank.mixed.people import effects_of
from plurank.models.sklearn_api import check_is_fitted
from plurank.regression.coefficients import Coefficients, draw_log_dirichlets
from plurank.regression.density import DrawnWeights
from plurank.regression.shares import some_rows
from plurank.types import Floats
from plurank.validation import check_share

N_DRAWS = 128  # of each user's weights
MOST_NUMBERS = 2**23  # weights that are drawn
LEAST_COUNT = 1e-3
SEED = 20_261_118


def explain(
    model: Any, people: Any, covariate: str | None = None, *, formula: str | None = None, level: float = LEVEL
) -> pl.DataFrame:
    """Return who follows which ranking, by a model that was fitted without covariates.

    Fitting with covariates, ``fit(..., people=people)``, is better: intervals then hold the uncertainty of the scores,
    too, and users with few votes are predicted by people like them.

    Parameters
    ----------
    model : MixedRanking
        The fitted model; one that was fitted with covariates answers by itself, as ``model.effects()``.
    people : data frame or path
        Covariates of the model's users, one row each, with a column user.
    covariate : str or None, default=None
        One of the covariates; None for all.
    formula : str or None, default=None
        Which covariates, as in ``"age + gender"``; None takes all columns.
    level : float, default=0.9
        Probability of the intervals.

    Returns
    -------
    polars.DataFrame
        See ``MixedRanking.effects``.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ParameterError
        If the model is no MixedRanking, or ``level`` is not between 0 and 1.
    DataError
        If the table is not valid, or is not about the model's users.

    Examples
    --------
    >>> import plurank, polars as pl
    >>> made = plurank.simulate(100, 5, 2, 20, random_state=0)
    >>> model = plurank.MixedRanking(2, random_state=0).fit(made.comparisons)
    >>> people = pl.DataFrame({"user": made.comparisons.users, "age": [20, 30, 40, 50] * 25})
    >>> plurank.explain(model, people)["attribute"].unique().to_list()
    ['age']
    """
    check_share("level", level)
    check_is_fitted(model)
    if not hasattr(model, "user_concentration_"):
        raise ParameterError(parameter="model", expected="a fitted MixedRanking", got=type(model).__name__)
    if getattr(model, "design_", None) is not None:
        found: pl.DataFrame = model.effects(covariate, level)
        return found
    design, matrix = Design.learn(people, model.users_, "user", formula)
    names = [covariate] if covariate is not None else [attribute.name for attribute in design.attributes]
    if len(model.mean_weights_) == 1:
        tables = np.zeros((1, 1 + design.n_columns, 1))
    else:
        prior = model.membership_prior
        init = Coefficients.constant(prior.counts, design.n_columns)
        tables = compose(drawn_weights(model, matrix), init, prior.error)
    return effects_of(design, some_rows(matrix), tables, names, level)


def drawn_weights(model: Any, matrix: Floats) -> DrawnWeights:
    """Draw the weights of a model's users, who have covariates (M, P), and divide out the prior of the fit."""
    posterior = model.posterior
    if posterior is not None:
        return weights_of(posterior.by_rankings, matrix)
    near = np.maximum(model.user_concentration_[:, None] * model.user_weights_, LEAST_COUNT)
    n = int(np.clip(MOST_NUMBERS // near.size, 16, N_DRAWS))
    rng = np.random.default_rng(SEED)
    logs = draw_log_dirichlets(np.broadcast_to(near[:, None, :], (len(near), n, near.shape[1])), rng)
    return DrawnWeights(matrix, logs, -logs @ model.membership_prior.counts)

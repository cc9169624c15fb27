"""A model of items that nobody has compared yet, to begin a survey with.

Ours.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from plurank.data.encoding import object_array
from plurank.exceptions import DataError
from plurank.mixed.estimator import MixedRanking
from plurank.text import count


def blank_model(items: Iterable[Any], texts: Sequence[str] | None = None) -> MixedRanking:
    """Return a model of items that nobody has compared yet.

    It has one ranking with all scores equal, so every item may have any place, and no users. ``plurank serve`` begins a
    survey with it; fit a model to the answers once there are some.

    Parameters
    ----------
    items : iterable of str or int
        Labels of the items, at least two, each once.
    texts : sequence of str or None, default=None
        What to display for every item, where the labels are not texts themselves.

    Returns
    -------
    MixedRanking
        A fitted model without any data behind it.

    Raises
    ------
    DataError
        If there are fewer than two items, a label is empty, repeated or neither text nor an integer, or the texts are
        not as many as the items.

    Examples
    --------
    >>> import plurank
    >>> model = plurank.blank_model(["more trees", "more benches", "more light"])
    >>> model.leaderboard().select("lower", "upper").rows()
    [(1, 3), (1, 3), (1, 3)]
    """
    labels = list(items)
    _check_blank_items(labels, texts)
    n = len(labels)
    model = MixedRanking(
        1, mixing="probability", concentration=1.0, score_scale=1.0, from_ratings=False, random_state=0
    )
    model.items_, model.users_ = object_array(labels), object_array([])
    fitted = {
        "rankings_": np.arange(n)[None], "user_weights_": np.ones((0, 1)), "mean_weights_": np.ones(1),
        "concentration_": 1.0, "n_iter_": 0, "converged_": True, "data_": None,
        "item_texts_": None if texts is None else list(texts),
        "user_votes_": np.zeros(0, np.int64), "item_votes_": np.zeros(n, np.int64),
        "item_people_": np.zeros(n, np.int64),
        "camp_votes_": None, "dissenter_votes_": None, "influence_": None, "selection_": None,
        "scores_": np.zeros((n, 1)), "score_errors_": np.ones((n, 1)), "score_correlations_": np.ones((1, 1)),
        "user_concentration_": np.zeros(0), "concentration_error_": 0.0, "score_scale_": 1.0, "from_ratings_": False,
        "rating_weight_": 1.0, "log_posterior_": np.zeros(0),
        "quality_": None, "user_effect_scale_": None, "member_scores_": np.zeros((0, n, 1)),
        "member_weights_": np.zeros((0, 0, 1)),
    }  # fmt: skip
    for name, value in fitted.items():
        setattr(model, name, value)
    if all(isinstance(label, int) for label in labels):
        model.items_ = np.array(labels, dtype=np.int64)
    return model


def _check_blank_items(labels: list[Any], texts: Sequence[str] | None) -> None:
    if len(labels) < 2:
        raise DataError(f"expected at least two items to compare, got {count(len(labels), 'item')}. Add more.")
    if not all(isinstance(label, (str, int)) and label != "" for label in labels):
        raise DataError("expected ids of items that are text or integers, got others. Give every item such an id.")
    seen: set[Any] = set()
    for n, label in enumerate(labels, start=1):
        if label in seen:
            raise DataError(f"item {n} is {label!r:.60}, which came before. Give every item once.")
        seen.add(label)
    if texts is not None and len(texts) != len(labels):
        raise DataError(f"expected a text for each of {len(labels):,} items, got {len(texts):,}.")

"""Fitted attributes of a MixedRanking that was fitted to ratings, votes or rankings: draws from its posterior.

Ours. They stand apart from what computes with them, which need not be loaded to read a model.
"""

from typing import Any

from plurank.models.fields import Field, Fields, JsonField

OBSERVED = ("comparisons", "ratings", "votes", "rankings")  # what a model can be fitted to
CONVERGENCE = ("r_hat", "effective_draws", "pair_r_hat", "pair_effective_draws", "n_chains", "n_sweeps")
EXPLAINED = ("share", "n_users", "user_quantiles")
# by attribute: the part of a draw, and its field; "draws" is how many there are
DRAWN: dict[str, tuple[str, Field]] = {
    "draw_scores_": ("scores", Field("f", ("draws", "Q", "K"), "a score", True)),
    "draw_item_factors_": ("item_factors", Field("f", ("draws", "Q", "factors"), "a score", True)),
    "draw_weights_": ("weights", Field("f", ("draws", "M", "K"), "nearly on the simplex", True, single=True)),
    "draw_user_factors_": ("user_factors", Field("f", ("draws", "M", "factors"), "a score", True, single=True)),
    "draw_cuts_": ("cuts", Field("f", ("draws", "M", "cuts"), "a score", True, single=True)),
    "draw_counts_": ("counts", Field("f", ("draws", "K"), "positive", True)),
    "draw_cut_means_": ("cut_mean", Field("f", ("draws", "cuts"), "a score", True)),
    "draw_cut_precisions_": ("cut_precision", Field("f", ("draws", "cuts", "cuts"), "finite", True)),
    "draw_coefficients_": ("coefficients", Field("f", ("draws", "exposures", "factors"), "a score", True)),
}
# by attribute: the part of what a draw expects of items with features; "own" is how many numbers an item has of its own
ITEM_PRIOR = {
    "draw_score_slopes_": "scores",
    "draw_factor_slopes_": "factors",
    "draw_score_roots_": "score_root",
    "draw_factor_roots_": "factor_root",
}
EXPECTED: Fields = {
    "draw_score_slopes_": Field("f", ("draws", "item coefficients", "K"), "a score", True),
    "draw_factor_slopes_": Field("f", ("draws", "item coefficients", "factors"), "a score", True),
    "draw_score_roots_": Field("f", ("draws", "K", "own"), "a score", True),
    "draw_factor_roots_": Field("f", ("draws", "factors", "own"), "a score", True),
}
# of comparisons: errors of each draw, and utilities of items that users compared, by ``user * n_items + item``
COMPARED: Fields = {
    "draw_errors_": Field("f", ("draws",), "positive", True),
    "draw_own_": Field("f", ("draws", "compared items"), "a score", True, single=True),
    "compared_keys_": Field("i", ("compared items",), "pairs of user and item", True),
}
ARRAYS: Fields = {
    **{name: field for name, (_, field) in DRAWN.items()},
    "draw_chains_": Field("i", ("draws",), "not negative", True),
    "draw_shares_": Field("f", ("draws",), "not negative", True),
    "draw_shown_": Field("b", ("draws",), "any", True),
    "exposures_": Field("f", ("Q", "exposures"), "a score", True),
    "level_groups_": Field("i", ("values",), "not negative", True),
    "levels_": Field("f", ("levels",), "finite", True),
    "level_counts_": Field("f", ("levels",), "not negative", True),
}


def _check_observed(value: Any) -> None:
    if value is not None and value not in OBSERVED:
        raise ValueError("observed_ is not what a model can be fitted to")


def _check_numbers(name: str, names: tuple[str, ...], value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, dict) or value.keys() != {*names}:
        raise ValueError(f"{name} is not described as expected")
    numbers = [each for entry in value.values() for each in (entry if isinstance(entry, list) else [entry])]
    if not all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers):
        raise ValueError(f"{name} is not given in numbers")


FIELDS: Fields = {
    **ARRAYS,
    **EXPECTED,
    **COMPARED,
    "observed_": JsonField(_check_observed),
    "convergence_": JsonField(lambda value: _check_numbers("convergence_", CONVERGENCE, value)),
    "explained_": JsonField(lambda value: _check_numbers("explained_", EXPLAINED, value)),
}


def check_draws(model: Any) -> None:
    """Raise a ValueError where the draws of a model do not fit each other."""
    arrays = {name: getattr(model, name) for name in ARRAYS}
    if all(array is None for array in arrays.values()):
        return
    if any(array is None for array in arrays.values()):
        raise ValueError("some of the draws are missing")
    sizes: dict[str, int] = {}
    for optional, what in ((EXPECTED, "expect of items"), (COMPARED, "say of items that were compared")):
        more = {name: getattr(model, name) for name in optional}
        if len({array is None for array in more.values()}) > 1:
            raise ValueError(f"some of what draws {what} is missing")
        arrays |= {name: array for name, array in more.items() if array is not None}
    for name, field in (ARRAYS | EXPECTED | COMPARED).items():
        if name not in arrays:
            continue
        for axis, size in zip(field.shape, arrays[name].shape, strict=True):
            if sizes.setdefault(str(axis), size) != size:
                raise ValueError(f"{name} does not fit the other draws")
    if not arrays["draw_shown_"].any():
        raise ValueError("no draw is of the rankings that are shown")
    if not arrays["draw_shares_"].sum() > 0 or (sizes["levels"] and sizes["cuts"] != sizes["levels"] - 1):
        raise ValueError("there are no draws, or thresholds are not as many as levels")
    if arrays["level_groups_"].max(initial=-1) != sizes["levels"] - 1:
        raise ValueError("levels_ are not those of level_groups_")


def describe_convergence(found: dict[str, Any], n_draws: int) -> str:
    """Return how long the chains were and how well they agree, in words."""
    return (
        f"{n_draws} draws of {found['n_chains']} chains with {found['n_sweeps']} sweeps each; R-hat "
        f"{found['pair_r_hat']:.2f} of the probability of a pair, the worst of several (1 where chains agree)"
    )

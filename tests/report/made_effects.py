"""Effects of covariates that nobody computed: clear and unclear ones, of a category and of numbers, some of few."""

import numpy as np
import polars as pl

from plurank import ParameterError
from plurank.data.design import Design

STYLES = [("bold", 412), ("<i>fruity</i>", 655), ("nutty", 3), ("(missing)", 120)]
AGES = [("10% (23)", 23.0), ("25% (31)", 31.0), ("50% (40)", 40.0), ("75% (52)", 52.0), ("90% (61)", 61.0)]


def make_effects(shares=(0.5, 0.3, 0.2)):
    """Shares of rankings: style ``<i>fruity</i>`` and age have clear differences, gender and cups have none."""
    rows = []
    for at, (level, people) in enumerate(STYLES):
        rows += _cell("style", level, None, people, shares, 0.2 if at == 1 else 0.01)
    for at, (level, value) in enumerate(AGES):
        rows += _cell("age", level, value, 1190, shares, 0.05 * at)
    rows += _cell("age", "(missing)", None, 90, shares, 0.0)
    for level in ("female", "male"):
        rows += _cell("gender", level, None, 600, shares, 0.01)
    for value in (1.0, 2.0):
        rows += _cell("cups", f"{value:.0f}", value, int(500 * value), shares, 0.02)
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64})


def _cell(attribute, level, value, people, shares, shift):
    """Move a share from the second ranking to the first; intervals reach 0.04 to both sides."""
    hidden, by = people < 5, [shift, -shift, *[0.0] * (len(shares) - 2)]
    return [
        {
            "attribute": attribute, "level": level, "value": value, "ranking": k + 1,
            "share": None if hidden else share + moved,
            "lower": None if hidden else max(share + moved - 0.04, 0.0),
            "upper": None if hidden else min(share + moved + 0.04, 1.0),
            "difference": None if hidden else moved,
            "difference_lower": None if hidden else moved - 0.04,
            "difference_upper": None if hidden else moved + 0.04,
            "people": people, "probability": None if hidden else 0.97,
        }
        for k, (share, moved) in enumerate(zip(shares, by, strict=False))
    ]  # fmt: skip


STYLE = pl.DataFrame({"user": range(20), "style": ["bold", "nutty"] * 10})
DESIGN = Design.learn(STYLE, np.arange(20))[0].to_dict()  # of one of the covariates


class WithEffects:
    """Gives a fitted model effects as made here; put before its class."""

    def effects(self, covariate=None, level=0.9):
        found = make_effects(tuple(1 / len(self.rankings_) for _ in self.rankings_))
        if covariate is None:
            return found
        if covariate not in found["attribute"]:
            raise ParameterError(f"there is no attribute {covariate!r}.")
        return found.filter(pl.col("attribute") == covariate)


def with_effects(model):
    """Return a copy of a fitted model that has effects."""
    made = type("ModelWithEffects", (WithEffects, type(model)), {})  # a name of its own: files know classes by names
    copied = made.__new__(made)
    vars(copied).update(vars(model), design_=DESIGN)
    return copied

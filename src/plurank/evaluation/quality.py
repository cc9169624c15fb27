"""How good predictions of comparisons are that a fit has not seen, beside those of one ranking for everybody."""

from dataclasses import dataclass, field, fields
from typing import Any, Self

import polars as pl

from plurank.evaluation.calibration import calibration_table
from plurank.evaluation.prediction import accuracy, log_likelihood

BINS = {"predicted": pl.Float64, "share": pl.Float64, "n": pl.Int64}


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

    @classmethod
    def of(cls, n_train: int, probabilities: Any, by_one: Any, weights: Any = None) -> Self:
        """Judge the probabilities of what happened (n,) that a model gave, and those that one ranking gave."""
        return cls(
            n_train, len(probabilities),
            log_likelihood(probabilities, weights), accuracy(probabilities, weights),
            log_likelihood(by_one, weights), accuracy(by_one, weights),
            calibration_table(probabilities, weights),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain Python values, for JSON."""
        return {**vars(self), "calibration": self.calibration.to_dict(as_series=False)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Make it of plain values again."""
        return cls(**{**values, "calibration": pl.DataFrame(values["calibration"], schema=BINS)})


def check_quality(value: Any) -> None:
    """Raise a ValueError where plain values, read from a file, are no quality; None is nobody having looked."""
    if value is None:
        return
    names = {entry.name for entry in fields(Quality)}
    if not isinstance(value, dict) or set(value) != names or set(value["calibration"]) != set(BINS):
        raise ValueError("the quality is not described as expected")
    Quality.from_dict(value)
    numbers = [entry for name, entry in value.items() if name != "calibration"]
    if not all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers):
        raise ValueError("the quality is not given in numbers")

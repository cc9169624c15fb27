"""How good predictions are: log-likelihood, accuracy, calibration, the gain over one ranking, and who it rests on."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.exceptions import ParameterError
from plurank.text import count
from plurank.types import Floats
from plurank.validation import check_numbers

# Scores of predicted probabilities, for comparisons that may have weights.


def log_likelihood(probabilities: Any, weights: Any = None) -> float:
    """Return the mean log-likelihood per comparison.

    Parameters
    ----------
    probabilities : array-like of shape (n,)
        Predicted probability of what happened in each comparison.
    weights : array-like of shape (n,) or None, default=None
        Weights of the comparisons, >= 0; None weights all alike.

    Returns
    -------
    float
        At most 0; guessing gives -log 2 = -0.693.

    Raises
    ------
    ParameterError
        If there are no probabilities, one is not between 0 and 1, or the weights do not fit.

    Examples
    --------
    >>> import plurank
    >>> round(plurank.log_likelihood([0.5, 0.5]), 3)
    -0.693
    """
    p = _check_arrays(probabilities)
    with np.errstate(divide="ignore"):
        return float(np.average(np.log(p), weights=_check_counts(weights, len(p))))


def accuracy(probabilities: Any, weights: Any = None) -> float:
    """Return the share of comparisons predicted correctly.

    Parameters
    ----------
    probabilities : array-like of shape (n,)
        Predicted probability of what happened in each comparison.
    weights : array-like of shape (n,) or None, default=None
        Weights of the comparisons, >= 0; None weights all alike.

    Returns
    -------
    float
        Share of probabilities above one half; exactly one half counts half.

    Raises
    ------
    ParameterError
        If there are no probabilities, one is not between 0 and 1, or the weights do not fit.

    Examples
    --------
    >>> import plurank
    >>> plurank.accuracy([0.9, 0.2, 0.5, 0.6])
    0.625
    """
    p = _check_arrays(probabilities)
    return float(np.average((p > 0.5) + 0.5 * (p == 0.5), weights=_check_counts(weights, len(p))))


def _check_arrays(probabilities: Any) -> NDArray[np.float64]:
    p = check_numbers("probabilities", probabilities)
    if p.ndim != 1 or not len(p) or not ((p >= 0) & (p <= 1)).all():
        raise ParameterError("expected at least one probability, each between 0 and 1.")
    return p


def _check_counts(weights: Any, n: int) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    found = check_numbers("weights", weights)
    if found.shape != (n,) or not (found >= 0).all() or not found.any():
        raise ParameterError(f"expected {n:,} weights of at least 0, one for each probability, and some above 0.")
    return found


# Whether what is said to be 80 % probable happens in 80 of 100 cases.

N_BINS = 10  # between a half and 1


def calibration_table(probabilities: Any, weights: Any = None) -> pl.DataFrame:
    """Compare predictions with what happened: columns predicted, share, n, one row per bin that has comparisons.

    probabilities (n,): of what happened in each comparison. Which item stands on the left is chance, so each comparison
    is looked at from the side predicted to win: ``predicted`` is the mean probability of that side, between a half and
    1, ``share`` how often it won, and ``n`` the number of comparisons. Exactly one half counts half.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    mass = np.ones(len(p)) if weights is None else np.asarray(weights, dtype=np.float64)
    surer, won = np.maximum(p, 1.0 - p), (p > 0.5) + 0.5 * (p == 0.5)
    bins = np.minimum(((surer - 0.5) * 2 * N_BINS).astype(np.int64), N_BINS - 1)
    n, total, sums, wins = (np.bincount(bins, values, N_BINS) for values in (None, mass, mass * surer, mass * won))
    some = total > 0
    return pl.DataFrame({"predicted": sums[some] / total[some], "share": wins[some] / total[some], "n": n[some]})


# How good predictions of comparisons are that a fit has not seen, beside those of one ranking for everybody.

BINS = {"predicted": pl.Float64, "share": pl.Float64, "n": pl.Int64}


@dataclass(frozen=True)
class Quality:
    """How well a model predicts comparisons it has not seen, beside one ranking for all users.

    Attributes
    ----------
    n_train, n_test : int
        Number of comparisons fitted to, and predicted.
    log_likelihood, accuracy : float
        Mean log-likelihood per comparison (guessing gives -0.693), and share predicted correctly.
    single_log_likelihood, single_accuracy : float
        The same of one ranking.
    calibration : polars.DataFrame
        Columns predicted, share, n: mean probability of the item predicted to win, how often it won, and the number of
        comparisons, in bins.

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(200, 5, 2, 20, random_state=0)
    >>> quality = plurank.held_out_quality(plurank.TopicRanking(2), made.comparisons)
    >>> quality.accuracy > 0.5
    True
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
        """Return everything as plain Python values, for JSON.

        Returns
        -------
        dict
            All attributes; ``calibration`` as lists by column.
        """
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


HANDFUL = (0.02, 2, 5)  # share of all people, but at least and at most so many
VANISHED = 0.5  # of the gain, or less, is left without them
LEAST_EFFECT = 0.2  # log-likelihood per comparison that a handful gains, or the whole gain is chance
LEAST_COMPARISONS = 8  # of the handful
CHANCE = 0.005
APART = 1.5  # times as much as anybody else loses by one ranking, or a handful is part of a camp
LEAST_GAIN = 0.03  # per comparison without a handful: where others gain as much, there are camps
LARGEST = 1e9  # number that a file may hold
FEWEST_PEOPLE = 10  # of fewer a handful is a large part


@dataclass(frozen=True)
class Influence:
    """Whether the gain of several rankings over one rests on a handful of users.

    ``MixedRanking.influence`` and ``Selection.influence`` have one.

    Attributes
    ----------
    n_users : int
        Users with held-out comparisons.
    n_strongest : int
        How many of them count as a handful: those with the largest gain.
    gain, gain_error : float
        Gain in log-likelihood per comparison over one ranking, and its standard error over users.
    gain_without, gain_without_error : float
        The same without the handful.
    n_contrary : int
        Users whom one ranking predicts worse than guessing, beyond chance.
    users : tuple
        Labels of the users that the gain rests on most.
    flagged : bool
        Whether the rankings beyond the first rest on a handful of users.

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(60, 5, 2, 20, rankings=[[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]], random_state=0)
    >>> model = plurank.MixedRanking(2, random_state=0).fit(made.comparisons)
    >>> model.influence.flagged
    False
    """

    n_users: int
    n_strongest: int
    gain: float
    gain_error: float
    gain_without: float
    gain_without_error: float
    n_contrary: int
    users: tuple[Any, ...]
    flagged: bool

    @property
    def sentence(self) -> str:
        """The result in words."""
        gain = f"{self.gain:.4f} ± {self.gain_error:.4f} per comparison"
        without = f"{self.gain_without:.4f} ± {self.gain_without_error:.4f}"
        if not self.flagged:
            return f"The gain over one ranking, {gain}, does not rest on a handful of people ({without} without them)."
        if self.gain > 0 and self.gain_without <= VANISHED * self.gain:
            return (
                f"The gain over one ranking rests on {self.n_strongest} of {self.n_users:,} people: it is {gain}, and "
                f"{without} without them. See what a fit without them says before calling them a camp."
            )
        people = f"{self.n_contrary} of {self.n_users:,} people {'answers' if self.n_contrary == 1 else 'answer'}"
        return (
            f"{people} against all others: one ranking predicts them worse than guessing. Further rankings may rest on "
            f"{count(self.n_contrary, 'person').replace('persons', 'people')} alone."
        )

    @classmethod
    def of(cls, gains: Floats, counts: Floats, users: Any, losses: Floats | None = None) -> Self | None:
        """Judge gains (M,) and losses (M,), how much better than one ranking the model, and guessing, is, summed over
        the comparisons (M,) of people; None where there are too few."""
        seen = counts > 0
        gains, counts, labels = gains[seen], counts[seen], users[seen]
        losses = np.full(len(gains), -np.inf) if losses is None else losses[seen]
        if len(gains) < FEWEST_PEOPLE:
            return None
        share, least, most = HANDFUL
        n = int(np.clip(np.ceil(share * len(gains)), least, most))
        contrary = losses >= np.log(len(gains) / CHANCE)
        order = np.argsort(-gains, kind="stable")
        strong, rest = order[:n], order[n:]
        every, without = _mean(gains, counts), _mean(gains[rest], counts[rest])
        n_compared = counts[strong].sum()
        others = max(losses[~contrary].max(initial=0.0), 0.0)
        few_contrary = 0 < contrary.sum() <= n and losses[contrary].min() >= APART * others and without[0] < LEAST_GAIN
        rests = (
            every[0] > 0
            and without[0] <= VANISHED * every[0]
            and gains[strong].sum() >= LEAST_EFFECT * n_compared
            and n_compared >= LEAST_COMPARISONS
        )
        named = strong if rests or not few_contrary else np.flatnonzero(contrary)
        found, flagged = tuple(labels[named].tolist()), bool(rests or few_contrary)
        return cls(len(gains), n, *every, *without, int(contrary.sum()), found, flagged)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values, for JSON.

        Returns
        -------
        dict
            All attributes.
        """
        return {**asdict(self), "users": list(self.users)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Make it of plain values again."""
        return cls(**{**values, "users": tuple(values["users"])})


def _mean(gains: Floats, counts: Floats) -> tuple[float, float]:
    """Mean gain per comparison, and its standard error over people."""
    mean = gains.sum() / counts.sum()
    error = np.sqrt(((gains - mean * counts) ** 2).sum()) / counts.sum()
    return float(mean), float(error)


def check_influence(value: Any) -> None:
    """Raise a ValueError where plain values, read from a file, are no influence; None is nobody having looked."""
    if value is None:
        return
    kinds: dict[str, Any] = dict.fromkeys(("n_users", "n_strongest", "n_contrary"), int)
    kinds |= {"users": list, "flagged": bool}
    names = {entry.name for entry in fields(Influence)}
    if not isinstance(value, dict) or set(value) != names:
        raise ValueError("the influence of people is not described as expected")
    if not all(isinstance(value[name], kinds.get(name, (int, float))) for name in names):
        raise ValueError("the influence of people is not given in numbers")
    numbers = [value[name] for name in names - {"users", "flagged"}]
    is_sound = all(np.isfinite(number) and abs(number) < LARGEST for number in numbers)
    if not is_sound or min(value["n_users"], value["n_strongest"], value["n_contrary"]) < 0:
        raise ValueError("the influence of people is beyond measure")
    if not all(isinstance(user, (str, int, float)) for user in value["users"]):
        raise ValueError("the influence of people is of users that are neither text nor numbers")

"""How many rankings, and which way to mix them: what held-out comparisons say."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs

from plurank.choices import MIXINGS, Mixing
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels, look_up
from plurank.data.split import hold_out, some_users, too_few
from plurank.engine.blocks import as_source
from plurank.exceptions import ParameterError
from plurank.metrics.predictions import Influence
from plurank.mixed.estimator import MixedRanking
from plurank.mixed.priors import Priors
from plurank.random import (
    RandomState,
    as_generator,
    draw_seed,
    spawn,
)
from plurank.text import count
from plurank.types import Floats, Progress, silent
from plurank.validation import check_choice, check_whole

INIT = "items"  # one init for each candidate; the model that is chosen is fitted from the best of several
SHARE_OF_USERS, SHARE = 0.2, 0.2
FEWEST_USERS = 5  # of whom some can be held out
SELECTION_SAMPLE = 1_000_000  # comparisons to choose the number of rankings by
REPEAT_BELOW, MOST_REPEATS = 50_000, 5  # small data are split several times
LEAST_HELD_OUT = 10  # comparisons, or nothing can be said
TRIVIAL = 5e-4  # of the log-likelihood per comparison: so little more is no reason for another ranking


@dataclass(frozen=True)
class Selection:
    """The number of rankings and the mixing that predict held-out comparisons best; made by ``select_rankings``.

    Attributes
    ----------
    n_rankings : int
        The number of rankings chosen.
    mixing : {"probability", "utility"}
        The mixing chosen.
    answer : str
        The result in one or two sentences.
    table : polars.DataFrame
        One row per candidate: mixing, n_rankings; the held-out log-likelihood per comparison of known users
        (by_comparison), of new users after they answered some questions (by_user), of both together (held_out), and how
        much worse that is than the best (behind), each with its standard error over users (_se).
    influence : Influence or None
        Whether the gain over one ranking rests on a handful of users; None where one ranking was chosen or not tried.

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(60, 5, 2, 20, rankings=[[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]], random_state=0)
    >>> chosen = plurank.select_rankings(made.comparisons, [1, 2], "probability", random_state=0)
    >>> chosen.n_rankings
    2
    >>> chosen.table["n_rankings"].to_list()
    [1, 2]
    """

    n_rankings: int
    mixing: Mixing
    answer: str
    table: pl.DataFrame
    influence: Influence | None = None

    def summary(self) -> dict[str, Any]:
        """Return the choice and the figures of every candidate in plain values.

        Returns
        -------
        dict
            n_rankings, mixing, answer; candidates, the rows of ``table``, None for NaN, each with chosen; influence, as
            a dict with its sentence, or None.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(60, 5, 2, 20, rankings=[[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]], random_state=0)
        >>> chosen = plurank.select_rankings(made.comparisons, [1, 2], "probability", random_state=0)
        >>> [row["chosen"] for row in chosen.summary()["candidates"]]
        [False, True]
        """
        from plurank.models.summary import summarise_influence

        rows = self.table.with_columns(cs.float().fill_nan(None)).to_dicts()
        for row in rows:
            # one ranking is the same however it is mixed
            is_way = row["n_rankings"] == 1 or row["mixing"] == self.mixing
            row["chosen"] = is_way and row["n_rankings"] == self.n_rankings
        return {
            "n_rankings": self.n_rankings,
            "mixing": self.mixing,
            "answer": self.answer,
            "candidates": rows,
            "influence": summarise_influence(self.influence),
        }

    def plot(self) -> Any:
        """Draw the held-out log-likelihood against the number of rankings, with standard errors.

        Returns
        -------
        Chart
            A Vega-Lite chart, which a notebook shows and ``chart.save`` saves.
        """
        from plurank.report.figures.evaluation import draw_selection

        return draw_selection(self)


class Candidate(NamedTuple):
    """A row of the table of a ``Selection``."""

    mixing: Mixing
    n_rankings: int
    by_comparison: float
    by_comparison_se: float
    by_user: float
    by_user_se: float
    held_out: float
    held_out_se: float
    behind: float
    behind_se: float


@dataclass(frozen=True)
class HeldOut:
    """Comparisons to fit, comparisons of the same users to predict, and new users' to fold in and to predict."""

    train: Comparisons
    known: Comparisons
    asked: Comparisons | None
    new: Comparisons | None


def select_rankings(
    X: Any,
    candidates: Iterable[int] = range(1, 11),
    mixing: Mixing | Sequence[Mixing] = MIXINGS,
    *,
    random_state: RandomState = None,
    on_progress: Progress = silent,
    **parameters: Any,
) -> Selection:
    """Choose the number of rankings and the mixing by how well they predict held-out comparisons.

    Held out are some comparisons of most users, and some users, whose other comparisons are seen before the rest is
    predicted. Chosen are the mixing that predicts best and, with it, the fewest rankings that are not worse than the
    best by more than one standard error of the difference, or 0.0005 per comparison. Priors are chosen once for one
    ranking and once for several, with each mixing; every candidate has one initialisation.

    Parameters
    ----------
    X : Comparisons, Store or data frame
        The comparisons; of more than 1,000,000, a sample of users.
    candidates : iterable of int, default=range(1, 11)
        Numbers of rankings to try.
    mixing : {"probability", "utility"} or sequence of these, default=("probability", "utility")
        Mixings to try.
    random_state : int, numpy.random.Generator or None, default=None
        Seed.
    on_progress : callable, default=silent
        Called with the name of a stage and the share of it that is done.
    **parameters : dict
        Further parameters of ``MixedRanking``; ``init`` is "items" unless given.

    Returns
    -------
    Selection
        The choice, a sentence, and the table of all candidates.

    Raises
    ------
    DataError
        If the comparisons are not valid, or too few to hold some out.
    ParameterError
        If a candidate, a mixing or a parameter of ``MixedRanking`` is not valid.
    NotIdentifiableError
        If a candidate has more rankings than there are users to train on.

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(60, 5, 2, 20, rankings=[[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]], random_state=0)
    >>> plurank.select_rankings(made.comparisons, [1, 2], "probability", random_state=0).n_rankings
    2
    """
    numbers, ways = _check_candidates(candidates, mixing)
    rng = as_generator(random_state)
    sample = some_users(as_source(X), SELECTION_SAMPLE, rng)
    n_repeats = int(np.clip(REPEAT_BELOW // len(sample), 1, MOST_REPEATS))
    tried = [_hold_out(sample, child) for child in spawn(rng, n_repeats)]
    repeats = [parts for parts in tried if parts is not None]
    _check_enough(sample, repeats)
    parameters = {"init": INIT, **parameters, "random_state": draw_seed(rng)}
    rows = []
    plan = list(_plan(numbers, ways))
    chosen: dict[tuple[Mixing, int], Priors] = {}
    for n, (way, n_rankings) in enumerate(plan):
        on_progress(f"trying {count(n_rankings, 'ranking')}, mixed by {way}", n / len(plan))
        typical = way, _typical(n_rankings, numbers)
        if typical not in chosen:
            chosen[typical] = MixedRanking(typical[1], mixing=way, **parameters).choose_priors(repeats[0].train)
        sums = np.zeros((sample.n_users, 2, 2))
        for parts in repeats:
            model = MixedRanking(n_rankings, mixing=way, **parameters)
            model.fit_to_predict(parts.train, chosen[typical].with_rankings(n_rankings))
            _add_predictions(sums, model, parts, sample.users)
        rows.append((way, n_rankings, sums))
    on_progress("done", 1.0)
    return _choose(rows, numbers, ways, sample.users)


def _check_candidates(candidates: Iterable[int], mixing: Mixing | Sequence[Mixing]) -> tuple[list[int], list[Mixing]]:
    if not isinstance(candidates, Iterable):
        raise ParameterError(
            parameter="candidates",
            expected="numbers of rankings, such as range(1, 11)",
            got=f"{candidates!r:.80}",
        )
    given = list(candidates)
    for number in given:
        check_whole("candidates", number, 1)
    numbers = sorted(set(given))
    if not numbers:
        raise ParameterError(parameter="candidates", expected="at least one number of rankings", got="none")
    several = isinstance(mixing, Iterable) and not isinstance(mixing, str)
    ways: list[Any] = list(mixing) if several else [mixing]
    if not ways:
        raise ParameterError(parameter="mixing", expected="'probability', 'utility' or both", got="none")
    for way in ways:
        check_choice("mixing", way, Mixing)
    return numbers, ways


def _plan(numbers: list[int], ways: list[Mixing]) -> Iterator[tuple[Mixing, int]]:
    """Every candidate once: one ranking is the same however it is mixed."""
    for way in ways:
        for number in numbers:
            if number > 1 or way == ways[0]:
                yield way, number


def _typical(n_rankings: int, numbers: list[int]) -> int:
    """Return for how many rankings to choose priors: one ranking has its own, all other numbers share theirs."""
    several = [number for number in numbers if number > 1]
    return 1 if n_rankings == 1 else several[(len(several) - 1) // 2]


def _hold_out(comparisons: Comparisons, rng: np.random.Generator) -> HeldOut | None:
    """Hold out users, and of the others comparisons; new users are asked most of their comparisons first."""
    most, few = comparisons, None
    if comparisons.n_users >= FEWEST_USERS:
        most, few = comparisons.split(SHARE_OF_USERS, by="user", random_state=rng)
    known = hold_out(most, SHARE, rng)
    new = None if few is None else hold_out(few, SHARE, rng)
    return None if known is None else HeldOut(*known, *(new or (None, None)))


def _check_enough(sample: Comparisons, repeats: list[HeldOut]) -> None:
    if sum(len(parts.known) for parts in repeats) < LEAST_HELD_OUT:
        raise too_few(sample)


def _add_predictions(sums: Floats, model: MixedRanking, parts: HeldOut, users: Labels) -> None:
    """Add to (M, 2, 2): for every user, as a known one and as a new one, log-likelihood and weight of comparisons."""
    predicted = [(parts.known, model.predict_held_out(parts.known)[0])]
    if parts.asked is not None and parts.new is not None:
        predicted.append((parts.new, model.predict_new(parts.asked, parts.new)))
    for kind, (test, probabilities) in enumerate(predicted):
        counts = np.ones(len(test)) if test.weights is None else test.weights
        rows = look_up(test.users, users, "user")
        sums[rows, kind, 0] += np.add.reduceat(np.log(probabilities) * counts, test.offsets[:-1])
        sums[rows, kind, 1] += np.add.reduceat(counts, test.offsets[:-1])


def _choose(rows: list[Any], numbers: list[int], ways: list[Mixing], users: Labels) -> Selection:
    best = int(np.argmax([_mean_and_error(sums.sum(axis=1))[0] for _, _, sums in rows]))
    most = rows[best][2].sum(axis=1)
    table = []
    for way, n_rankings, sums in rows:
        both = sums.sum(axis=1)
        gap = np.column_stack([most[:, 0] - both[:, 0], both[:, 1]])
        figures = (figure for part in (sums[:, 0], sums[:, 1], both, gap) for figure in _mean_and_error(part))
        table.append(Candidate(way, n_rankings, *figures))
    frame = pl.DataFrame(table, schema=list(Candidate._fields), orient="row")
    way = rows[best][0]
    fits = [row for row in table if row.mixing == way or row.n_rankings == 1]
    chosen = min(row.n_rankings for row in fits if row.behind <= max(row.behind_se, TRIVIAL))
    by_chosen = {n: sums.sum(axis=1) for name, n, sums in rows if name == way or n == 1}
    return Selection(
        chosen, way, _answer(table, chosen, way, numbers, ways), frame, _influence(by_chosen, chosen, users)
    )


def _influence(sums: dict[int, Floats], chosen: int, users: Labels) -> Influence | None:
    """Judge whether the gain of the chosen number of rankings over one rests on a handful, from sums by user (M, 2)."""
    if chosen == 1 or 1 not in sums:
        return None
    return Influence.of(sums[chosen][:, 0] - sums[1][:, 0], sums[chosen][:, 1], users)


def _mean_and_error(sums: Floats) -> tuple[float, float]:
    """Mean per comparison and its standard error, from sums by user (users, 2): of logs and of comparisons."""
    sums = sums[sums[:, 1] > 0]
    if not len(sums):
        return float("nan"), float("nan")
    mean = sums[:, 0].sum() / sums[:, 1].sum()
    rest = sums[:, 0] - mean * sums[:, 1]
    score_scale = np.sqrt((rest**2).sum() * len(rest) / max(len(rest) - 1, 1)) / sums[:, 1].sum()
    return float(mean), float(score_scale)


def _answer(table: list[Candidate], chosen: int, way: Mixing, numbers: list[int], ways: list[Mixing]) -> str:
    values = {(row.mixing, row.n_rankings): row.held_out for row in table}
    value = values[way if chosen > 1 else ways[0], chosen]
    how = f", mixed by {way}" if chosen > 1 else ""
    text = f"{chosen} ranking{'s' if chosen > 1 else ''}{how}: held-out log-likelihood {value:.4f} a comparison"
    if chosen > 1 and numbers[0] == 1:
        text += f", against {values[ways[0], 1]:.4f} with one ranking"
    if len(ways) == 2 and chosen > 1:
        other = ways[1] if way == ways[0] else ways[0]
        text += f" and {max(v for (w, _), v in values.items() if w == other):.4f} at best when mixed by {other}"
    if chosen == numbers[-1] and len(numbers) > 1:
        return f"{text}. More rankings may predict better still: try larger candidates."
    return f"{text}. More rankings do not predict better beyond noise."

"""How many rankings, and which way to mix them: what held-out comparisons say."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from plurank.choices import MIXINGS, Mixing
from plurank.data.comparisons import Comparisons
from plurank.data.rated import RatedItems
from plurank.data.split import too_few
from plurank.engine.blocks import as_observations, as_source
from plurank.engine.local import one_blas_thread
from plurank.exceptions import ParameterError
from plurank.metrics.predictions import Influence
from plurank.mixed.candidates import CandidateRow, Candidates, Choice
from plurank.mixed.estimator import MixedRanking, check_enough_users
from plurank.mixed.sampled import as_sampled
from plurank.random import RandomState
from plurank.text import count
from plurank.types import Progress, silent
from plurank.validation import check_choice, check_whole


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
        (by_comparison), of new users after they answered some questions (by_user), of both together (held_out), how
        much worse that is than the best (behind), and how much of it comes from knowing the user (personal), each with
        its standard error over users (_se).
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

        rows = [CandidateRow(*row) for row in self.table.rows()]
        choice = Choice(self.n_rankings, self.mixing, self.answer, rows, self.influence)
        return {**choice.to_dict(), "influence": summarise_influence(self.influence)}

    def plot(self) -> Any:
        """Draw the held-out log-likelihood against the number of rankings, with standard errors of the differences.

        Returns
        -------
        Chart
            A Vega-Lite chart, which a notebook shows and ``chart.save`` saves.
        """
        from plurank.report.figures.evaluation import draw_selection

        return draw_selection(self.summary())


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
    predicted. Utility mixing is chosen unless probability mixing predicts better by two standard errors and 0.001 per
    comparison; and the fewest rankings whose loss against the reference, plus one standard error, is at most 0.001 per
    comparison or 2 % of the gain over one ranking. The reference is the largest number that is at most one standard
    error worse than the best. Priors are chosen once for one ranking and once for several, with each mixing; every
    candidate has one initialisation.

    Ratings, votes and rankings are modelled directly, as by ``MixedRanking.fit``, which is utility mixing; held out are
    items of every user, and each candidate has one short chain. With ``mixing="probability"`` they are compared.
    Comparisons are sampled likewise with ``inference="sampling"``.

    Parameters
    ----------
    X : Comparisons, Ratings, Rankings, Store or data frame
        The data; of more than 1,000,000, a sample of users, of at least 2,000 unless they made more than
        10,000,000.
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
    source = as_observations(X)
    rated = _as_sampled(source, parameters) if "utility" in ways and _has_scores(parameters) else None
    ways = ways if rated is None else ["utility"]
    given = {"init": "items", **parameters} if rated is None else parameters
    model = MixedRanking(numbers[0], mixing=ways[0], **given, random_state=random_state)
    model.check_parameters()
    several = [number for number in numbers if number > 1]
    typical = several[(len(several) - 1) // 2] if several else 1
    if rated is None:
        tried = Candidates(as_source(source), model.settings, typical)
    else:
        from plurank.mixed.rated_candidates import RatedCandidates  # takes long to load, and is for sampling alone

        tried = RatedCandidates(rated, model.rated_settings(rated), typical)
    if not tried.enough:
        raise too_few(getattr(tried.sample, "comparisons", tried.sample))
    # one ranking is the same however it is mixed
    plan = [(way, number) for way in ways for number in numbers if number > 1 or way == ways[0]]
    for n, (way, number) in enumerate(plan):
        on_progress(f"trying {count(number, 'ranking')}, mixed by {way}", n / len(plan))
        MixedRanking(number, mixing=way, **parameters).check_parameters()
        check_enough_users(number, tried.most_rankings)
        with one_blas_thread():
            tried.evaluate(way, number)
    on_progress("done", 1.0)
    found = tried.choose()
    table = pl.DataFrame(found.rows, schema=list(CandidateRow._fields), orient="row")
    return Selection(found.n_rankings, found.mixing, found.answer, table, found.influence)


def _as_sampled(source: Any, parameters: dict[str, Any]) -> Any:
    """Return data whose posterior is sampled, as samplers take them; None for others."""
    if isinstance(source, RatedItems):
        return source
    if parameters.get("inference") != "sampling":
        return None
    from plurank.thurstone.comparisons import Compared

    sampled = as_sampled(source)
    return Compared(sampled) if isinstance(sampled, Comparisons) else None


def _has_scores(parameters: dict[str, Any]) -> bool:
    return bool(parameters.get("component", "bradley-terry") == "bradley-terry")


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

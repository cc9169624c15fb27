"""Update models with the answers given to the service, each answer once, even after a crash.

Answers are assigned to batches that never change, and a model file lists the batches it has learned from. So answers
count as used at one moment: when the new file replaces the old one. A crash before it leaves the old model, which still
lacks the same batches; a crash after it leaves nothing to do. An old copy of a model lacks what came later, and learns
it with its next update.
"""

import secrets
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import polars as pl

from plurank.data.comparisons import Comparisons
from plurank.data.encoding import as_series, object_array
from plurank.exceptions import DataError, SkippedWarning
from plurank.models.persistence import load
from plurank.text import count
from plurank.types import Progress, silent
from plurank.web.database import FeedbackStore, StoredAnswer
from plurank.web.screening import Finding, describe_groups, find_suspicious

if TYPE_CHECKING:
    from plurank.mixed.estimator import MixedRanking
    from plurank.models.base import RankingModel

SUSPICIOUS = "s"  # prefix of the names of batches of suspicious answers; those of others are hexadecimal


@dataclass(frozen=True)
class Lesson:
    """The answers that a model has not learned from, their batches, and what was excluded.

    ``comparisons`` is None where there are none; ``excluded`` describes answers that look like ballot stuffing.
    """

    comparisons: Comparisons | None
    batches: tuple[str, ...]
    excluded: tuple[Finding, ...] = ()


def read_feedback(
    database: str | PathLike[str],
    *,
    model: "RankingModel | str | PathLike[str] | None" = None,
    include_suspicious: bool = False,
) -> Comparisons:
    """Read the answers that people gave to ``plurank serve``, as Comparisons.

    Withdrawn answers are excluded. So are those that look like ballot stuffing, with a warning that says how many and
    why.

    Parameters
    ----------
    database : str or path
        The SQLite file, or the URL of a PostgreSQL database.
    model : RankingModel, str, path or None, default=None
        Read only the answers that this model, or the model in this file, has not learned from.
    include_suspicious : bool, default=False
        Also read answers that look like ballot stuffing.

    Returns
    -------
    Comparisons
        One comparison for each answer, in the order of arrival.

    Raises
    ------
    DataError
        If the database does not exist, or holds no such answers.

    Warns
    -----
    SkippedWarning
        If suspicious answers were excluded.
    """
    found = collect_feedback(database, model=model, include_suspicious=include_suspicious)
    if found.excluded:
        warnings.warn(describe_excluded(found.excluded, "include_suspicious=True"), SkippedWarning, stacklevel=2)
    return found.comparisons()


@dataclass(frozen=True)
class Collected:
    """Stored answers in the order of arrival, and what was excluded."""

    if_none: str  # the message where there are no answers
    answers: list[StoredAnswer]
    excluded: tuple[Finding, ...]

    def comparisons(self) -> Comparisons:
        """Return a comparison for each answer; raise where there is none."""
        if not self.answers:
            but = " but those that look like ballot stuffing" if self.excluded else ""
            raise DataError(f"{self.if_none}{but}.")
        return _to_comparisons(self.answers)

    def to_frame(self) -> pl.DataFrame:
        """Return a table with a row for each answer: user, winner, loser, and when it was received."""
        names = ("user", "winner", "loser", "received")
        columns = {name: object_array(getattr(answer, name) for answer in self.answers) for name in names}
        return pl.DataFrame([as_series(column, name) for name, column in columns.items()])


def collect_feedback(
    database: str | PathLike[str],
    *,
    model: "RankingModel | str | PathLike[str] | None" = None,
    include_suspicious: bool = False,
) -> Collected:
    """Return the answers that :func:`read_feedback` reads, and what it excludes."""
    opened: Any = load(model) if isinstance(model, (str, PathLike)) else model
    known = () if opened is None else opened.feedback_batches_
    store = FeedbackStore(database)
    try:
        answers = store.read()
    finally:
        store.close()
    wanted = [answer for answer in answers if answer.batch not in known]
    new = "" if model is None else " that are new to the model"
    return Collected(f"{store.place} holds no answers{new}", *_exclude_suspicious(wanted, answers, include_suspicious))


def describe_excluded(excluded: tuple[Finding, ...], how: str) -> str:
    """Return a sentence about excluded answers and how to include them."""
    found = "; ".join(map(str, excluded[:3]))
    rest = excluded[3:]
    n_rest = sum(finding.n_answers for finding in rest)
    more = f"; {count(n_rest, 'answer')} from {count(len(rest), 'other source')}" if rest else ""
    return f"excluded {found}{more}. If these are real people, include them with {how}."


def prepare_lesson(model: "RankingModel", database: str | PathLike[str], *, include_suspicious: bool = False) -> Lesson:
    """Return the answers that a model has not learned from; those that arrive later are for the next update.

    Suspicious answers stay outside all batches, so that they can still be included later.
    """
    store = FeedbackStore(database)
    try:
        before = store.read()
        unclaimed = [answer for answer in before if answer.batch is None]
        chosen, _ = _exclude_suspicious(unclaimed, before, include_suspicious=False)
        store.claim((answer.id for answer in chosen), secrets.token_hex(8))
        if include_suspicious:
            rest = {answer.id for answer in unclaimed} - {answer.id for answer in chosen}
            store.claim(sorted(rest), SUSPICIOUS + secrets.token_hex(7))
        answers = store.read()
    finally:
        store.close()
    new = [answer for answer in answers if answer.batch not in model.feedback_batches_]
    _, excluded = _exclude_suspicious(new, answers, include_suspicious)
    taken = [answer for answer in new if _is_taken(answer.batch, include_suspicious)]
    batches = tuple(sorted({str(answer.batch) for answer in taken}))
    return Lesson(_to_comparisons(taken) if taken else None, batches, excluded)


def _is_taken(batch: str | None, include_suspicious: bool) -> bool:
    return batch is not None and (include_suspicious or not batch.startswith(SUSPICIOUS))


def _exclude_suspicious(
    wanted: list[StoredAnswer], answers: list[StoredAnswer], include_suspicious: bool
) -> tuple[list[StoredAnswer], tuple[Finding, ...]]:
    """Return the wanted answers that do not look like ballot stuffing, judged by all answers, and the findings.

    An answer in a batch passed the screening of the update that claimed it, or was included by request.
    """
    if include_suspicious:
        return wanted, ()
    groups = find_suspicious(answers)
    flagged = {answer.id for group in groups for answer in group.answers}
    chosen, left_out = [], set()
    for answer in wanted:
        is_open = answer.batch is None or answer.batch.startswith(SUSPICIOUS)
        if is_open and answer.id in flagged:
            left_out.add(answer.id)
        else:
            chosen.append(answer)
    return chosen, describe_groups(groups, left_out)


def learn(model: "MixedRanking", lesson: Lesson, *, on_progress: Progress = silent) -> "MixedRanking":
    """Update a model with answers and record their batches in it; they count as used once it is saved."""
    if lesson.comparisons is not None:
        model.update(lesson.comparisons, on_progress=on_progress)
    model.feedback_batches_ = (*model.feedback_batches_, *lesson.batches)
    return model


def _to_comparisons(answers: Iterable[StoredAnswer]) -> Comparisons:
    rows = [(answer.user, answer.winner, answer.loser) for answer in answers]
    # people compared these pairs themselves, even where the comparisons that the model was fitted to come from ratings
    return replace(Comparisons.from_arrays(*zip(*rows, strict=True)), rated=False)

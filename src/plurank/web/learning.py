"""Models learn from answers given to the service, each once, whatever happens in between.

Answers are put into batches that never change, and the model's own file says which batches it has learned from. So
there is one moment when answers count as used: when the new file takes the old one's place. A crash before it leaves
the old model, which the same batches are still missing in; a crash after it leaves nothing to do. An old copy of a
model misses what came after it was made, and gets it with its next update.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from plurank.data.comparisons import Comparisons
from plurank.exceptions import DataError
from plurank.models.files import load
from plurank.progress import Progress, silent
from plurank.web.feedback import FeedbackStore, Row

if TYPE_CHECKING:
    from plurank.models.base import RankingModel
    from plurank.models.mixed_ranking import MixedRanking


@dataclass(frozen=True)
class Lesson:
    """The answers that a model has not learned from, and the batches they are in."""

    comparisons: Comparisons
    batches: tuple[str, ...]


def read_feedback(
    database: str | PathLike[str], *, model: "RankingModel | str | PathLike[str] | None" = None
) -> Comparisons:
    """Read the answers that people gave to ``plurank serve``, as Comparisons.

    database: the SQLite file, or the URL of a PostgreSQL database. With a ``model``, or its file, only the answers that
    it has not learned from.
    """
    opened: Any = load(model) if isinstance(model, (str, PathLike)) else model
    known = () if opened is None else opened.feedback_batches_
    store = FeedbackStore(database)
    try:
        rows = [row for batch in (*store.batches(), None) if batch not in known for row in store.read(batch)]
    finally:
        store.close()
    if not rows:
        raise DataError(f"{store.place} holds no answers{'' if model is None else ' that are new to the model'}.")
    return _as_comparisons(rows)


def prepare_lesson(model: "RankingModel", database: str | PathLike[str]) -> Lesson | None:
    """Give the answers that a model has not learned from, None where there are none; what comes later has to wait."""
    store = FeedbackStore(database)
    try:
        store.claim()
        batches = tuple(batch for batch in store.batches() if batch not in model.feedback_batches_)
        rows = [row for batch in batches for row in store.read(batch)]
    finally:
        store.close()
    return Lesson(_as_comparisons(rows), batches) if rows else None


def learn(model: "MixedRanking", lesson: Lesson, *, on_progress: Progress = silent) -> "MixedRanking":
    """Update a model with answers, and let it remember which; they count as used once it is saved."""
    model.update(lesson.comparisons, on_progress=on_progress)
    model.feedback_batches_ = (*model.feedback_batches_, *lesson.batches)
    return model


def _as_comparisons(rows: Iterable[Row]) -> Comparisons:
    _, users, winners, losers = zip(*sorted(rows, key=lambda row: row[0]), strict=True)
    # people were asked these pairs: they are not made from ratings, even where the model's own comparisons are
    return replace(Comparisons.from_arrays(users, winners, losers), rated=False)

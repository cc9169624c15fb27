"""A model as it is served: what can be made ready is, and what was asked before is remembered."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
from pydantic_core import to_json

from plurank.models.base import RankingModel
from plurank.web.labels import Label, Vocabulary
from plurank.web.refusals import Refusal
from plurank.web.work import BUSY

Answer = tuple[Label, Label]  # winner, loser
REMEMBERED = 64 * 2**20  # bytes of answers that are remembered


class Served:
    """Answers questions about one model, as JSON or as values that become JSON."""

    def __init__(self, model: RankingModel, fingerprint: str = "") -> None:
        self.model, self.fingerprint = model, fingerprint
        self.items, self.users = Vocabulary(model.items_, "item"), Vocabulary(model.users_, "user")
        self.followers = model.followers()
        self.boards = Remembered(REMEMBERED)
        with BUSY:
            self.predict(
                [(None, self.items.labels[0], self.items.labels[1])]
            )  # whatever compiles or loads, does so now

    def describe(self) -> dict[str, Any]:
        """Say what the model is."""
        sizes = {"n_users": len(self.users.labels), "n_items": len(self.items.labels)}
        return {"class": type(self.model).__name__, **sizes, "n_rankings": len(self.model.rankings_)}

    def predict(self, pairs: Sequence[tuple[Label | None, Label, Label]]) -> list[float]:
        """P(left preferred) for rows of user, left, right; an unknown user is anybody."""
        left = self.items.find([pair[1] for pair in pairs], "pairs[{}].left")
        right = self.items.find([pair[2] for pair in pairs], "pairs[{}].right")
        if (left == right).any():
            at = int(np.argmax(left == right))
            raise Refusal(422, f"pairs[{at}]: expected two items, got {pairs[at][1]!r} twice. Drop such pairs.")
        codes, anybody = self.users.codes, len(self.users.labels)
        rows = np.array([codes.get(pair[0], anybody) for pair in pairs], dtype=np.int32)  # type: ignore[arg-type]
        return self.model.probabilities(self.followers, rows, left, right).tolist()

    def remembered_rank(self, user: Label | None, top: int | None) -> bytes | None:
        """Give the order of a known user or of the population as JSON, if it was made before."""
        return self.boards.get((self._row(user), top))

    def rank(self, user: Label | None, top: int | None) -> bytes:
        """Order items for a known user, or for the population, as JSON."""
        row = self._row(user)
        label = None if row is None else self.users.labels[row]
        return self.boards.make((row, top), lambda: to_json({"items": listed(self.model.rank(label), top)}))

    def _row(self, user: Label | None) -> int | None:
        if user is not None and user not in self.users.codes:
            raise self.users.unknown(user, "user")
        return None if user is None else self.users.codes[user]

    def rank_for(self, answers: Sequence[Answer], top: int | None) -> dict[str, Any]:
        """Order items for somebody new who gave answers."""
        return {"items": listed(self._person(answers).rank(), top)}

    def fold_in(self, answers: Sequence[Answer]) -> dict[str, Any]:
        """Weigh the rankings for somebody new who gave answers."""
        person = self._person(answers)
        return {"n_answers": person.n_answers, "weights": person.weight_intervals().to_dicts()}

    def next_pair(self, answers: Sequence[Answer], skip: Sequence[Answer]) -> dict[str, Any]:
        """Choose what to ask somebody next."""
        pairs = self._person(answers).next_pairs(1, skip=self._own(skip, "skip[{}].left", "skip[{}].right"))
        return pairs.row(0, named=True) if len(pairs) else {"left": None, "right": None}

    def _person(self, answers: Sequence[Answer]) -> Any:
        return self.model.fold_in(self._own(answers, "answers[{}].winner", "answers[{}].loser"))

    def _own(self, pairs: Sequence[Answer], first: str, second: str) -> list[Answer]:
        """Give pairs with ids as the model spells them; refuse an item beside itself."""
        sides = (self.items.own([pair[n] for pair in pairs], place) for n, place in ((0, first), (1, second)))
        own = list(zip(*sides, strict=True))
        for n, (one, other) in enumerate(own):
            if one == other:
                raise Refusal(422, f"{first.format(n)}: expected two items, got {one!r} twice. Drop such pairs.")
        return own

    def own_answer(self, winner: Label, loser: Label) -> Answer:
        """Give an answer's items as the model spells them."""
        return self._own([(winner, loser)], "winner", "loser")[0]

    def rankings(self, top: int | None) -> bytes:
        """List the rankings as JSON."""
        return self.boards.make(("rankings", top), lambda: to_json(self.list_rankings(top)))

    def list_rankings(self, top: int | None) -> dict[str, Any]:
        """List the rankings, the most followed first."""
        weights = self.model.mean_weights_.tolist()
        found = [
            {"ranking": n, "mean_weight": weight, "description": text, "items": listed(self._board(n), top)}
            for n, (weight, text) in enumerate(zip(weights, describe(self.model), strict=True), start=1)
        ]
        return {"n_items": len(self.items.labels), "rankings": found}

    def figure(self) -> bytes:
        """Draw the rankings, as JSON."""
        return self.boards.make("figure", lambda: to_json(self._draw()))

    def _draw(self) -> dict[str, Any]:
        plot = getattr(self.model, "plot", None)
        if plot is None:
            raise Refusal(404, "this plurank draws no figures. GET /rankings has the numbers.")
        return plot.rankings().to_dict()

    def _board(self, ranking: int) -> pl.DataFrame:
        leaderboard = getattr(self.model, "leaderboard", None)
        if leaderboard is not None:
            return leaderboard(ranking)
        return self.model.rank(weights=np.eye(len(self.model.rankings_))[ranking - 1])


class Remembered:
    """The answers asked for last, so many bytes of them."""

    def __init__(self, most: int) -> None:
        self.most, self.size, self.lock = most, 0, threading.Lock()
        self.kept: OrderedDict[Any, bytes] = OrderedDict()

    def get(self, key: Any) -> bytes | None:
        """Give an answer that is remembered."""
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
            return self.kept.get(key)

    def make(self, key: Any, how: Callable[[], bytes]) -> bytes:
        """Give an answer, made now if it is not remembered."""
        found = self.get(key)
        if found is None:
            found = how()
            with self.lock:
                self.size += len(found) - len(self.kept.get(key, b""))
                self.kept[key] = found
                while self.size > self.most:
                    self.size -= len(self.kept.popitem(last=False)[1])
        return found


def listed(board: pl.DataFrame, top: int | None) -> list[dict[str, Any]]:
    """Give a board's rows, best first; bounds that a model does not have are null."""
    missing = [pl.lit(None).alias(name) for name in ("lower", "upper") if name not in board.columns]
    return board.head(len(board) if top is None else top).with_columns(missing).to_dicts()


def describe(model: RankingModel) -> list[str]:
    """Say in words what is special about every ranking."""
    return [f"puts {model.items_[row[0]]} first" for row in model.rankings_]

"""A model as it is served: what can be made ready is, and what was asked before is remembered."""

import hashlib
import json
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
from pydantic_core import from_json, to_json

from plurank.models.base import RankingModel
from plurank.models.person import Person
from plurank.report.descriptions import describe_rankings
from plurank.web.groups import describe_camps, describe_common_ground
from plurank.web.labels import Label, Vocabulary
from plurank.web.refusals import Refusal
from plurank.web.survey import AskedPairs, choose_pair

Answer = tuple[Label, Label]  # winner, loser
REMEMBERED = 64 * 2**20  # bytes of answers that are remembered


class Served:
    """Answers questions about one model, as JSON or as values that become JSON."""

    def __init__(self, model: RankingModel, fingerprint: str = "") -> None:
        self.model, self.fingerprint = model, fingerprint
        self.items, self.users = Vocabulary(model.items_, "item"), Vocabulary(model.users_, "user")
        self.texts = [model.item_text(code) for code in range(len(self.items.labels))]
        self.text_of = dict(zip(self.items.labels, self.texts, strict=True))
        self.followers = model.followers()
        self.boards = Remembered(REMEMBERED)
        self.next_pair([], [])  # whatever is loaded late is loaded now, not when the first visitor waits

    def describe(self) -> dict[str, Any]:
        """Say what the model is."""
        sizes = {"n_users": len(self.users.labels), "n_items": len(self.items.labels)}
        return {"class": type(self.model).__name__, **sizes, "n_rankings": len(self.model.rankings_)}

    def describe_items(self) -> dict[str, Any]:
        """Return what a page must know of the items before it asks: how many, how long, and whether they are others."""
        names = "\n".join(sorted(json.dumps(label) for label in self.items.labels))
        key = hashlib.sha256(names.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        return {"n_items": len(self.texts), "items_key": key, "longest_text": max(map(len, self.texts))}

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
        rows = self.boards.get(("user", self._row(user)))
        return None if rows is None else as_items(rows, top)

    def rank(self, user: Label | None, top: int | None) -> bytes:
        """Order items for a known user, or for the population, as JSON."""
        row = self._row(user)
        label = None if row is None else self.users.labels[row]
        return as_items(self.boards.make(("user", row), lambda: self._as_rows(self.model.rank(label))), top)

    def _row(self, user: Label | None) -> int | None:
        if user is not None and user not in self.users.codes:
            raise self.users.unknown(user, "user")
        return None if user is None else self.users.codes[user]

    def rank_for(self, answers: Sequence[Answer], top: int | None) -> bytes:
        """Order items for somebody new who gave answers, as JSON."""
        return as_items(self._as_rows(self._person(answers).rank()[:top]), top)

    def fold_in(self, answers: Sequence[Answer]) -> dict[str, Any]:
        """Weigh the rankings for somebody new who gave answers."""
        person = self._person(answers)
        return {"n_answers": person.n_answers, "weights": person.weight_intervals().to_dicts()}

    def next_pair(self, answers: Sequence[Answer], skip: Sequence[Answer]) -> dict[str, Any]:
        """Choose what to ask somebody next."""
        pairs = self._person(answers).next_pairs(1, skip=self._own_pairs(skip))
        if not len(pairs):
            return {"left": None, "right": None}
        return self._with_texts(pairs.row(0, named=True))

    def survey_pair(
        self, answers: Sequence[Answer], skip: Sequence[Answer], visitor: str, asked: AskedPairs
    ) -> dict[str, Any]:
        """Choose what to ask somebody next in a survey, and say nothing about the population."""
        told, passed = self._own_answers(answers), self._own_pairs(skip)
        codes = self.items.codes
        own = {frozenset((codes[one], codes[other])) for one, other in (*told, *passed)}

        def find_best(n: int) -> list[tuple[tuple[int, int], float]]:
            best = self.model.fold_in(told).next_pairs(n, skip=passed)
            return [((codes[left], codes[right]), gain) for left, right, gain, _ in best.iter_rows()]

        pair = choose_pair(self.items.labels, asked, own, visitor, find_best)
        if pair is None:
            return {"left": None, "right": None}
        left, right = (self.items.labels[code] for code in pair)
        asked.add(left, right)
        return self._with_texts({"left": left, "right": right})

    def _with_texts(self, pair: dict[str, Any]) -> dict[str, Any]:
        return {**pair, "left_text": self.text_of[pair["left"]], "right_text": self.text_of[pair["right"]]}

    def _person(self, answers: Sequence[Answer]) -> Person:
        return self.model.fold_in(self._own_answers(answers))

    def _own_answers(self, answers: Sequence[Answer]) -> list[Answer]:
        return self._own(answers, "answers[{}].winner", "answers[{}].loser")

    def _own_pairs(self, pairs: Sequence[Answer]) -> list[Answer]:
        return self._own(pairs, "skip[{}].left", "skip[{}].right")

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

    def rankings(self, top: int | None, *, show_few: bool) -> bytes:
        """List the rankings, the most followed first, with who follows them and what they share, as JSON."""
        weights, camps = self.model.mean_weights_.tolist(), describe_camps(self.model, show_few=show_few)
        (described,) = self.boards.make("described", lambda: [to_json(describe_rankings(self.model))])
        parts = []
        for n, (weight, found) in enumerate(zip(weights, from_json(described), strict=True), start=1):
            shown = {"ranking": n, "mean_weight": weight, "description": found["sentence"], "camp": camps[n - 1]}
            about = to_json(shown)
            rows = self.boards.make(("ranking", n), lambda n=n: self._as_rows(self._board(n)))  # type: ignore[misc]
            parts.append(about[:-1] + b"," + as_items(rows, top)[1:])
        kind, *ground = self.boards.make("common ground", self._common_ground)
        shared = b"[%b]" % b",".join(ground[:top]) if kind == b"list" else kind
        return b'{"n_items":%d,"rankings":[%b],"common_ground":%b}' % (len(self.texts), b",".join(parts), shared)

    def _common_ground(self) -> list[bytes]:
        """Return b"list" and the rows as JSON, or b"null" alone where the model cannot say."""
        found = describe_common_ground(self.model)
        return [b"null"] if found is None else [b"list", *(to_json(row, inf_nan_mode="null") for row in found)]

    def figure(self) -> bytes:
        """Draw the rankings, as JSON."""
        return self.boards.make("figure", lambda: [to_json(self._draw())])[0]

    def _draw(self) -> dict[str, Any]:
        return self.model.plot.rankings().to_dict()

    def _as_rows(self, board: pl.DataFrame) -> list[bytes]:
        """Return a leaderboard's rows as JSON, best first; bounds that a model does not have are null."""
        missing = [pl.lit(None).alias(name) for name in ("lower", "upper") if name not in board.columns]
        rows = board.with_columns(missing).iter_rows(named=True)
        return [to_json({**row, "text": self.text_of[row["item"]]}, inf_nan_mode="null") for row in rows]

    def _board(self, ranking: int) -> pl.DataFrame:
        leaderboard = getattr(self.model, "leaderboard", None)
        if leaderboard is not None:
            return leaderboard(ranking)
        return self.model.rank(weights=np.eye(len(self.model.rankings_))[ranking - 1])


class Remembered:
    """The answers asked for last, in parts, so many bytes of them."""

    def __init__(self, most: int) -> None:
        self.most, self.size, self.lock = most, 0, threading.Lock()
        self.kept: OrderedDict[Any, list[bytes]] = OrderedDict()

    def get(self, key: Any) -> list[bytes] | None:
        """Give an answer that is remembered."""
        with self.lock:
            if key in self.kept:
                self.kept.move_to_end(key)
            return self.kept.get(key)

    def make(self, key: Any, how: Callable[[], list[bytes]]) -> list[bytes]:
        """Give an answer, made now if it is not remembered."""
        found = self.get(key)
        if found is None:
            found = how()
            with self.lock:
                self.size += _size(found) - _size(self.kept.get(key, []))
                self.kept[key] = found
                while self.size > self.most:
                    self.size -= _size(self.kept.popitem(last=False)[1])
        return found


def _size(parts: list[bytes]) -> int:
    return sum(map(sys.getsizeof, parts))


def as_items(rows: list[bytes], top: int | None) -> bytes:
    """Give the first rows as JSON."""
    return b'{"items":[%b]}' % b",".join(rows[:top])

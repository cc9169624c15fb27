"""Responses about a model, as JSON: predictions, leaderboards, weights, questions, rankings."""

import hashlib
import json
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl
from cachetools import LRUCache
from pydantic_core import from_json, to_json

from plurank.data.encoding import Labels
from plurank.exceptions import DataError, ParameterError
from plurank.models.base import RankingModel
from plurank.models.person import Person
from plurank.report.camps import is_few, show_rounded
from plurank.report.descriptions import describe_rankings
from plurank.types import Codes
from plurank.web.responses import RequestError
from plurank.web.schemas import Id
from plurank.web.survey import AskedPairs, choose_pair

PairOfIds = tuple[Id, Id]  # winner and loser, or left and right
SIZES = ("n_users", "n_items", "n_rankings")  # of a model's summary
CACHE_BYTES = 64 * 2**20
COMMON_GROUND_COLUMNS = (
    "item", "text", "votes", "enough_votes", "label", "liked_by_all", "disliked_by_all", "contested", "same_place",
)  # fmt: skip


class IdIndex:
    """Finds the codes of ids as JSON has them.

    As everywhere in plurank, the text "7" finds the number 7 and the number 7 the text "7", unless both are ids.
    """

    def __init__(self, ids: Labels, name: str) -> None:
        self.name, self.article = name, "an" if name == "item" else "a"
        self.ids: list[Id] = ids.tolist()
        if not all(isinstance(id, (str, int, float)) for id in self.ids):
            raise DataError(f"only ids that are text or numbers can be served, but this model has other {name} ids.")
        self.codes: dict[Id, int] = {_other_spelling(id): code for code, id in enumerate(self.ids)}
        self.codes.update((id, code) for code, id in enumerate(self.ids))

    def find(self, ids: Sequence[Id], location: str) -> Codes:
        """Return the codes of ids, (n,); raise for the first unknown one, at ``location``, as in "pairs[{}].left"."""
        try:
            return np.array([self.codes[id] for id in ids], dtype=np.int32)
        except KeyError:
            at = next(n for n, id in enumerate(ids) if id not in self.codes)
            raise self.unknown(ids[at], location.format(at)) from None

    def normalise(self, ids: Sequence[Id], location: str) -> list[Id]:
        """Return ids as the model spells them."""
        return [self.ids[code] for code in self.find(ids, location)]

    def unknown(self, id: Id, location: str) -> RequestError:
        """Return the error for an id that the model does not have."""
        text = f"{id!r}" if len(f"{id!r}") <= 80 else f"{id!r:.80}..."
        hint = "GET /rankings lists the items." if self.name == "item" else "Omit it for the population average."
        return RequestError(422, f"{location}: expected {self.article} {self.name} of the model, got {text}. {hint}")


def _other_spelling(id: Id) -> Id:
    if isinstance(id, str):
        is_plain = id.isascii() and id.isdigit() and (id == "0" or id[0] != "0") and len(id) < 20
        return int(id) if is_plain else id
    return str(id) if isinstance(id, int) else id


class ModelService:
    """Responses about one model: bytes are JSON already, other values become JSON. Leaderboards are cached."""

    def __init__(self, model: RankingModel, fingerprint: str = "") -> None:
        self.model, self.fingerprint = model, fingerprint
        self.items, self.users = IdIndex(model.items_, "item"), IdIndex(model.users_, "user")
        self.texts = [model.item_text(code) for code in range(len(self.items.ids))]
        self.text_of = dict(zip(self.items.ids, self.texts, strict=True))
        self.memberships, self.summary = model.memberships(), model.summary()
        self.cache: LRUCache[Any, list[bytes]] = LRUCache(CACHE_BYTES, getsizeof=_size_of)
        self.cache_lock = threading.Lock()
        self.next_pair([], [])  # loads lazy imports now, not when the first visitor waits

    def _cached(self, key: Any, compute: Callable[[], list[bytes]]) -> list[bytes]:
        with self.cache_lock:
            rows = self.cache.get(key)
        if rows is None:
            rows = compute()
            with self.cache_lock, suppress(ValueError):  # larger than the whole cache
                self.cache[key] = rows
        return rows

    def describe(self) -> dict[str, Any]:
        """Return class and sizes of the model; nothing that could name users or count a few of them."""
        return {"class": self.summary["model"], **{name: self.summary[name] for name in SIZES}}

    def describe_items(self) -> dict[str, Any]:
        """Return what a page must know of the items: how many, the longest text, and a key that changes with them."""
        names = "\n".join(sorted(json.dumps(id) for id in self.items.ids))
        key = hashlib.sha256(names.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        return {"n_items": len(self.texts), "items_key": key, "longest_text": max(map(len, self.texts))}

    def predict(self, pairs: Sequence[tuple[Id | None, Id, Id]]) -> list[float]:
        """Return P(left preferred) for rows of user, left, right; unknown users get the population average."""
        left = self.items.find([pair[1] for pair in pairs], "pairs[{}].left")
        right = self.items.find([pair[2] for pair in pairs], "pairs[{}].right")
        if (left == right).any():
            at = int(np.argmax(left == right))
            raise _same_item_twice(f"pairs[{at}]", pairs[at][1])
        codes = self.users.codes
        rows = np.array([codes.get(pair[0], -1) for pair in pairs], dtype=np.int32)  # type: ignore[arg-type]
        return self.model.predict_users(self.memberships, rows, left, right).tolist()

    def rank_if_cached(self, user: Id | None, top: int | None) -> bytes | None:
        """Return the leaderboard of a known user, or of the population for None, if it is in the cache."""
        with self.cache_lock:
            rows = self.cache.get(("user", self._user_code(user)))
        return None if rows is None else _as_items(rows, top)

    def rank(self, user: Id | None, top: int | None) -> bytes:
        """Return the leaderboard of a known user, or of the population for None."""
        code = self._user_code(user)
        id = None if code is None else self.users.ids[code]
        return _as_items(self._cached(("user", code), lambda: self._as_rows(self.model.rank(id))), top)

    def _user_code(self, user: Id | None) -> int | None:
        if user is not None and user not in self.users.codes:
            raise self.users.unknown(user, "user")
        return None if user is None else self.users.codes[user]

    def rank_new(self, answers: Sequence[PairOfIds], top: int | None) -> bytes:
        """Return the leaderboard of a new user with these answers."""
        return _as_items(self._as_rows(self._person(answers).rank()[:top]), top)

    def fold_in(self, answers: Sequence[PairOfIds]) -> dict[str, Any]:
        """Return the weights of a new user with these answers."""
        person = self._person(answers)
        return {"n_answers": person.n_answers, "weights": person.weight_intervals().to_dicts()}

    def next_pair(self, answers: Sequence[PairOfIds], skip: Sequence[PairOfIds]) -> dict[str, Any]:
        """Return the most informative pair to ask a new user with these answers."""
        pairs = self._person(answers).next_pairs(1, skip=self._normalise_skipped(skip))
        if not len(pairs):
            return {"left": None, "right": None}
        return self._with_texts(pairs.row(0, named=True))

    def next_survey_pair(
        self, answers: Sequence[PairOfIds], skip: Sequence[PairOfIds], visitor: str, asked: AskedPairs
    ) -> dict[str, Any]:
        """Return the next pair of a survey, without any information about the population."""
        known, skipped = self._normalise_answers(answers), self._normalise_skipped(skip)
        codes = self.items.codes
        own = {frozenset((codes[one], codes[other])) for one, other in (*known, *skipped)}

        def find_informative(n: int) -> list[tuple[tuple[int, int], float]]:
            best = self.model.fold_in(known).next_pairs(n, skip=skipped)
            return [((codes[left], codes[right]), gain) for left, right, gain, _ in best.iter_rows()]

        pair = choose_pair(self.items.ids, asked, own, visitor, find_informative)
        if pair is None:
            return {"left": None, "right": None}
        left, right = (self.items.ids[code] for code in pair)
        asked.add(left, right)
        return self._with_texts({"left": left, "right": right})

    def _with_texts(self, pair: dict[str, Any]) -> dict[str, Any]:
        return {**pair, "left_text": self.text_of[pair["left"]], "right_text": self.text_of[pair["right"]]}

    def _person(self, answers: Sequence[PairOfIds]) -> Person:
        return self.model.fold_in(self._normalise_answers(answers))

    def _normalise_answers(self, answers: Sequence[PairOfIds]) -> list[PairOfIds]:
        return self._normalise(answers, "answers[{}].winner", "answers[{}].loser")

    def _normalise_skipped(self, pairs: Sequence[PairOfIds]) -> list[PairOfIds]:
        return self._normalise(pairs, "skip[{}].left", "skip[{}].right")

    def normalise_answer(self, winner: Id, loser: Id) -> PairOfIds:
        """Return an answer with ids as the model spells them."""
        return self._normalise([(winner, loser)], "winner", "loser")[0]

    def _normalise(self, pairs: Sequence[PairOfIds], first: str, second: str) -> list[PairOfIds]:
        """Return pairs with ids as the model spells them; raise for unknown items and for an item against itself."""
        sides = (self.items.normalise([pair[n] for pair in pairs], place) for n, place in ((0, first), (1, second)))
        normalised = list(zip(*sides, strict=True))
        for n, (one, other) in enumerate(normalised):
            if one == other:
                raise _same_item_twice(first.format(n), one)
        return normalised

    def rankings(self, top: int | None, *, show_few: bool) -> bytes:
        """Return the rankings, the most followed first, with their camps and common ground."""
        weights, camps = self.model.mean_weights_.tolist(), camp_sizes(self.model, show_few=show_few)
        (descriptions,) = self._cached("descriptions", lambda: [to_json(describe_rankings(self.model))])
        parts = []
        for n, (weight, described) in enumerate(zip(weights, from_json(descriptions), strict=True), start=1):
            head = {"ranking": n, "mean_weight": weight, "description": described["sentence"], "camp": camps[n - 1]}
            rows = self._cached(("ranking", n), lambda n=n: self._as_rows(self._leaderboard(n)))  # type: ignore[misc]
            parts.append(to_json(head)[:-1] + b"," + _as_items(rows, top)[1:])
        kind, *rows = self._cached("common ground", self._common_ground)
        common = b"[%b]" % b",".join(rows[:top]) if kind == b"list" else kind
        return b'{"n_items":%d,"rankings":[%b],"common_ground":%b}' % (len(self.texts), b",".join(parts), common)

    def _common_ground(self) -> list[bytes]:
        """Return b"list" and the rows as JSON, or b"null" alone where the model has no uncertainty."""
        try:
            found = self.model.common_ground().select(COMMON_GROUND_COLUMNS)
        except ParameterError:
            return [b"null"]
        return [b"list", *(to_json(row, inf_nan_mode="null") for row in found.iter_rows(named=True))]

    def figure(self) -> bytes:
        """Return the figure of the rankings, a Vega-Lite specification."""
        return self._cached("figure", lambda: [to_json(self.model.plot.rankings().to_dict())])[0]

    def _as_rows(self, leaderboard: pl.DataFrame) -> list[bytes]:
        """Return each row of a leaderboard as JSON; bounds that a model does not have are null."""
        missing = [pl.lit(None).alias(name) for name in ("lower", "upper") if name not in leaderboard.columns]
        rows = leaderboard.with_columns(missing).iter_rows(named=True)
        return [to_json({**row, "text": self.text_of[row["item"]]}, inf_nan_mode="null") for row in rows]

    def _leaderboard(self, ranking: int) -> pl.DataFrame:
        leaderboard = getattr(self.model, "leaderboard", None)
        if leaderboard is not None:
            return leaderboard(ranking)
        return self.model.rank(weights=np.eye(len(self.model.rankings_))[ranking - 1])


def _size_of(rows: list[bytes]) -> int:
    return sum(map(sys.getsizeof, rows))


def _as_items(rows: list[bytes], top: int | None) -> bytes:
    return b'{"items":[%b]}' % b",".join(rows[:top])


def _same_item_twice(location: str, item: Id) -> RequestError:
    return RequestError(422, f"{location}: expected two different items, got {item!r} twice. Remove such pairs.")


def camp_sizes(model: RankingModel, *, show_few: bool) -> list[dict[str, Any]]:
    """Return for every ranking how many users follow it most, and almost exclusively, and how many votes they cast.

    Unless ``show_few``, counts of one to four people are given as words, without their votes. The other camps are
    rounded then: the camps sum to the users of the model, so the difference would reveal the small one.
    """
    rows = model.camps().to_dicts()
    if show_few:
        return [{name: row[name] for name in ("people", "people_80", "votes")} for row in rows]
    is_rounded = any(is_few(row["people"]) for row in rows)
    return [
        {
            "people": show_rounded(row["people"]) if is_rounded else row["people"],
            "people_80": show_rounded(row["people_80"]) if is_rounded or is_few(row["people_80"]) else row["people_80"],
            "votes": None if is_rounded else row["votes"],
        }
        for row in rows
    ]

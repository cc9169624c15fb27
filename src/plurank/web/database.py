"""The feedback database: SQLite or PostgreSQL, each answer stored once, and durable once acknowledged."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from typing import Any, Literal, NamedTuple

from pydantic import TypeAdapter, ValidationError

from plurank.exceptions import DataError, PlurankError
from plurank.text import reason_of
from plurank.web.connections import create_connection
from plurank.web.schemas import Id

ID_OF_JSON: TypeAdapter[Id] = TypeAdapter(Id)
Outcome = Literal["stored", "known", "conflict", "withdrawn", "learned"]
CONTENT = ("user", "winner", "loser")  # what one id always stands for


@dataclass(frozen=True)
class GivenAnswer:
    """An answer to store: the client's id of it, the user, winner and loser, and the fingerprint of the model.

    ``visitor``, ``first_seen`` and ``address`` are those of its sender, None where unknown. A ``withdrawn`` answer is a
    retraction: it marks the stored answer with the same id, or blocks one that arrives later.
    """

    id: str
    user: str
    winner: Id
    loser: Id
    model: str = ""
    visitor: str | None = None
    first_seen: str | None = None
    address: str | None = None
    withdrawn: bool = False
    received: str | None = None  # UTC, ISO 8601; None: now

    def row(self) -> dict[str, str | None]:
        """Return the row that stores it."""
        now = self.received or datetime.now(UTC).isoformat()
        content = {name: json.dumps(getattr(self, name)) for name in CONTENT}
        sender = {"visitor": self.visitor, "first_seen": self.first_seen, "address": self.address}
        times = {"received": now, "withdrawn": now if self.withdrawn else None}
        return {"id": self.id, **content, "model": self.model, **sender, **times}


class StoredAnswer(NamedTuple):
    """An answer as read from the database."""

    id: str
    received: str
    user: Id
    winner: Id
    loser: Id
    visitor: str | None
    first_seen: str | None
    address: str | None
    batch: str | None


class FeedbackUnavailable(PlurankError):
    """The feedback database is full, locked or cannot be reached."""


COLUMNS = {  # users and items are JSON, so that the number 7 and the text "7" stay apart; times are UTC, ISO 8601
    "id": "VARCHAR(64) NOT NULL PRIMARY KEY",
    '"user"': "TEXT NOT NULL",  # a reserved word of SQL
    "winner": "TEXT NOT NULL",
    "loser": "TEXT NOT NULL",
    "received": "TEXT NOT NULL",
    "model": "TEXT NOT NULL",  # the fingerprint of the service's model
    # the update that claimed the row; a batch never changes, and a model file lists those it has learned from
    "batch": "VARCHAR(16)",
    # since 0.2; null where unknown, as in older databases
    "visitor": "VARCHAR(64)",  # the browser, by a random cookie
    "first_seen": "TEXT",  # when that cookie was issued
    "address": "VARCHAR(64)",  # a keyed hash; the key is never stored
    "withdrawn": "TEXT",  # when it was withdrawn
}
ADDED_COLUMNS = ("visitor", "first_seen", "address", "withdrawn")
CREATE_TABLE = f"CREATE TABLE IF NOT EXISTS plurank_feedback ({', '.join(map(' '.join, COLUMNS.items()))})"
CREATE_INDEX = "CREATE INDEX IF NOT EXISTS plurank_feedback_batch ON plurank_feedback (batch)"
# with the table's name, because SQLite takes a "user" that is no column for a text
CHECK_COLUMNS = f"SELECT plurank_feedback.{', plurank_feedback.'.join(COLUMNS)} FROM plurank_feedback LIMIT 0"
INSERT = """
INSERT INTO plurank_feedback (id, "user", winner, loser, received, model, visitor, first_seen, address, withdrawn)
VALUES (:id, :user, :winner, :loser, :received, :model, :visitor, :first_seen, :address, :withdrawn)
ON CONFLICT (id) DO NOTHING"""
FIND = 'SELECT "user", winner, loser, withdrawn FROM plurank_feedback WHERE id = :id'
# one statement each, so that withdrawals and updates that claim the same row cannot race
WITHDRAW = "UPDATE plurank_feedback SET withdrawn = :withdrawn WHERE id = :id AND batch IS NULL"
CLAIM = "UPDATE plurank_feedback SET batch = :batch WHERE id = :id AND batch IS NULL AND withdrawn IS NULL"
READ = """
SELECT id, received, "user", winner, loser, visitor, first_seen, address, batch FROM plurank_feedback
WHERE withdrawn IS NULL ORDER BY received, id"""
COUNT_PAIRS = "SELECT winner, loser, COUNT(*) FROM plurank_feedback WHERE withdrawn IS NULL GROUP BY winner, loser"


class FeedbackStore:
    """The table of answers in a database; several processes may use it at the same time."""

    def __init__(self, database: str | PathLike[str], *, create: bool = False) -> None:
        self.connection = create_connection(database, must_exist=not create)
        self.place = self.connection.place
        self._prepare(create)

    def _prepare(self, create: bool) -> None:
        """Connect now, so that errors show at the start; create the table, or the columns that an old one lacks."""
        try:
            if create:
                with self.connection.transaction() as cursor:
                    cursor.execute(CREATE_TABLE)
                    cursor.execute(CREATE_INDEX)
            self._migrate()
            with self.connection.transaction() as cursor:
                cursor.execute(CHECK_COLUMNS)
        except self.connection.errors as error:
            self.close()
            raise DataError(f"{self.place} cannot be used for answers ({reason_of(error)}). Use another.") from None

    def _migrate(self) -> None:
        """Add the columns that the table lacks."""
        for name in self._missing_columns():
            try:
                with self.connection.transaction() as cursor:
                    cursor.execute(f"ALTER TABLE plurank_feedback ADD COLUMN {name} {COLUMNS[name]}")
            except self.connection.errors:
                if name in self._missing_columns():  # otherwise another process added it first
                    raise

    def _missing_columns(self) -> list[str]:
        with self.connection.transaction() as cursor:
            present = {column[0] for column in cursor.execute("SELECT * FROM plurank_feedback LIMIT 0").description}
        return [name for name in ADDED_COLUMNS if name not in present]

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def add(self, answers: Sequence[GivenAnswer]) -> list[Outcome]:
        """Store answers in one transaction: all are on disk when this returns, and none where it raises."""
        with self._transaction() as cursor:
            return [self._add_one(cursor, answer.row()) for answer in answers]

    def _add_one(self, cursor: Any, row: dict[str, str | None]) -> Outcome:
        withdraws = row["withdrawn"] is not None
        if cursor.execute(INSERT, row).rowcount:
            return "withdrawn" if withdraws else "stored"
        *content, withdrawn = cursor.execute(FIND, {"id": row["id"]}).fetchone()
        if content != [row[name] for name in CONTENT]:
            return "conflict"
        if withdrawn is not None:
            return "withdrawn"
        if not withdraws:
            return "known"
        marked = cursor.execute(WITHDRAW, {"id": row["id"], "withdrawn": row["withdrawn"]}).rowcount
        return "withdrawn" if marked else "learned"

    def claim(self, ids: Iterable[str], batch: str) -> None:
        """Assign answers to a batch, unless they are in another one or have been withdrawn."""
        with self._transaction() as cursor:
            cursor.executemany(CLAIM, [{"id": id, "batch": batch} for id in ids])

    def read(self) -> list[StoredAnswer]:
        """Return all answers that were not withdrawn, in the order of arrival."""
        with self._transaction() as cursor:
            rows = cursor.execute(READ).fetchall()
        return [self._as_answer(row) for row in rows]

    def count_pairs(self) -> list[tuple[Id, Id, int]]:
        """Return each winner and loser with the number of such answers."""
        with self._transaction() as cursor:
            rows = cursor.execute(COUNT_PAIRS).fetchall()
        pairs = [(self._parse(winner, loser), n) for winner, loser, n in rows]
        return [(one, other, n) for (one, other), n in pairs]

    def _as_answer(self, row: Sequence[Any]) -> StoredAnswer:
        id, received, *content, visitor, first_seen, address, batch = row
        user, winner, loser = self._parse(*content)
        return StoredAnswer(id, str(received), user, winner, loser, visitor, first_seen, address, batch)

    def _parse(self, *texts: Any) -> list[Id]:
        """Return ids stored as JSON; raise for what another program may have written."""
        try:
            return [ID_OF_JSON.validate_json(text) for text in texts]
        except ValidationError:
            raise DataError(
                f"{self.place}: expected user, winner and loser of every answer as text or numbers in JSON, got "
                f"{texts!a:.120}. Fix or delete that row of plurank_feedback."
            ) from None

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        """Yield a cursor; what the driver raises becomes FeedbackUnavailable."""
        try:
            with self.connection.transaction() as cursor:
                yield cursor
        except self.connection.errors as error:
            raise FeedbackUnavailable(
                f"the feedback database {self.place} is unavailable ({reason_of(error)}). Try again later."
            ) from error

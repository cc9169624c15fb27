"""The feedback database: SQLite or PostgreSQL, each answer stored once, and durable once acknowledged."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import sqlalchemy as sql
from pydantic import TypeAdapter, ValidationError
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable

from plurank.exceptions import DataError, ParameterError, PlurankError
from plurank.io import as_path
from plurank.text import reason_of
from plurank.web.schemas import Id

BUSY_SECONDS = 10  # to wait for a database that is locked or cannot be reached
ID_OF_JSON: TypeAdapter[Id] = TypeAdapter(Id)
Outcome = Literal["stored", "known", "conflict", "withdrawn", "learned"]
CONTENT = ("user", "winner", "loser")  # what one id always stands for


@dataclass(frozen=True)
class GivenAnswer:
    """An answer to store: the client's id of it, the user, winner and loser, and the model that was served.

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


FEEDBACK = sql.Table(
    "plurank_feedback",
    sql.MetaData(),
    sql.Column("id", sql.String(64), primary_key=True),
    # ids as JSON, so that the number 7 and the text "7" stay apart
    sql.Column("user", sql.Text, nullable=False),
    sql.Column("winner", sql.Text, nullable=False),
    sql.Column("loser", sql.Text, nullable=False),
    sql.Column("received", sql.Text, nullable=False),  # UTC, ISO 8601
    sql.Column("model", sql.Text, nullable=False),  # the fingerprint of the model that was served
    # the update that claimed the row; a batch never changes, and a model file lists those it has learned from
    sql.Column("batch", sql.String(16), nullable=True),
    # since 0.2; null where unknown, as in older databases
    sql.Column("visitor", sql.String(64), nullable=True),  # the browser, by a random cookie
    sql.Column("first_seen", sql.Text, nullable=True),  # when that cookie was issued, UTC, ISO 8601
    sql.Column("address", sql.String(64), nullable=True),  # a keyed hash; the key is never stored
    sql.Column("withdrawn", sql.Text, nullable=True),  # when it was withdrawn, UTC, ISO 8601
)
ADDED_COLUMNS = ("visitor", "first_seen", "address", "withdrawn")
BATCH_INDEX = sql.Index("plurank_feedback_batch", FEEDBACK.c.batch)


class FeedbackStore:
    """The table of answers in a database; several processes may use it at the same time."""

    def __init__(self, database: str | PathLike[str], *, create: bool = False) -> None:
        self.url = _as_url(database)
        self.place = self.url.database if _is_file(self.url) else self.url.render_as_string(hide_password=True)
        if _is_file(self.url) and not create and not Path(str(self.url.database)).is_file():
            raise DataError(f"{self.place}: no such file. Expected a database of answers to `plurank serve`.")
        self.engine = _open_engine(self.url)
        insert = _insert_of(self.url)
        # returns the id of a row that was inserted, because not every driver counts rows
        self.insert = insert(FEEDBACK).on_conflict_do_nothing(index_elements=["id"]).returning(FEEDBACK.c.id)
        self._prepare(create)

    def _prepare(self, create: bool) -> None:
        """Connect now, so that errors show at the start; create the table, or the columns that an old one lacks."""
        try:
            with self.engine.begin() as connection:
                if create:
                    connection.execute(CreateTable(FEEDBACK, if_not_exists=True))
                    connection.execute(CreateIndex(BATCH_INDEX, if_not_exists=True))
            self._migrate()
            with self.engine.begin() as connection:
                connection.execute(sql.select(FEEDBACK).limit(0))
        except (SQLAlchemyError, OSError) as error:
            self.close()
            raise DataError(f"{self.place} cannot be used for answers ({_reason(error)}). Use another.") from None

    def _migrate(self) -> None:
        """Add the columns that a database of an earlier version lacks."""
        for name in self._missing_columns():
            column = CreateColumn(FEEDBACK.c[name]).compile(self.engine)
            try:
                with self.engine.begin() as connection:
                    connection.exec_driver_sql(f"ALTER TABLE {FEEDBACK.name} ADD COLUMN {column}")
            except (OperationalError, sql.exc.ProgrammingError):
                if name in self._missing_columns():  # otherwise another process added it first
                    raise

    def _missing_columns(self) -> list[str]:
        with self.engine.connect() as connection:
            inspector = sql.inspect(connection)
            if not inspector.has_table(FEEDBACK.name):
                return []
            present = {column["name"] for column in inspector.get_columns(FEEDBACK.name)}
        return [name for name in ADDED_COLUMNS if name not in present]

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()

    def add(self, answers: Sequence[GivenAnswer]) -> list[Outcome]:
        """Store answers in one transaction: all are on disk when this returns, and none where it raises."""
        with self._report_unavailable(), self.engine.begin() as connection:
            return [self._add_one(connection, answer.row()) for answer in answers]

    def _add_one(self, connection: Connection, row: dict[str, str | None]) -> Outcome:
        withdraws = row["withdrawn"] is not None
        if connection.execute(self.insert, row).scalar_one_or_none() is not None:
            return "withdrawn" if withdraws else "stored"
        own = FEEDBACK.c.id == row["id"]
        earlier = connection.execute(sql.select(FEEDBACK).where(own)).mappings().one()
        if any(earlier[name] != row[name] for name in CONTENT):
            return "conflict"
        if earlier["withdrawn"] is not None:
            return "withdrawn"
        if not withdraws:
            return "known"
        # one statement, so that it cannot race with an update that claims the row
        unclaimed = own & FEEDBACK.c.batch.is_(None)
        marked = sql.update(FEEDBACK).where(unclaimed).values(withdrawn=row["withdrawn"]).returning(FEEDBACK.c.id)
        return "learned" if connection.execute(marked).scalar_one_or_none() is None else "withdrawn"

    def claim(self, ids: Iterable[str], batch: str) -> None:
        """Assign answers to a batch, unless they are in another one or have been withdrawn."""
        wanted = [{"wanted": id} for id in ids]
        if not wanted:
            return
        unclaimed = FEEDBACK.c.batch.is_(None) & FEEDBACK.c.withdrawn.is_(None)
        one = sql.update(FEEDBACK).where(unclaimed & (FEEDBACK.c.id == sql.bindparam("wanted"))).values(batch=batch)
        with self._report_unavailable(), self.engine.begin() as connection:
            connection.execute(one, wanted)

    def read(self) -> list[StoredAnswer]:
        """Return all answers that were not withdrawn, in the order of arrival."""
        columns = [FEEDBACK.c[name] for name in StoredAnswer._fields]
        query = sql.select(*columns).where(FEEDBACK.c.withdrawn.is_(None)).order_by(FEEDBACK.c.received, FEEDBACK.c.id)
        with self._report_unavailable(), self.engine.begin() as connection:
            rows = connection.execute(query).all()
        return [self._as_answer(row) for row in rows]

    def count_pairs(self) -> list[tuple[Id, Id, int]]:
        """Return each winner and loser with the number of such answers."""
        pair = FEEDBACK.c.winner, FEEDBACK.c.loser
        query = sql.select(*pair, sql.func.count()).where(FEEDBACK.c.withdrawn.is_(None)).group_by(*pair)
        with self._report_unavailable(), self.engine.begin() as connection:
            rows = connection.execute(query).all()
        pairs = [(self._parse(winner, loser), n) for winner, loser, n in rows]
        return [(one, other, n) for (one, other), n in pairs]

    def _as_answer(self, row: Any) -> StoredAnswer:
        user, winner, loser = self._parse(row.user, row.winner, row.loser)
        sender = row.visitor, row.first_seen, row.address
        return StoredAnswer(row.id, str(row.received), user, winner, loser, *sender, row.batch)

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
    def _report_unavailable(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, OSError) as error:
            raise FeedbackUnavailable(
                f"the feedback database {self.place} is unavailable ({_reason(error)}). Try again later."
            ) from error


def _as_url(database: str | PathLike[str]) -> URL:
    """Return the URL of a database, given as such or as the path of a SQLite file; PostgreSQL uses psycopg."""
    text = database if isinstance(database, str) else str(as_path(database))
    if "://" not in text:
        return URL.create("sqlite", database=str(as_path(text).absolute()))
    try:
        url = make_url(text)
    except ArgumentError:
        url = URL.create("unreadable")
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    if url.drivername == "sqlite" and url.database not in (None, "", ":memory:"):
        return url
    raise ParameterError(
        "expected the path of a SQLite file or postgresql+psycopg://USER@HOST/DATABASE as feedback database, got a URL "
        f"that begins with {text.partition('://')[0]!r}."
    )


def _is_file(url: URL) -> bool:
    """Check whether a URL is that of a SQLite file."""
    return url.drivername == "sqlite"


def _insert_of(url: URL) -> Any:
    """Return the insert statement of a database's SQL dialect, which supports ON CONFLICT DO NOTHING."""
    return import_module(f"sqlalchemy.dialects.{url.get_backend_name()}").insert


def _open_engine(url: URL) -> Engine:
    """Return the SQLAlchemy engine of a database; it connects on first use."""
    if not _is_file(url):
        try:
            return sql.create_engine(
                url, pool_pre_ping=True, pool_timeout=BUSY_SECONDS, connect_args={"connect_timeout": BUSY_SECONDS}
            )
        except ImportError:
            raise ParameterError("PostgreSQL needs its driver: pip install 'plurank[postgres]'.") from None
    engine = sql.create_engine(url, connect_args={"timeout": BUSY_SECONDS}, pool_timeout=BUSY_SECONDS)
    sql.event.listen(engine, "connect", _make_durable)
    return engine


def _make_durable(connection: sqlite3.Connection, _: object) -> None:
    """Configure SQLite: readers do not block on writers, and a commit survives a power failure."""
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
    except sqlite3.Error:
        connection.close()  # the pool does not know it yet
        raise


def _reason(error: Exception) -> str:
    """Return the message of a database error, without the statement and its parameters."""
    return reason_of(getattr(error, "orig", None) or error)

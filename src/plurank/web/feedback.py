"""Answers that people give to the service: kept in SQLite or PostgreSQL, each once, and safe once acknowledged."""

import json
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sql
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable

from plurank.exceptions import DataError, ParameterError, PlurankError
from plurank.paths import as_path
from plurank.web.labels import Label
from plurank.wording import reason_of

PATIENCE = 10  # seconds to wait for a database that is busy
Row = tuple[str, Label, Label, Label]
Outcome = Literal["stored", "known", "conflict"]

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
    # the update that took the row; a batch never changes, and a model remembers which ones it has learned from
    sql.Column("batch", sql.String(16), nullable=True),
)
BY_BATCH = sql.Index("plurank_feedback_batch", FEEDBACK.c.batch)
SAID = ("user", "winner", "loser")


@dataclass(frozen=True)
class GivenAnswer:
    """One answer: the client's id of it, who gave it, what won and lost, and the model that was served."""

    id: str
    user: str
    winner: Label
    loser: Label
    model: str = ""

    def row(self) -> dict[str, str]:
        """Give the row that keeps it."""
        said = {name: json.dumps(getattr(self, name)) for name in SAID}
        return {"id": self.id, **said, "received": datetime.now(UTC).isoformat(), "model": self.model}


class FeedbackUnavailable(PlurankError):
    """The database is full, locked or lost."""


class FeedbackStore:
    """The table of answers in a database; several processes may use it at a time."""

    def __init__(self, database: str | PathLike[str], *, create: bool = False) -> None:
        self.url = _url_of(database)
        self.place = self.url.database if _is_file(self.url) else self.url.render_as_string(hide_password=True)
        if _is_file(self.url) and not create and not Path(str(self.url.database)).is_file():
            raise DataError(f"{self.place}: there is no such file of answers.")
        self.engine = _open(self.url)
        dialect: Any = sqlite if _is_file(self.url) else postgresql
        # says which row it wrote, because not every driver counts rows
        self.insert = dialect.insert(FEEDBACK).on_conflict_do_nothing(index_elements=["id"]).returning(FEEDBACK.c.id)
        self._prepare(create)

    def _prepare(self, create: bool) -> None:
        """Reach the database now, so that a mistake shows at the start."""
        try:
            with self.engine.begin() as connection:
                if create:
                    connection.execute(CreateTable(FEEDBACK, if_not_exists=True))
                    connection.execute(CreateIndex(BY_BATCH, if_not_exists=True))
                connection.execute(sql.select(FEEDBACK).limit(0))
        except (SQLAlchemyError, OSError) as error:
            self.close()
            raise DataError(f"{self.place} cannot be used for answers ({_reason(error)}). Name another.") from None

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    def add(self, answers: Sequence[GivenAnswer]) -> list[Outcome]:
        """Store answers in one transaction: when this returns they are on disk, and where it raises none is."""
        with self._unless_lost(), self.engine.begin() as connection:
            return [self._add_one(connection, answer.row()) for answer in answers]

    def _add_one(self, connection: Connection, row: dict[str, str]) -> Outcome:
        if connection.execute(self.insert, row).scalar_one_or_none() is not None:
            return "stored"
        earlier = connection.execute(sql.select(FEEDBACK).where(FEEDBACK.c.id == row["id"])).mappings().one()
        return "known" if all(earlier[name] == row[name] for name in SAID) else "conflict"

    def claim(self) -> None:
        """Make a batch of all answers that are in none yet; what comes later is for the next one."""
        with self._unless_lost(), self.engine.begin() as connection:
            fresh = FEEDBACK.c.batch.is_(None)
            connection.execute(sql.update(FEEDBACK).where(fresh).values(batch=secrets.token_hex(8)))

    def batches(self) -> list[str]:
        """Name the batches."""
        with self._unless_lost(), self.engine.begin() as connection:
            named = sql.select(FEEDBACK.c.batch).where(FEEDBACK.c.batch.is_not(None)).distinct()
            return sorted(connection.execute(named).scalars())

    def read(self, batch: str | None) -> list[Row]:
        """Give when they came, user, winner and loser of the answers in a batch, or of those in none yet."""
        columns = FEEDBACK.c.received, FEEDBACK.c.user, FEEDBACK.c.winner, FEEDBACK.c.loser
        chosen = FEEDBACK.c.batch.is_(None) if batch is None else FEEDBACK.c.batch == batch
        with self._unless_lost(), self.engine.begin() as connection:
            rows = connection.execute(sql.select(*columns).where(chosen)).all()
        return [self._as_row(*row) for row in rows]

    def _as_row(self, came: Any, *said: Any) -> Row:
        """Read what a row says; others may have written to the database, too."""
        try:
            user, winner, loser = (json.loads(text) for text in said)
        except (TypeError, ValueError, RecursionError):
            user = winner = loser = None
        if not all(isinstance(label, (str, int, float)) for label in (user, winner, loser)):
            raise DataError(
                f"{self.place}: expected user, winner and loser of every answer as text or numbers in JSON, got "
                f"{said!a:.120}. Mend or delete that row of plurank_feedback."
            )
        return str(came), user, winner, loser

    @contextmanager
    def _unless_lost(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, OSError) as error:
            raise FeedbackUnavailable(
                f"{self.place} cannot be read or written ({_reason(error)}). Try again when it can."
            ) from error


def _url_of(database: str | PathLike[str]) -> URL:
    """Read the path of a SQLite file, or a URL; plain postgresql: means the driver that plurank comes with."""
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
        "expected the path of a SQLite file or postgresql+psycopg://USER@HOST/DATABASE for answers, got a URL that "
        f"begins with {text.partition('://')[0]!r}."
    )


def _is_file(url: URL) -> bool:
    return url.drivername == "sqlite"


def _open(url: URL) -> Engine:
    if not _is_file(url):
        try:
            return sql.create_engine(
                url, pool_pre_ping=True, pool_timeout=PATIENCE, connect_args={"connect_timeout": PATIENCE}
            )
        except ImportError:
            raise ParameterError("PostgreSQL needs its driver: pip install 'plurank[postgres]'.") from None
    engine = sql.create_engine(url, connect_args={"timeout": PATIENCE}, pool_timeout=PATIENCE)
    sql.event.listen(engine, "connect", _make_durable)
    return engine


def _make_durable(connection: sqlite3.Connection, _: object) -> None:
    """Readers do not wait for writers, and a commit is on disk when it returns, even if power fails."""
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
    except sqlite3.Error:
        connection.close()  # nobody else knows of it yet
        raise


def _reason(error: Exception) -> str:
    """Say what a database says, without the statement or the parameters."""
    return reason_of(getattr(error, "orig", None) or error)

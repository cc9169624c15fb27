"""The database of answers: SQLite or PostgreSQL, each answer once, and safe once acknowledged."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy.engine import Connection
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable

from plurank.exceptions import DataError
from plurank.web.answers import (
    SAID,
    FeedbackUnavailable,
    GivenAnswer,
    Outcome,
    StoredAnswer,
)
from plurank.web.databases import (
    insert_of,
    is_file,
    open_engine,
    reason,
    url_of,
)
from plurank.web.labels import Label

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
    # since 0.2; null where nothing is known, as in older databases
    sql.Column("visitor", sql.String(64), nullable=True),  # the browser, by a random cookie of ours
    sql.Column("first_seen", sql.Text, nullable=True),  # when that cookie was issued, UTC, ISO 8601
    sql.Column("address", sql.String(64), nullable=True),  # a keyed hash; the key is never stored
    sql.Column("withdrawn", sql.Text, nullable=True),  # when the visitor took it back, UTC, ISO 8601
)
ADDED = ("visitor", "first_seen", "address", "withdrawn")
BY_BATCH = sql.Index("plurank_feedback_batch", FEEDBACK.c.batch)


class FeedbackStore:
    """The table of answers in a database; several processes may use it at a time."""

    def __init__(self, database: str | PathLike[str], *, create: bool = False) -> None:
        self.url = url_of(database)
        self.place = self.url.database if is_file(self.url) else self.url.render_as_string(hide_password=True)
        if is_file(self.url) and not create and not Path(str(self.url.database)).is_file():
            raise DataError(f"{self.place}: there is no such file of answers.")
        self.engine = open_engine(self.url)
        insert = insert_of(self.url)
        # says which row it wrote, because not every driver counts rows
        self.insert = insert(FEEDBACK).on_conflict_do_nothing(index_elements=["id"]).returning(FEEDBACK.c.id)
        self._prepare(create)

    def _prepare(self, create: bool) -> None:
        """Reach the database now, so that an error shows at the start."""
        try:
            with self.engine.begin() as connection:
                if create:
                    connection.execute(CreateTable(FEEDBACK, if_not_exists=True))
                    connection.execute(CreateIndex(BY_BATCH, if_not_exists=True))
            self._migrate()
            with self.engine.begin() as connection:
                connection.execute(sql.select(FEEDBACK).limit(0))
        except (SQLAlchemyError, OSError) as error:
            self.close()
            raise DataError(f"{self.place} cannot be used for answers ({reason(error)}). Name another.") from None

    def _migrate(self) -> None:
        """Add the columns that a database of an earlier version lacks."""
        for name in self._missing_columns():
            column = CreateColumn(FEEDBACK.c[name]).compile(self.engine)
            try:
                with self.engine.begin() as connection:
                    connection.exec_driver_sql(f"ALTER TABLE {FEEDBACK.name} ADD COLUMN {column}")
            except (OperationalError, sql.exc.ProgrammingError):
                if name in self._missing_columns():  # otherwise another process was quicker
                    raise

    def _missing_columns(self) -> list[str]:
        with self.engine.connect() as connection:
            inspector = sql.inspect(connection)
            if not inspector.has_table(FEEDBACK.name):
                return []
            present = {column["name"] for column in inspector.get_columns(FEEDBACK.name)}
        return [name for name in ADDED if name not in present]

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()

    def add(self, answers: Sequence[GivenAnswer]) -> list[Outcome]:
        """Store answers in one transaction: when this returns they are on disk, and where it raises none is."""
        with self._unless_lost(), self.engine.begin() as connection:
            return [self._add_one(connection, answer.row()) for answer in answers]

    def _add_one(self, connection: Connection, row: dict[str, str | None]) -> Outcome:
        withdraws = row["withdrawn"] is not None
        if connection.execute(self.insert, row).scalar_one_or_none() is not None:
            return "withdrawn" if withdraws else "stored"
        own = FEEDBACK.c.id == row["id"]
        earlier = connection.execute(sql.select(FEEDBACK).where(own)).mappings().one()
        if any(earlier[name] != row[name] for name in SAID):
            return "conflict"
        if earlier["withdrawn"] is not None:
            return "withdrawn"
        if not withdraws:
            return "known"
        # in one statement, so that an update that takes the row at this moment is not overlooked
        unlearned = own & FEEDBACK.c.batch.is_(None)
        marked = sql.update(FEEDBACK).where(unlearned).values(withdrawn=row["withdrawn"]).returning(FEEDBACK.c.id)
        return "learned" if connection.execute(marked).scalar_one_or_none() is None else "withdrawn"

    def claim(self, ids: Iterable[str], batch: str) -> None:
        """Put answers into a batch, unless they are in another one or were withdrawn meanwhile."""
        wanted = [{"wanted": id} for id in ids]
        if not wanted:
            return
        fresh = FEEDBACK.c.batch.is_(None) & FEEDBACK.c.withdrawn.is_(None)
        one = sql.update(FEEDBACK).where(fresh & (FEEDBACK.c.id == sql.bindparam("wanted"))).values(batch=batch)
        with self._unless_lost(), self.engine.begin() as connection:
            connection.execute(one, wanted)

    def read(self) -> list[StoredAnswer]:
        """Return all answers that were not withdrawn, in the order they came."""
        columns = [FEEDBACK.c[name] for name in StoredAnswer._fields]
        asked = sql.select(*columns).where(FEEDBACK.c.withdrawn.is_(None)).order_by(FEEDBACK.c.received, FEEDBACK.c.id)
        with self._unless_lost(), self.engine.begin() as connection:
            rows = connection.execute(asked).all()
        return [self._as_answer(row) for row in rows]

    def count_pairs(self) -> list[tuple[Label, Label, int]]:
        """Return how often each winner and loser were answered, so far."""
        said = FEEDBACK.c.winner, FEEDBACK.c.loser
        asked = sql.select(*said, sql.func.count()).where(FEEDBACK.c.withdrawn.is_(None)).group_by(*said)
        with self._unless_lost(), self.engine.begin() as connection:
            rows = connection.execute(asked).all()
        pairs = [(self._labels(winner, loser), n) for winner, loser, n in rows]
        return [(one, other, n) for (one, other), n in pairs]

    def _as_answer(self, row: Any) -> StoredAnswer:
        user, winner, loser = self._labels(row.user, row.winner, row.loser)
        origin = row.visitor, row.first_seen, row.address
        return StoredAnswer(row.id, str(row.received), user, winner, loser, *origin, row.batch)

    def _labels(self, *said: Any) -> list[Label]:
        """Return what a row says; others may have written to the database, too."""
        try:
            labels = [json.loads(text) for text in said]
        except (TypeError, ValueError, RecursionError):
            labels = [None]
        if not all(isinstance(label, (str, int, float)) for label in labels):
            raise DataError(
                f"{self.place}: expected user, winner and loser of every answer as text or numbers in JSON, got "
                f"{said!a:.120}. Fix or delete that row of plurank_feedback."
            )
        return labels

    @contextmanager
    def _unless_lost(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, OSError) as error:
            raise FeedbackUnavailable(
                f"{self.place} cannot be read or written ({reason(error)}). Try again when it can."
            ) from error

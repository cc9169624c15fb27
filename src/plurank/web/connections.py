"""Connections to the feedback database: a SQLite file, or PostgreSQL, with the same SQL for both."""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any

from plurank.exceptions import DataError, ParameterError
from plurank.io import as_path

BUSY_SECONDS = 10  # to wait for a database that is locked or cannot be reached
POSTGRES_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")


class DatabaseConnection(ABC):
    """A connection that is opened on first use and again after ``close``; one thread at a time uses it.

    Attributes
    ----------
    place : str
        The path, or the URL without password, for messages.
    errors : tuple of exception classes
        What the driver raises.
    """

    place: str
    errors: tuple[type[Exception], ...]

    def __init__(self) -> None:
        self.lock = Lock()
        self.connection: Any = None  # as in PEP 249

    @abstractmethod
    def connect(self) -> Any:
        """Return an open connection: the present one if it can still be used."""

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """Yield a cursor, whose statements have parameters of the form ``:name``; commit, or roll back on errors."""
        with self.lock:
            self.connection = self.connect()
            try:
                with closing(self.connection.cursor()) as cursor:
                    yield cursor
                self.connection.commit()
            except BaseException:
                with suppress(*self.errors):
                    self.connection.rollback()
                raise

    def close(self) -> None:
        """Close the connection."""
        with self.lock:
            if self.connection is not None:
                self.connection.close()
                self.connection = None


class SQLiteConnection(DatabaseConnection):
    """A connection to a SQLite file: readers do not block on writers, and a commit survives a power failure."""

    errors = (sqlite3.Error, OSError)

    def __init__(self, path: str) -> None:
        super().__init__()
        self.place = path

    def connect(self) -> sqlite3.Connection:
        """Return the connection."""
        if self.connection is not None:
            return self.connection
        opened = sqlite3.connect(self.place, timeout=BUSY_SECONDS, check_same_thread=False)
        try:
            opened.execute("PRAGMA journal_mode=WAL")
            opened.execute("PRAGMA synchronous=FULL")
        except sqlite3.Error:
            opened.close()
            raise
        return opened


def create_connection(database: str | PathLike[str], *, must_exist: bool) -> DatabaseConnection:
    """Return the connection to a database, given by the path of a SQLite file or by a URL."""
    text = database if isinstance(database, str) else str(as_path(database))
    scheme, is_url, rest = text.partition("://")
    if is_url and scheme in POSTGRES_SCHEMES:
        return _create_postgres(rest)
    if not is_url:
        path = str(as_path(text).absolute())
    elif scheme == "sqlite" and rest.startswith("/") and "?" not in rest and rest not in ("/", "/:memory:"):
        path = rest[1:]
    else:
        raise invalid_url(scheme)
    if must_exist and not Path(path).is_file():
        raise DataError(f"{path}: no such file. Expected a database of answers to `plurank serve`.")
    return SQLiteConnection(path)


def _create_postgres(address: str) -> DatabaseConnection:
    try:
        from plurank.web.postgres import PostgresConnection
    except ImportError:
        raise ParameterError("PostgreSQL needs its driver: pip install 'plurank[postgres]'.") from None
    return PostgresConnection(address)


def invalid_url(scheme: str) -> ParameterError:
    """Return the error about a URL, of which only the scheme is shown: the rest may contain a password."""
    expected = "the path of a SQLite file or postgresql://USER@HOST/DATABASE"
    got = f"a URL that begins with {scheme!r}"
    message = f"the feedback database must be {expected}, got {got}."
    return ParameterError(message, parameter="feedback", expected=expected, got=got)

"""The databases that hold answers: SQLite files and PostgreSQL."""

import sqlite3
from importlib import import_module
from os import PathLike
from typing import Any

import sqlalchemy as sql
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError

from plurank.exceptions import ParameterError
from plurank.io import as_path
from plurank.text import reason_of

PATIENCE = 10  # seconds to wait for a database that is busy


def url_of(database: str | PathLike[str]) -> URL:
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


def is_file(url: URL) -> bool:
    """Check whether a URL is that of a SQLite file."""
    return url.drivername == "sqlite"


def insert_of(url: URL) -> Any:
    """Give the statement that inserts rows in the words of a database, which can leave rows out that are there."""
    return import_module(f"sqlalchemy.dialects.{url.get_backend_name()}").insert


def open_engine(url: URL) -> Engine:
    """Return the engine of a database; nothing is connected yet."""
    if not is_file(url):
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


def reason(error: Exception) -> str:
    """Say what a database says, without the statement or the parameters."""
    return reason_of(getattr(error, "orig", None) or error)

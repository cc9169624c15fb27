"""Connections to PostgreSQL; needs psycopg."""

import re
from typing import Any, Self
from urllib.parse import unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from plurank.web import connections

USER_AND_PASSWORD = re.compile(r"([^:/@]*):([^@]*)@")


class NamedCursor(psycopg.Cursor):
    """A cursor that takes parameters of the form ``:name``."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Execute a statement."""
        return super().execute(_as_psycopg(query), params, **options)

    def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
        """Execute a statement with each of several parameters."""
        super().executemany(_as_psycopg(query), params_seq, **options)


def _as_psycopg(query: str) -> Any:
    return re.sub(r":(\w+)", r"%(\1)s", query)


class PostgresConnection(connections.DatabaseConnection):
    """A connection to a PostgreSQL database, which is replaced where the server has closed it."""

    errors = (psycopg.Error, OSError)

    def __init__(self, address: str) -> None:
        super().__init__()
        self.password = None  # not part of the URL, which the driver's messages may quote
        if (given := USER_AND_PASSWORD.match(address)) is not None:
            self.password = unquote(given[2])
            address = f"{given[1]}@{address[given.end() :]}"
        self.url = f"postgresql://{address}"
        self.place = self.url.partition("?")[0]
        try:
            conninfo_to_dict(self.url)
        except psycopg.Error:
            raise connections.invalid_url("postgresql") from None

    def connect(self) -> Any:
        """Return the connection if the server still responds on it, else a new one."""
        if self.connection is not None:
            try:
                self.connection.execute("SELECT 1")
                return self.connection
            except psycopg.Error:
                self.connection.close()
        seconds = connections.BUSY_SECONDS
        return psycopg.connect(self.url, password=self.password, connect_timeout=seconds, cursor_factory=NamedCursor)

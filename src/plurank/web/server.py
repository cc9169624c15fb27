"""Run the service with uvicorn: one process, or several that share a port."""

import logging
import os
import socket
from asyncio import TimerHandle, Transport
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from plurank.exceptions import Argument, ParameterError
from plurank.web.application import create_app
from plurank.web.configuration import ServiceSettings, export_to_workers

LOOPBACK = ("127.", "::1", "localhost")
MAX_HEAD = 2**16  # bytes of request line and headers, rounded up to what is read at once
HEAD_SECONDS = 30.0  # for request line and headers to arrive


def run_server(
    model: str | os.PathLike[str], settings: ServiceSettings, *, host: str, port: int, workers: int = 1
) -> None:
    """Serve a model until Ctrl-C, from one process or several."""
    logging.basicConfig(format="%(message)s")
    options: dict[str, Any] = {"host": host, "port": port, "http": BoundedProtocol}
    options |= {"log_level": "warning", "access_log": False, "server_header": False}
    if workers == 1:
        uvicorn.run(create_app(model, settings), **options)
        return
    export_to_workers(str(Path(model).absolute()), settings)
    uvicorn.run("plurank.web.application:create_worker_app", factory=True, workers=workers, **options)


def check_model_and_settings(model: str | os.PathLike[str], settings: ServiceSettings) -> None:
    """Raise for a model or a database that cannot be used, before the service starts."""
    create_app(model, settings).state.service.close()


def resolve_port(host: str, port: int) -> int:
    """Return the port to listen on, a free one for 0; raise where the port is taken or the host is not local."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.create_server((host, port), family=family) as tried:
            return int(tried.getsockname()[1])
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        choices = Argument("port"), " (0: a free one) or ", Argument("host")
        hint = ("Is another program using it? Choose another ", *choices, ".")
        message = f"cannot listen on {host}, port {port} ({reason})."
        raise ParameterError(message, parameter="port", got=f"{port}", hint=hint) from None


def is_loopback(host: str) -> bool:
    """Check whether only this machine can reach a host."""
    return host.startswith(LOOPBACK)


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with bounds on the size of a request's head and on the time to send it.

    uvicorn has neither: a client could keep a connection and memory busy with headers that never end.
    """

    timer: TimerHandle | None = None
    head_bytes: int | None = None  # of an incomplete head; None while none is awaited

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Wait for the rest of a head."""
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        """Continue with a request whose head is complete."""
        self._stop_waiting()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Read on, unless the head has become too large."""
        super().data_received(data)
        if self.head_bytes is not None:
            self.head_bytes += len(data)
            if self.head_bytes > MAX_HEAD:
                self._reject(f"Request line and headers must not exceed {MAX_HEAD:,} bytes.")

    def _await_head(self) -> None:
        self._stop_waiting()
        self.head_bytes = 0
        message = f"Request line and headers must arrive within {HEAD_SECONDS:.0f} seconds."
        self.timer = self.loop.call_later(HEAD_SECONDS, self._reject, message)

    def _stop_waiting(self) -> None:
        self.head_bytes = None
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _reject(self, message: str) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self.send_400_response(message)

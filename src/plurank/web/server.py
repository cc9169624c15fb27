"""The service as processes: one, or several that share a port."""

import logging
import os
import socket
from pathlib import Path

import uvicorn

from plurank.exceptions import ParameterError
from plurank.web.app import create_app
from plurank.web.settings import Settings, leave_for_workers

LOOPBACK = ("127.", "::1", "localhost")


def serve(model: str | os.PathLike[str], settings: Settings, *, host: str, port: int, workers: int = 1) -> None:
    """Serve a model until Ctrl-C, from one process or several."""
    logging.basicConfig(format="%(message)s")
    options = {"host": host, "port": port, "log_level": "warning", "access_log": False, "server_header": False}
    options["http"] = "plurank.web.protocol:CarefulProtocol"
    if workers == 1:
        uvicorn.run(create_app(model, settings), **options)  # type: ignore[arg-type]
        return
    leave_for_workers(str(Path(model).absolute()), settings)
    uvicorn.run("plurank.web.app:create_worker_app", factory=True, workers=workers, **options)  # type: ignore[arg-type]


def check(model: str | os.PathLike[str], settings: Settings) -> None:
    """Refuse a model or a database that the service could not use, before it starts."""
    app = create_app(model, settings)
    service = app.state.service
    service.close()


def free_port(host: str, port: int) -> int:
    """Refuse a port that is taken or a host that is not here; for port 0, find a free one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.create_server((host, port), family=family) as tried:
            return int(tried.getsockname()[1])
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ParameterError(
            f"cannot listen on {host}, port {port} ({reason}). Is something else running there? Give another --port, "
            "0 for any free one, or another --host."
        ) from None


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a host."""
    return host.startswith(LOOPBACK)

"""Servers as processes of their own: plurank's, and PostgreSQL's."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from http.client import HTTPException
from itertools import count
from pathlib import Path

import pytest
import uvicorn

from plurank.web.application import create_app
from plurank.web.configuration import ServiceSettings
from plurank.web.server import BoundedProtocol

PATIENCE = 240.0  # seconds; a server is usually there in two, but the first time on a machine it compiles


@contextmanager
def started(*args):
    """Start ``plurank serve`` in a process group of its own; yields the process and its address."""
    command = [sys.executable, "-m", "plurank", "serve", *map(str, args), "--port", "0", "--rate", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("Serving "), process.stderr.read()
        address = line.split(" at ")[1].split()[0].removesuffix("/.")
        wait_for(f"{address}/", process)
        yield process, address
    finally:
        kill_all(process)
        process.communicate()


@contextmanager
def served_here(model, **settings):
    """Serve from a thread of this process, which is there at once; yields the address."""
    given = {"feedback": None, "rate": 0.0, **settings}
    server = uvicorn.Server(uvicorn.Config(
        create_app(model, ServiceSettings(**given)), port=0, http=BoundedProtocol,
        log_config=None, timeout_graceful_shutdown=10,
    ))  # fmt: skip
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + PATIENCE
    while not server.started:
        assert thread.is_alive(), "the service ended."
        assert time.monotonic() < deadline, "the service does not start."
        time.sleep(0.01)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


def kill_all(process):
    """Kill the whole group at once: nobody can put anything in order any more."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def wait_for(url, process, told=lambda: ""):
    """Wait until a service answers; where it does not, show what it told."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return get(f"{url}health")
        except OSError:
            assert process.poll() is None, f"the service ended. {told()}"
            assert time.monotonic() < deadline, f"the service does not answer. {told()}"
            time.sleep(0.05)


def find_port():
    """Find a port of this machine that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return json.load(answer)


def post(url, body):
    """Return status and response."""
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@contextmanager
def senders(address, name, winner, loser):
    """Let eight senders give answers until the server is killed; yields the ids that it has acknowledged so far."""
    acknowledged = []
    given = [(address, f"{name} {n}", winner, loser, acknowledged) for n in range(8)]
    threads = [threading.Thread(target=_send, args=args) for args in given]
    for thread in threads:
        thread.start()
    yield acknowledged
    for thread in threads:
        thread.join(PATIENCE)


def _send(address, sender, winner, loser, acknowledged):
    for n in count():
        answer = {"id": f"{sender}-{n}", "user": sender, "winner": winner, "loser": loser}
        try:
            status, _ = post(f"{address}/feedback", answer)
        except (OSError, HTTPException, ValueError):  # no reply, or half of one
            return
        if status == 201:
            acknowledged.append(answer["id"])


def _binaries():
    """Find the folder of PostgreSQL's programs, the newest first."""
    on_path = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return (
        Path(on_path).parent if on_path else next((folder for folder in folders if (folder / "initdb").exists()), None)
    )


@contextmanager
def postgres():
    """Start PostgreSQL on a free port of this machine, in a folder of its own; yields its URL."""
    # not below pytest's folder, which is root's alone where tests run as root
    with tempfile.TemporaryDirectory(prefix="plurank-postgres-") as folder, _postgres_in(Path(folder)) as url:
        yield url


@contextmanager
def _postgres_in(folder):
    pytest.importorskip("psycopg")
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed")
    user = {"user": _other_user(folder)} if os.getuid() == 0 else {}
    data = folder / "data"
    initdb = [binaries / "initdb", "-D", data, "-U", "plurank", "-A", "trust", "-E", "UTF8", "--no-sync"]
    made = subprocess.run(initdb, capture_output=True, text=True, cwd=folder, **user)
    assert made.returncode == 0, made.stderr
    port = find_port()
    options = ["-p", str(port), "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"]
    server = subprocess.Popen(
        [binaries / "postgres", "-D", data, *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **user,
    )  # fmt: skip
    try:
        _wait_for_port(server, port)
        yield f"postgresql+psycopg://plurank@127.0.0.1:{port}/postgres"
    finally:
        server.send_signal(signal.SIGINT)  # a fast shutdown
        server.wait(PATIENCE)


def _other_user(folder):
    """PostgreSQL refuses to run as root: give the folder to somebody else."""
    import pwd  # there is none on Windows, and no root

    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        os.chown(folder, found.pw_uid, found.pw_gid)
        return name
    return pytest.skip("PostgreSQL cannot run as root, and there is no other user")


def _wait_for_port(server, port):
    import psycopg

    deadline = time.monotonic() + PATIENCE
    while True:
        assert server.poll() is None, "PostgreSQL ended"
        try:
            psycopg.connect(host="127.0.0.1", port=port, user="plurank", dbname="postgres").close()
            return
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, "PostgreSQL did not start"
            time.sleep(0.05)

"""The service as processes: several workers, killed at any moment, lose nothing they acknowledged."""

import asyncio
import signal
import socket
import sys
import time
from contextlib import suppress

import pytest
import uvicorn

import plurank
from plurank.web import protocol
from plurank.web.answers import GivenAnswer
from plurank.web.feedback import FeedbackStore
from plurank.web.learning import learn, prepare_lesson
from tests.web.servers import get, kill_all, postgres, senders, started
from tests.web.test_screening import make_old

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills process groups, as POSIX has them")


@pytest.fixture(scope="module")
def postgres_url():
    with postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "feedback.db")
    return request.getfixturevalue("postgres_url")


def test_what_was_acknowledged_survives_kill_9_and_the_model_learns_it(model_file, database):
    with (
        started(model_file, "--workers", 2, "--feedback", database) as (process, address),
        senders(address, "visitor", "tea", "cola") as acknowledged,
    ):
        deadline = time.monotonic() + 60
        while len(acknowledged) < 100:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        kill_all(process)
    store = FeedbackStore(database)
    again = [GivenAnswer(id, id.split("-")[0], "tea", "cola") for id in acknowledged]
    assert set(store.add(again)) == {"known"}
    store.close()
    stored = plurank.read_feedback(database, include_suspicious=True)  # eight senders at one address, in a hurry
    assert len(acknowledged) <= len(stored) <= len(acknowledged) + 8, "each sender had at most one under way"
    learned = plurank.load(model_file)
    learn(learned, prepare_lesson(learned, database, include_suspicious=True))
    assert prepare_lesson(learned, database).comparisons is None
    assert "visitor 0" in learned.users_


def test_ctrl_c_ends_all_workers_with_0_and_they_had_followed_the_file(model_file, drinkers):
    other = plurank.MixedRanking(1, init="random", concentration=1.0, score_scale=1.0, random_state=0).fit(drinkers)
    with started(model_file, "--workers", 2, "--no-feedback") as (process, address):
        other.save(model_file)
        seen = 0
        while seen < 10:  # in a row, from whichever worker
            seen = seen + 1 if get(f"{address}/health")["model"]["n_rankings"] == 1 else 0
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
        assert process.returncode == 0
        assert "Traceback" not in complaint
        assert not is_there(address)


def is_there(address):
    try:
        return bool(get(f"{address}/health"))
    except OSError:
        return False


def test_a_postgres_that_hangs_up_is_called_again(model, open_client, postgres_url):
    psycopg = pytest.importorskip("psycopg")
    client = open_client(model, feedback=postgres_url)
    kept = {"user": "v", "winner": "tea", "loser": "cola"}
    assert client.post("/feedback", json={"id": "before", **kept}).status_code == 201
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    assert client.post("/feedback", json={"id": "after", **kept}).status_code == 201
    assert client.post("/feedback", json={"id": "before", **kept}).status_code == 200


def talk(address, data, seconds=20):
    """Send bytes and give what comes back until the server hangs up."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        came = b""
        with suppress(ConnectionError):  # it hangs up while we still send
            for begin in range(0, len(data), 2**16):
                connection.sendall(data[begin : begin + 2**16])
            while piece := connection.recv(2**16):
                came += piece
        return came


def test_a_head_without_end_is_not_read_to_its_end(model_file):
    with started(model_file, "--no-feedback") as (_, address):  # as it is served: the command chooses the protocol
        for endless in (b"X: " + b"a" * 10**7, b"".join(b"X%d: a\r\n" % n for n in range(10**6))):
            begin = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
            assert b"200 OK" not in talk(address, begin + endless + b"\r\n\r\n")
        long = begin + b"X: " + b"a" * 50_000 + b"\r\nConnection: close\r\n\r\n"
        assert b"200 OK" in talk(address, long + long)
        assert get(f"{address}/health")["status"] == "ok"


def test_a_head_that_does_not_arrive_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.05)
    answer = asyncio.run(send_half_a_head())
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.endswith(b"must arrive within 0 seconds.")


async def send_half_a_head():
    """Give what a server says to a client that begins a request and waits."""
    config = uvicorn.Config(asyncio.sleep, lifespan="off", log_config=None, interface="asgi3")  # it is never asked
    config.load()
    state, loop = uvicorn.server.ServerState(), asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol.CarefulProtocol(config, state, {}), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"GET / HTTP/1.1\r\nHost:")
    answer = await asyncio.wait_for(reader.read(), 30)
    writer.close()
    await writer.wait_closed()
    server.close()
    await server.wait_closed()
    return answer


def test_a_postgres_database_of_an_earlier_version_gets_the_columns_it_lacks(postgres_url):
    psycopg = pytest.importorskip("psycopg")
    plain = postgres_url.replace("+psycopg", "")
    with psycopg.connect(plain, autocommit=True) as server:
        server.execute("CREATE DATABASE earlier")
    with psycopg.connect(plain.replace("/postgres", "/earlier"), autocommit=True) as old:
        make_old(old.execute)
    database = postgres_url.replace("/postgres", "/earlier")
    store = FeedbackStore(database)
    assert store.add([GivenAnswer("new", "ann", "tea", "milk", visitor="v", address="a")]) == ["stored"]
    assert store.add([GivenAnswer("new", "ann", "tea", "milk", withdrawn=True)]) == ["withdrawn"]
    assert store.count_pairs() == [("tea", "cola", 2)]
    store.close()
    assert len(plurank.read_feedback(database)) == 2

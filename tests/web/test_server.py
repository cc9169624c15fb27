"""The service as processes: several workers, killed at any moment, lose nothing they acknowledged."""

import signal
import sys
import threading
from http.client import HTTPException

import pytest

import plurank
from plurank.web.feedback import FeedbackStore, GivenAnswer
from plurank.web.learning import learn, prepare_lesson
from tests.web.servers import get, kill_all, post, postgres, started

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


def send_until_killed(address, sender, acknowledged, enough):
    for n in range(10_000):
        answer = {"id": f"{sender}-{n}", "user": f"visitor {sender}", "winner": "tea", "loser": "cola"}
        try:
            status, _ = post(f"{address}/feedback", answer)
        except (OSError, HTTPException, ValueError):  # no reply, or half of one
            return
        if status == 201:
            acknowledged.append(answer["id"])
        if len(acknowledged) >= 100:
            enough.set()


def test_what_was_acknowledged_survives_kill_9_and_the_model_learns_it(model_file, database):
    acknowledged, enough = [], threading.Event()
    with started(model_file, "--workers", 2, "--feedback", database) as (process, address):
        senders = [
            threading.Thread(target=send_until_killed, args=(address, n, acknowledged, enough)) for n in range(8)
        ]
        for sender in senders:
            sender.start()
        assert enough.wait(60)
        kill_all(process)
        for sender in senders:
            sender.join(60)
    store = FeedbackStore(database)
    again = [GivenAnswer(id, f"visitor {id.split('-')[0]}", "tea", "cola") for id in acknowledged]
    assert set(store.add(again)) == {"known"}
    store.close()
    stored = plurank.read_feedback(database)
    assert len(acknowledged) <= len(stored) <= len(acknowledged) + 8, "each sender had at most one under way"
    learned = plurank.load(model_file)
    learn(learned, prepare_lesson(learned, database))
    assert prepare_lesson(learned, database) is None
    assert "visitor 0" in learned.users_


def test_ctrl_c_ends_all_workers_with_0_and_they_had_followed_the_file(model_file, drinkers):
    other = plurank.MixedRanking(1, start="random", concentration=1.0, spread=1.0, random_state=0).fit(drinkers)
    with started(model_file, "--workers", 2, "--no-feedback") as (process, address):
        other.save(model_file)
        seen = 0
        while seen < 10:  # in a row, from whichever worker
            seen = seen + 1 if get(f"{address}/health")["model"]["n_rankings"] == 1 else 0
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

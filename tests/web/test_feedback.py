"""Answers that cannot be stored are never acknowledged, and each request is a transaction of its own."""

import asyncio
import sqlite3
import threading

from plurank.web.database import FeedbackUnavailable
from plurank.web.feedback import FeedbackWriter
from plurank.web.responses import RequestError
from plurank.web.schemas import FeedbackRequest
from plurank.web.security import Sender
from plurank.web.service import ModelService

KEPT = {"id": "a1", "user": "v", "winner": "tea", "loser": "cola"}


def fail(*_):
    raise sqlite3.OperationalError("database or disk is full")


def test_a_full_disk_is_503_and_nothing_is_acknowledged(open_client, model, refused, monkeypatch, caplog):
    client = open_client(model)
    with monkeypatch.context() as patch:
        patch.setattr("plurank.web.database.FeedbackStore._add_one", fail)
        reply = client.post("/feedback", json=KEPT)
        assert "not stored" in refused(reply, 503)
        assert reply.headers["retry-after"] == "5"
    assert "database or disk is full" in caplog.text
    assert client.post("/feedback", json=KEPT).status_code == 201, "later it works again"


def test_a_locked_database_is_503(open_client, model, refused, monkeypatch, tmp_path):
    monkeypatch.setattr("plurank.web.connections.BUSY_SECONDS", 0.1)
    client = open_client(model)
    other = sqlite3.connect(tmp_path / "feedback.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    refused(client.post("/feedback", json=KEPT), 503)
    other.execute("ROLLBACK")
    other.close()
    assert client.post("/feedback", json=KEPT).status_code == 201


def test_a_table_that_is_gone_is_503(open_client, model, refused, tmp_path):
    client = open_client(model)
    other = sqlite3.connect(tmp_path / "feedback.db")
    other.execute("DROP TABLE plurank_feedback")
    other.close()
    refused(client.post("/feedback", json=KEPT), 503)


class SlowStore:
    """A store that waits, and whose third write fails."""

    def __init__(self):
        self.writes, self.go, self.writing = [], threading.Event(), threading.Lock()

    def add(self, answers):
        assert self.writing.acquire(blocking=False), "two writes at a time"
        try:
            self.go.wait(10)
            self.writes.append([answer.id for answer in answers])
            if len(self.writes) == 3:
                raise FeedbackUnavailable("lost")
            return ["stored"] * len(answers)
        finally:
            self.writing.release()


def test_requests_are_written_one_after_the_other_and_each_fails_alone(model):
    store, served = SlowStore(), ModelService(model)

    async def run():
        writer = FeedbackWriter(store)
        bodies = [FeedbackRequest(**{**KEPT, "id": f"a{n}"}) for n in range(6)]
        tasks = [asyncio.create_task(writer.store_one(body, Sender(), served)) for body in bodies]
        await asyncio.sleep(0)
        tasks[4].cancel()  # the client went away
        await asyncio.sleep(0)
        store.go.set()
        return await asyncio.gather(*tasks, return_exceptions=True), writer

    replies, writer = asyncio.run(run())
    assert store.writes == [[f"a{n}"] for n in (0, 1, 2, 3, 5)]
    assert isinstance(replies[2], RequestError)
    assert replies[2].status == 503
    assert isinstance(replies[4], asyncio.CancelledError)
    assert [reply.status_code for n, reply in enumerate(replies) if n not in (2, 4)] == [201] * 4
    assert not writer.is_failing, "the last write succeeded"


def test_an_unexpected_error_is_logged_with_its_traceback(open_client, model, refused, monkeypatch, caplog):
    def fail(*_):
        raise ZeroDivisionError("secret")

    client = open_client(model)
    monkeypatch.setattr("plurank.web.database.FeedbackStore.add", fail)
    assert "secret" not in refused(client.post("/feedback", json=KEPT), 503)
    assert "Traceback" in caplog.text

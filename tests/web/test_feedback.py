"""Answers in a database: each once, in transactions, and read back as they were given."""

import asyncio
import sqlite3
import threading

import pytest
from sqlalchemy.exc import OperationalError

import plurank
from plurank.exceptions import DataError, ParameterError
from plurank.web.answers import FeedbackUnavailable, GivenAnswer
from plurank.web.batching import Batching
from plurank.web.feedback import FeedbackStore
from plurank.web.refusals import Refusal

KEPT = {"id": "a1", "user": "v", "winner": "tea", "loser": "cola"}


def answer(n, winner="tea", loser="cola", user="visitor"):
    return GivenAnswer(f"id {n}", user, winner, loser, "fingerprint")


@pytest.fixture
def store(tmp_path):
    opened = FeedbackStore(tmp_path / "feedback.db", create=True)
    yield opened
    opened.close()


def test_an_answer_is_stored_known_or_in_conflict(store):
    assert store.add([answer(1), answer(2), answer(1)]) == ["stored", "stored", "known"]
    assert store.add([answer(1), answer(1, "milk"), answer(1, user="other")]) == ["known", "conflict", "conflict"]
    assert len(store.read()) == 2


def test_numbers_and_text_survive(store):
    store.add([answer(1, 7, "7"), answer(2, 2.5, "maté ☕"), answer(3, "\\", "'; drop table plurank_feedback")])
    assert [(row.user, row.winner, row.loser) for row in store.read()] == [
        ("visitor", 7, "7"),
        ("visitor", 2.5, "maté ☕"),
        ("visitor", "\\", "'; drop table plurank_feedback"),
    ]


def test_sqlite_waits_for_the_disk_and_readers_do_not_wait_for_writers(store):
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL


def test_several_stores_write_at_a_time(store, tmp_path):
    stores = [store, *(FeedbackStore(tmp_path / "feedback.db", create=True) for _ in range(3))]

    def write(own, begin):
        for n in range(begin, begin + 25):
            own.add([answer(n)])

    threads = [threading.Thread(target=write, args=(own, 20 * n)) for n, own in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.read()) == 85, "ids that two of them wrote are there once"
    for own in stores[1:]:
        own.close()


def test_what_cannot_be_a_database_is_refused(tmp_path):
    (tmp_path / "text.db").write_text("this is no database, and it is long enough to be seen to be none" * 10)
    for database, sentence in (
        (tmp_path / "text.db", "file is not a database"),
        (tmp_path / "no" / "where.db", "unable to open"),
        (tmp_path, "unable to open"),
        ("postgresql://nobody:hunter2@127.0.0.1:1/none", "cannot be used for answers"),
    ):
        with pytest.raises(DataError, match=sentence) as caught:
            FeedbackStore(database, create=True)
        assert "hunter2" not in str(caught.value)
    for url in ("mysql://host/db", "sqlite://", "://", "sqlite:///:memory:"):
        with pytest.raises(ParameterError, match="SQLite file or postgresql"):
            FeedbackStore(url, create=True)


def test_reading_makes_no_file(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        plurank.read_feedback(tmp_path / "missing.db")
    assert list(tmp_path.iterdir()) == []
    sqlite3.connect(tmp_path / "other.db").close()
    with pytest.raises(DataError, match="no such table"):
        plurank.read_feedback(tmp_path / "other.db")


@pytest.mark.parametrize("said", ["no JSON", "[1]", "null", "{}", "[" * 10**5, b"\xff"])
def test_rows_that_others_wrote_are_refused_with_a_sentence(said, store, tmp_path):
    store.add([GivenAnswer("a", "ann", "tea", "milk")])
    with sqlite3.connect(tmp_path / "feedback.db") as database:
        database.execute("UPDATE plurank_feedback SET user = ?, received = 5", [said])
    database.close()
    with pytest.raises(DataError, match=r"text or numbers in JSON, got .*Fix or delete that row"):
        plurank.read_feedback(tmp_path / "feedback.db")


def test_read_feedback_gives_comparisons_that_people_made(store, tmp_path):
    with pytest.raises(DataError, match="holds no answers"):
        plurank.read_feedback(tmp_path / "feedback.db")
    store.add([answer(1), answer(2, "cola", 5, "other")])
    found = plurank.read_feedback(str(tmp_path / "feedback.db"))
    assert found.to_frame().rows() == [("other", "cola", 5), ("visitor", "tea", "cola")]
    assert found.rated is False


def fail(*_):
    raise OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full"))


def test_a_full_disk_is_503_and_nothing_is_acknowledged(open_client, model, refused, monkeypatch, caplog):
    client = open_client(model)
    with monkeypatch.context() as patch:
        patch.setattr("plurank.web.feedback.FeedbackStore._add_one", fail)
        reply = client.post("/feedback", json=KEPT)
        assert "not stored" in refused(reply, 503)
        assert reply.headers["retry-after"] == "5"
    assert "database or disk is full" in caplog.text
    assert client.post("/feedback", json=KEPT).status_code == 201, "later it works again"


def test_a_locked_database_is_503(open_client, model, refused, monkeypatch, tmp_path):
    monkeypatch.setattr("plurank.web.databases.PATIENCE", 0.1)
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
    """A store whose first batch waits until all others have come."""

    def __init__(self):
        self.batches, self.go = [], threading.Event()

    def add(self, answers):
        self.go.wait(10)
        self.batches.append(len(answers))
        if len(self.batches) == 3:
            raise FeedbackUnavailable("lost")
        return ["stored"] * len(answers)


def test_answers_that_come_together_are_stored_together():
    store = SlowStore()

    async def run():
        batching = Batching(store)
        tasks = [asyncio.create_task(batching.add(answer(0)))]
        while batching.waiting or not tasks[0]._fut_waiter:
            await asyncio.sleep(0)
        tasks += [asyncio.create_task(batching.add(answer(n))) for n in range(1, 10)]
        await asyncio.sleep(0)
        tasks[5].cancel()
        await asyncio.sleep(0)
        store.go.set()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        with pytest.raises(Refusal, match="not stored"):
            await batching.add(answer(11))
        return outcomes, await batching.add(answer(12))

    outcomes, later = asyncio.run(run())
    assert store.batches == [1, 9, 1, 1]
    assert [outcome for outcome in outcomes if isinstance(outcome, str)] == ["stored"] * 9
    assert later == "stored"

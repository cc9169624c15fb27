"""The feedback database: each answer once, in transactions, and read as it was given."""

import sqlite3
import threading

import pytest

import plurank
from plurank.exceptions import DataError, ParameterError
from plurank.web.database import FeedbackStore, GivenAnswer


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

"""The feedback database: each answer once, in transactions, and read as it was given."""

import sqlite3
import threading
from urllib.parse import unquote

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
    with store.connection.transaction() as cursor:
        assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert cursor.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert cursor.execute("PRAGMA busy_timeout").fetchone() == (10_000,)  # milliseconds


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
    for url in ("mysql://host/db", "sqlite://", "://", "sqlite:///:memory:", "sqlite:///a.db?mode=ro"):
        with pytest.raises(ParameterError, match="SQLite file or postgresql"):
            FeedbackStore(url, create=True)


def test_urls_name_the_same_databases_as_before(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("plain.db", "sqlite:///plain.db", f"sqlite:///{tmp_path}/plain.db")):
        opened = FeedbackStore(name, create=True)
        assert opened.add([answer(number)]) == ["stored"]
        assert len(opened.read()) == number + 1
        opened.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plain.db"]


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
@pytest.mark.parametrize("password", ["hunter2", "hunter%2F2", "hunter/2", "hunter:2?#", "hunter%zz2"])
def test_passwords_are_not_shown_and_reach_the_driver(scheme, password):
    postgres = pytest.importorskip("plurank.web.postgres")
    opened = postgres.PostgresConnection(f"me:{password}@127.0.0.1:1/votes?application_name=a@b")
    assert opened.password == unquote(password)
    assert opened.place == "postgresql://me@127.0.0.1:1/votes"
    assert opened.url == "postgresql://me@127.0.0.1:1/votes?application_name=a@b"
    for address in ("127.0.0.1:1/none", "[::1/none", "127.0.0.1:1/none?no_such_option=1", "127.0.0.1:port/none"):
        with pytest.raises((DataError, ParameterError)) as caught:
            FeedbackStore(f"{scheme}://me:{password}@{address}", create=True)
        assert "hunter" not in str(caught.value)
        assert "hunter" not in str(caught.value.__cause__)


def test_a_store_can_be_used_again_after_it_was_closed(store):
    store.add([answer(1)])
    store.close()
    store.close()
    assert store.add([answer(1), answer(2)]) == ["known", "stored"]


def test_an_error_within_a_transaction_stores_nothing(store, monkeypatch):
    monkeypatch.setattr(GivenAnswer, "row", lambda self, row=GivenAnswer.row: row(self) if self.id == "id 1" else {})
    with pytest.raises(KeyError):
        store.add([answer(1), answer(2)])
    assert store.read() == []


def test_one_store_serves_several_threads(store):
    threads = [threading.Thread(target=store.add, args=([answer(n)],)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.read()) == 20


@pytest.mark.parametrize("column", ["user", "winner", "model", "batch"])
def test_a_table_of_another_program_is_refused(tmp_path, column):
    names = [name for name in ("id", "user", "winner", "loser", "received", "model", "batch") if name != column]
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute(f"CREATE TABLE plurank_feedback ({', '.join(names)})")
    other.close()
    with pytest.raises(DataError, match=f"cannot be used for answers .*{column}"):
        plurank.read_feedback(tmp_path / "other.db")


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

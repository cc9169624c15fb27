"""Ballot stuffing is found, reported and left out; households, offices and people in a hurry are not."""

import json
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

import plurank
from plurank.cli.program import app
from plurank.exceptions import DataError, SkippedWarning
from plurank.web import screening
from plurank.web.database import FeedbackStore, GivenAnswer
from plurank.web.security import COOKIE, VisitorCookies

BEGIN = datetime(2026, 11, 17, 9, 0, tzinfo=UTC)
PAIRS = [(one, other) for one in ("tea", "coffee", "cocoa", "milk") for other in ("water", "juice", "cola", "maté")]


def at(seconds):
    return (BEGIN + timedelta(seconds=seconds)).isoformat()


def visitor(name, n, pace, *, address="office", begin=0.0, pairs=PAIRS, user=None):
    """The answers of one browser, one every ``pace`` seconds."""
    times = [begin + pace * (k + 1) for k in range(n)]
    return [
        GivenAnswer(
            f"{name} {k}", user or f"user of {name}", *pairs[k % len(pairs)], visitor=f"browser {name}",
            first_seen=at(begin), address=address, received=at(time),
        )
        for k, time in enumerate(times)
    ]  # fmt: skip


@pytest.fixture
def database(tmp_path):
    return tmp_path / "feedback.db"


@pytest.fixture
def find(database):
    """Store answers, and find what is suspicious among them."""

    def find_among(*answers):
        store = FeedbackStore(database, create=True)
        store.add([answer for given in answers for answer in given])
        groups = screening.find_suspicious(store.read())
        store.close()
        return groups

    return find_among


def run(*args, code=0):
    result = CliRunner().invoke(app, [str(arg) for arg in args], prog_name="plurank")
    assert result.exit_code == code, result.stdout + result.stderr
    return result


def stuff(client, n_answers=1502, n_names=200, *, cookies=False):
    """Vote again and again for water over tea, as 200 invented people, from one address."""
    rows = [{"id": f"x{n}", "user": f"invented {n % n_names}", "winner": "water", "loser": "tea"}
            for n in range(n_answers)]  # fmt: skip
    if not cookies:
        for begin in range(0, n_answers, 100):
            client.cookies.clear()
            client.post("/feedback", json={"answers": rows[begin : begin + 100]})
        return
    for name in range(n_names):
        client.cookies.clear()
        client.get("/")  # where a browser gets its cookie
        client.post("/feedback", json={"answers": rows[name::n_names]})


@pytest.mark.parametrize("cookies", [False, True])
def test_a_stuffed_ballot_does_not_move_the_model_and_is_reported(open_client, model_file, database, cookies):
    client = open_client(model_file, hide_results=None)
    stuff(client, cookies=cookies)
    before = plurank.load(model_file)
    honest = visitor("honest", 12, 2.0, address="home")
    store = FeedbackStore(database)
    store.add(honest)
    store.close()
    result = run("update", model_file, "--feedback", database, "--json")
    found = json.loads(result.stdout)
    assert found["n_comparisons"] == 12
    assert sum(finding["n_answers"] for finding in found["excluded_answers"]) == 1502
    assert found["excluded_answers"][0]["source"] == "address"
    assert found["excluded_answers"][0]["n_names"] == 200
    assert "excluded 1,502 answers of 200 names from one address: " in result.stderr
    assert "--include-suspicious" in result.stderr
    expected = before.update(plurank.Comparisons.from_arrays(
        [answer.user for answer in honest], [answer.winner for answer in honest], [answer.loser for answer in honest]
    ))  # fmt: skip
    learned = plurank.load(model_file)
    assert (learned.scores_ == expected.scores_).all(), "as if the invented people had not been there"
    assert not any("invented" in user for user in learned.users_)


def test_suspicious_answers_are_included_on_request_even_later(open_client, model_file, database):
    stuff(open_client(model_file), 300, 20)
    assert "No new answers" in run("update", model_file, "--feedback", database).stdout
    said = r"excluded 300 answers of 20 names from one address: .*include_suspicious"
    with pytest.warns(SkippedWarning, match=said), pytest.raises(DataError, match="no answers but those"):
        plurank.read_feedback(database)
    assert len(plurank.read_feedback(database, include_suspicious=True)) == 300
    other = model_file.with_name("other.plurank")
    other.write_bytes(model_file.read_bytes())
    included = run("update", model_file, "--feedback", database, "--include-suspicious", "--json")
    assert json.loads(included.stdout)["n_comparisons"] == 300
    assert json.loads(included.stdout)["excluded"] == []
    assert "No new answers" in run("update", other, "--feedback", database).stdout, "it was not asked to"
    assert "No new answers" in run("update", model_file, "--feedback", database).stdout


def test_an_export_has_the_answers_that_count(open_client, model, database, tmp_path):
    client = open_client(model)
    stuff(client, 60, 20)
    store = FeedbackStore(database)
    store.add(visitor("honest", 12, 2.0, address="home"))
    store.close()
    result = run("convert", database, "-o", tmp_path / "votes.csv")
    assert "excluded 60 answers of 20 names" in result.stderr
    assert len(plurank.read_comparisons(tmp_path / "votes.csv")) == 12
    run("convert", database, "-o", tmp_path / "all.csv", "--include-suspicious")
    assert len(plurank.read_comparisons(tmp_path / "all.csv")) == 72


def test_a_household_an_office_and_people_in_a_hurry_are_not_suspicious(find):
    office = [visitor(f"colleague {n}", 16, 1.5 + n / 10, begin=4.0 * n) for n in range(25)]
    hurried = visitor("hurried", 200, 0.5, address="train", pairs=[(f"i{n}", f"j{n}") for n in range(200)])
    family = [visitor(f"child {n}", 5, 3.0, address="tablet", begin=60.0 * n) for n in range(8)]
    shared = [[replace(answer, visitor="tablet", first_seen=at(0)) for answer in own] for own in family]
    assert find(*office, hurried, *shared) == []


def test_a_hall_full_of_people_who_open_the_page_at_once_is_not_suspicious(find):
    hall = [visitor(f"phone {n}", 12, 3.0 + n / 50, begin=0.5 * n, address="hall") for n in range(120)]
    assert find(*hall) == []


def test_answers_that_waited_for_the_service_and_come_at_once_are_not_suspicious(find):
    waited = visitor("patient", 20, 3.0)
    late = [replace(answer, received=at(100)) for answer in waited]
    assert find(late) == []


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([visitor("a", 4, 5.0, pairs=PAIRS[:1])], "the same pair 4 times by one name"),
        ([visitor("a", 2, 9.0, user=f"name {n}", begin=30.0 * n) for n in range(11)], "11 names"),
        ([visitor("a", 60, 0.1, pairs=[(f"i{n}", f"j{n}") for n in range(60)])], "faster than one answer in 0.35 s"),
        ([visitor(f"b{n}", 2, 5.0, begin=n) for n in range(31)], "31 new browsers within 60 s"),
        ([visitor(f"b{n}", 12, 0.5, begin=70.0 * (n % 2)) for n in range(50)], "answers within 10 s"),
    ],
)
def test_what_nobody_does_is_suspicious(find, answers, reason):
    numbered = [[replace(answer, id=f"{n} {answer.id}") for answer in own] for n, own in enumerate(answers)]
    (group,) = find(*numbered, visitor("other", 10, 2.0, address="elsewhere"))
    assert any(reason in said for said in group.reasons), group.reasons
    assert len(group.answers) == sum(map(len, answers)), "the other address is not concerned"


def test_a_cookie_is_issued_once_and_cannot_be_made_up(open_client, model, database):
    client = open_client(model)
    issued = client.get("/").headers["set-cookie"]
    assert all(part in issued for part in ("HttpOnly", "SameSite=Lax", "Path=/", f"{COOKIE}="))
    assert "set-cookie" not in client.get("/").headers
    kept = {"user": "v", "winner": "tea", "loser": "cola"}
    assert "set-cookie" not in client.post("/feedback", json={"id": "1", **kept}).headers
    client.cookies.clear()
    forged = f"{COOKIE}={'a' * 24}.1.{'b' * 32}"
    assert "set-cookie" in client.post("/feedback", json={"id": "2", **kept}, headers={"cookie": forged}).headers
    with sqlite3.connect(database) as opened:
        rows = opened.execute("select visitor, first_seen, address from plurank_feedback order by id").fetchall()
    opened.close()
    assert len(rows[0][0]) == 24
    assert rows[0][0] in issued
    assert rows[1][:2] == (None, None)
    assert rows[0][2] == rows[1][2], "one address"


def test_addresses_are_hashed_with_a_key_of_the_service(open_client, model, database):
    client = open_client(model)
    client.post("/feedback", json={"id": "1", "user": "v", "winner": "tea", "loser": "cola"})
    assert b"testclient" not in database.read_bytes(), "that is what this client's address is called"
    one, other = VisitorCookies("secret", is_framed=False), VisitorCookies("another", is_framed=False)
    assert one.identify(b"", "10.0.0.7").address != other.identify(b"", "10.0.0.7").address
    assert one.identify(b"", "10.0.0.7").address != one.identify(b"", "10.0.0.8").address
    assert "SameSite=None; Secure; Partitioned" in VisitorCookies("secret", is_framed=True).issue().decode()


OLD = """CREATE TABLE plurank_feedback (id VARCHAR(64) NOT NULL PRIMARY KEY, "user" TEXT NOT NULL, winner TEXT NOT NULL,
loser TEXT NOT NULL, received TEXT NOT NULL, model TEXT NOT NULL, batch VARCHAR(16))"""


def make_old(execute):
    """Make a database as 0.1.0 did, with one answer that is in a batch and one that is not."""
    execute(OLD)
    for n, batch in ((1, "NULL"), (2, "'0123456789abcdef'")):
        said = """'"ann"', '"tea"', '"cola"'"""
        received = "'2026-11-01T00:00:00+00:00'"
        execute(f"INSERT INTO plurank_feedback VALUES ('old {n}', {said}, {received}, '', {batch})")


def test_databases_of_earlier_versions_keep_working(open_client, model_file, database):
    with sqlite3.connect(database) as old:
        make_old(old.execute)
    old.close()
    assert len(plurank.read_feedback(database)) == 2
    client = open_client(model_file)
    kept = {"id": "new", "user": "ann", "winner": "tea", "loser": "milk"}
    assert client.post("/feedback", json=kept).status_code == 201
    assert client.post("/feedback", json={**kept, "withdrawn": True}).json()["outcome"] == "withdrawn"
    assert "Added 2 comparisons" in run("update", model_file, "--feedback", database).stdout
    assert "No new answers" in run("update", model_file, "--feedback", database).stdout

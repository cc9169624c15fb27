"""The service follows the file of its model."""

import os
import threading

import pytest

import plurank
from plurank.web.holder import Holder
from plurank.web.served import Served


@pytest.fixture
def other(drinkers):
    return plurank.MixedRanking(1, init="random", concentration=1.0, score_scale=1.0, random_state=0).fit(drinkers)


def test_a_new_model_is_served_without_a_restart(model_file, other, open_client, monkeypatch):
    monkeypatch.setattr("plurank.web.holder.EVERY_SECOND", 0.01)
    client = open_client(model_file)
    before = client.post("/rank", json={}).json()
    assert client.get("/health").json()["model"]["n_rankings"] == 2
    other.save(model_file)
    while client.get("/health").json()["model"]["n_rankings"] == 2:
        pass  # the thread that looks needs a moment
    assert client.post("/rank", json={}).json() != before, "what was remembered was of the old model"


def test_the_first_question_was_made_before_anybody_asks(model_file, monkeypatch):
    asked = []
    monkeypatch.setattr(Served, "next_pair", lambda _, *given: asked.append(given))
    Holder(model_file)
    assert asked == [([], [])], "or the first visitor would wait for what is loaded late"


def test_a_damaged_model_is_not_served_and_the_next_good_one_is(model_file, other, caplog):
    holder = Holder(model_file)
    served, good = holder.served, model_file.read_bytes()
    model_file.write_bytes(good[:-100])
    holder.refresh()
    assert holder.served is served
    assert "going on with the old one" in caplog.text
    assert len(caplog.records) == 1
    holder.refresh()
    assert len(caplog.records) == 1, "the same file is not tried twice"
    model_file.unlink()
    holder.refresh()
    assert holder.served is served
    other.save(model_file)
    holder.refresh()
    assert holder.served.describe()["n_rankings"] == 1
    assert holder.served.fingerprint != served.fingerprint


def test_the_same_file_is_not_read_again(model_file, monkeypatch):
    holder, reads = Holder(model_file), []
    monkeypatch.setattr("plurank.web.holder.read", reads.append)  # an error would be logged, and go unnoticed
    holder.refresh()
    assert not reads


def test_a_worker_does_not_outlive_who_started_it(model, monkeypatch):
    ended = threading.Event()
    monkeypatch.setattr("plurank.web.holder.EVERY_SECOND", 0.01)
    monkeypatch.setattr("os.kill", lambda process, number: ended.set())
    holder = Holder(model, parent=os.getppid())
    holder.start()
    assert not ended.wait(0.1)
    holder.stop()
    holder = Holder(model, parent=os.getppid() + 1)  # as if it had ended and another process cared for us
    holder.start()
    assert ended.wait(60)
    holder.stop()

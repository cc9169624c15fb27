"""The service reloads its model when the file changes, and computes in a bounded number of threads."""

import asyncio
import os
import threading

import pytest

import plurank
from plurank.web.responses import RequestError
from plurank.web.runtime import ModelWatcher, WorkerThreads
from plurank.web.service import ModelService


@pytest.fixture
def other(drinkers):
    return plurank.MixedRanking(1, init="random", concentration=1.0, score_scale=1.0, random_state=0).fit(drinkers)


def test_a_new_model_is_served_without_a_restart(model_file, other, open_client, monkeypatch):
    monkeypatch.setattr("plurank.web.runtime.RELOAD_SECONDS", 0.01)
    client = open_client(model_file)
    before = client.post("/rank", json={}).json()
    assert client.get("/health").json()["model"]["n_rankings"] == 2
    other.save(model_file)
    while client.get("/health").json()["model"]["n_rankings"] == 2:
        pass  # the thread that looks needs a moment
    assert client.post("/rank", json={}).json() != before, "what was remembered was of the old model"


def test_the_first_question_was_made_before_anybody_asks(model_file, monkeypatch):
    asked = []
    monkeypatch.setattr(ModelService, "next_pair", lambda _, *given: asked.append(given))
    ModelWatcher(model_file)
    assert asked == [([], [])], "or the first visitor would wait for what is loaded late"


def test_a_damaged_model_is_not_served_and_the_next_good_one_is(model_file, other, caplog):
    watcher = ModelWatcher(model_file)
    served, good = watcher.current, model_file.read_bytes()
    model_file.write_bytes(good[:-100])
    watcher.reload_if_changed()
    assert watcher.current is served
    assert "still serving the old model" in caplog.text
    assert len(caplog.records) == 1
    watcher.reload_if_changed()
    assert len(caplog.records) == 1, "the same file is not tried twice"
    model_file.unlink()
    watcher.reload_if_changed()
    assert watcher.current is served
    other.save(model_file)
    watcher.reload_if_changed()
    assert watcher.current.describe()["n_rankings"] == 1
    assert watcher.current.fingerprint != served.fingerprint


def test_the_same_file_is_not_read_again(model_file, monkeypatch):
    watcher, reads = ModelWatcher(model_file), []
    monkeypatch.setattr("plurank.web.runtime.load_service", reads.append)  # an error would be logged, and go unnoticed
    watcher.reload_if_changed()
    assert not reads


def test_a_worker_does_not_outlive_who_started_it(model, monkeypatch):
    ended = threading.Event()
    monkeypatch.setattr("plurank.web.runtime.RELOAD_SECONDS", 0.01)
    monkeypatch.setattr("os.kill", lambda process, number: ended.set())
    watcher = ModelWatcher(model, parent=os.getppid())
    watcher.start()
    assert not ended.wait(0.1)
    watcher.stop()
    watcher = ModelWatcher(model, parent=os.getppid() + 1)  # as if it had ended and another process cared for us
    watcher.start()
    assert ended.wait(60)
    watcher.stop()


def test_too_many_waiting_calls_are_a_503():
    async def ask_five_times():
        threads, go_on = WorkerThreads(2, max_pending=3), threading.Event()
        asked = [asyncio.create_task(threads.run(go_on.wait, 30)) for _ in range(5)]
        await asyncio.sleep(0)
        go_on.set()
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert await threads.run(lambda: "free again") == "free again"
        return answers

    *answered, fourth, fifth = asyncio.run(ask_five_times())
    assert answered == [True] * 3
    for error in (fourth, fifth):
        assert isinstance(error, RequestError)
        assert (error.status, error.headers) == (503, {"retry-after": "5"})


def test_a_call_that_fails_no_longer_waits():
    async def fail_often():
        threads = WorkerThreads(1, max_pending=2)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await threads.run(lambda: 1 // 0)
        return threads.n_pending

    assert asyncio.run(fail_often()) == 0


def test_no_more_calls_run_at_a_time_than_there_are_threads():
    running, most, lock = set(), [], threading.Lock()

    def work(n):
        with lock:
            running.add(n)
            most.append(len(running))
        threading.Event().wait(0.01)
        with lock:
            running.discard(n)

    async def ask():
        threads = WorkerThreads(2, max_pending=20)
        await asyncio.gather(*(threads.run(work, n) for n in range(12)))

    asyncio.run(ask())
    assert max(most) == 2

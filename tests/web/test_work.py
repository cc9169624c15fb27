"""Where a worker computes: beside the network, and not more at once than anybody would wait for."""

import asyncio
import threading

import pytest

from plurank.web import work
from plurank.web.refusals import Refusal


def test_whoever_would_wait_behind_too_many_others_is_told_to_come_later(monkeypatch):
    monkeypatch.setattr(work, "MOST_WAITING", 3)

    async def ask_five_times():
        computer, go_on = work.Computer(), threading.Event()
        asked = [asyncio.create_task(computer.run(go_on.wait, 30)) for _ in range(5)]
        await asyncio.sleep(0)
        go_on.set()
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert await computer.run(lambda: "free again") == "free again"
        computer.close()
        return answers

    *answered, fourth, fifth = asyncio.run(ask_five_times())
    assert answered == [True] * 3
    for refusal in (fourth, fifth):
        assert isinstance(refusal, Refusal)
        assert (refusal.status, refusal.headers) == (503, {"retry-after": "5"})


def test_a_computation_that_fails_no_longer_waits():
    async def fail_often():
        computer = work.Computer()
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await computer.run(lambda: 1 // 0)
        computer.close()
        return computer.n_waiting

    assert asyncio.run(fail_often()) == 0

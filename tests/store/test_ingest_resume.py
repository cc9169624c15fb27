"""An ingest that was killed, wherever it was, goes on and ends with the store it would have made."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import plurank
from plurank import DataError, open_store
from plurank.store import runs as ingest_reading
from plurank.store.batches import Budget
from tests.store.ingesting import build, content

SMALL = Budget(data_bytes=10**9, text_bytes=100, batch_rows=9, shard_rows=10)


class KilledError(BaseException):
    """Nothing is done after it, not even tidying up."""


@pytest.fixture
def kill_at(monkeypatch):
    """Die before the n-th change of the file system; gives the number of changes so far."""
    real = {
        (place, name): getattr(place, name) for place, name in ((os, "replace"), (shutil, "rmtree"), (Path, "unlink"))
    }
    state = {"n": 0, "last": None}

    def watched(work):
        def work_or_die(*args, **options):
            state["n"] += 1
            if state["last"] is not None and state["n"] > state["last"]:
                raise KilledError
            return work(*args, **options)

        return work_or_die

    for (place, name), work in real.items():
        monkeypatch.setattr(place, name, watched(work))

    def set_last(last):
        state.update(n=0, last=last)
        return state

    return set_last


@pytest.fixture
def inputs(tmp_path):
    """Two files, the second of which tells that ids are text after all, and what its winners mean at its end."""
    (tmp_path / "1.csv").write_text("user,winner,loser\n" + "".join(f"{n % 11},a,b\n" for n in range(14)))
    sides = [*[("9", "right", "left", "left")] * 5, ("x", "right", "c", "c")]
    frame = pl.DataFrame(sides, schema=["user", "left", "right", "winner"], orient="row")
    frame.write_csv(tmp_path / "2.csv")
    return [tmp_path / "1.csv", tmp_path / "2.csv"]


def test_an_ingest_killed_anywhere_goes_on_and_ends_with_the_same_store(inputs, tmp_path, kill_at):
    kill_and_go_on(inputs, tmp_path, kill_at, step=7)  # tests/long has every place


def kill_and_go_on(inputs, tmp_path, kill_at, step, **options):
    """Kill an ingest before every so many changes of the file system, and before each of the last six."""
    state = kill_at(None)
    build(inputs, tmp_path / "expected", budget=SMALL, **options)
    n_changes, expected = state["n"], content(tmp_path / "expected")
    assert n_changes > 40
    for last in (*range(0, n_changes - 6, step), *range(n_changes - 6, n_changes)):
        kill_at(last)
        with pytest.raises(KilledError):
            build(inputs, tmp_path / "store", budget=SMALL, **options)
        kill_at(None)
        is_done = (tmp_path / "store").exists() and not (tmp_path / "store.part").exists()
        build(inputs, tmp_path / "store", budget=SMALL, overwrite=is_done, **options)
        assert content(tmp_path / "store") == expected, last
        assert sorted(path.name for path in tmp_path.iterdir()) == ["1.csv", "2.csv", "expected", "store"], last
        shutil.rmtree(tmp_path / "store")
    assert is_done


def test_a_store_being_replaced_is_never_half_of_each(inputs, tmp_path, kill_at):
    build(inputs[0], tmp_path / "old", budget=SMALL)
    state = kill_at(None)
    build(inputs, tmp_path / "expected", budget=SMALL)
    n_changes, expected = state["n"], content(tmp_path / "expected")
    for last in range(n_changes - 6, n_changes + 2):
        shutil.rmtree(tmp_path / "store", ignore_errors=True)
        shutil.copytree(tmp_path / "old", tmp_path / "store")
        kill_at(last)
        with pytest.raises(KilledError):
            build(inputs, tmp_path / "store", budget=SMALL, overwrite=True)
        kill_at(None)
        if (tmp_path / "store").exists():
            assert content(tmp_path / "store") in (content(tmp_path / "old"), expected)
        build(inputs, tmp_path / "store", budget=SMALL, overwrite=True)
        assert content(tmp_path / "store") == expected


def test_what_was_read_is_not_read_again(inputs, tmp_path, monkeypatch):
    numbers = []
    write_run = ingest_reading.write_run

    def write_some(folder, *args, **options):
        numbers.append(int(folder.name))
        if len(numbers) == 2:
            raise KilledError
        return write_run(folder, *args, **options)

    monkeypatch.setattr(ingest_reading, "write_run", write_some)
    with pytest.raises(KilledError):
        build(inputs, tmp_path / "store", budget=SMALL)
    store = build(inputs, tmp_path / "store", budget=SMALL)
    assert numbers == [0, 1, 1, 2]
    assert len(store) == 20


def stop_at_sorting(stage, done):
    if stage == "sorting users":
        raise KeyboardInterrupt


def test_after_an_interrupt_while_sorting_nothing_is_read_again(inputs, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        build(inputs, tmp_path / "store", budget=SMALL, on_progress=stop_at_sorting)
    with pytest.raises(DataError, match="unfinished"):
        open_store(tmp_path / "store.part")
    told = []
    build(inputs, tmp_path / "store", budget=SMALL, on_progress=lambda stage, done: told.append(stage))
    assert set(told) == {"sorting users"}


def test_an_input_that_changed_means_starting_over(inputs, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        build(inputs, tmp_path / "store", budget=SMALL, on_progress=stop_at_sorting)
    inputs[0].write_text("user,winner,loser\nu,a,b\n")
    with pytest.warns(UserWarning, match=r"1\.csv has changed since the interrupted ingest; discarding store\.part\.$"):
        store = build(inputs, tmp_path / "store", budget=SMALL)
    assert len(store) == 7


@pytest.mark.parametrize(
    ("change", "sentence"),
    [({"ties": "drop"}, "the options have changed"), ({}, "the inputs have changed")],
)
def test_other_options_or_inputs_mean_starting_over(change, sentence, inputs, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        build(inputs, tmp_path / "store", budget=SMALL, on_progress=stop_at_sorting)
    with pytest.warns(UserWarning, match=sentence):
        store = build(inputs if change else inputs[:1], tmp_path / "store", budget=SMALL, **change)
    assert len(store) == (20 if change else 14)


def test_other_memory_goes_on_with_what_is_there(inputs, tmp_path, assert_same):
    with pytest.raises(KeyboardInterrupt):
        build(inputs, tmp_path / "store", budget=SMALL, on_progress=stop_at_sorting)
    told = []
    larger = Budget(data_bytes=10**9, text_bytes=10**6, batch_rows=10**6, shard_rows=10**6)
    store = build(inputs, tmp_path / "store", budget=larger, on_progress=lambda stage, done: told.append(stage))
    assert set(told) == {"sorting users"}
    expected = build(inputs, tmp_path / "expected", budget=larger)
    assert_same(store.to_comparisons(), expected.to_comparisons())


def test_an_input_that_changes_while_it_is_read_is_refused(inputs, tmp_path):
    def append(stage, done):
        with inputs[0].open("a") as file:
            file.write("late,a,b\n")

    with pytest.raises(DataError, match=r"1\.csv has changed while it was read\. Run again when it is complete\.$"):
        build(inputs, tmp_path / "store", budget=SMALL, on_progress=append)
    assert not (tmp_path / "store.part").exists()


PROGRAM = """
import os, signal, sys
from tests.store.ingesting import build
from plurank.store.batches import Budget
last, replace, n = int(sys.argv[1]), os.replace, 0
def replace_or_die(*args):
    global n
    n += 1
    if n > last:
        os.kill(os.getpid(), signal.SIGKILL)
    replace(*args)
os.replace = replace_or_die
build(sys.argv[3:], sys.argv[2], budget=Budget(10**9, 100, 9, 10))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is a POSIX signal")
@pytest.mark.parametrize("last", [4, 20, 36])
def test_a_process_that_was_killed_leaves_what_the_next_one_goes_on_with(inputs, tmp_path, last):
    command = [sys.executable, "-c", PROGRAM, str(last), str(tmp_path / "store"), *map(str, inputs)]
    killed = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (tmp_path / "store").exists()
    store = build(inputs, tmp_path / "store", budget=SMALL)
    expected = build(inputs, tmp_path / "expected", budget=SMALL)
    assert content(store.path) == content(expected.path)


def test_two_ingests_do_not_write_the_same_store(inputs, tmp_path):
    seen = []

    def disturb(*_):
        if not seen:
            seen.append(True)
            with pytest.raises(DataError, match="another ingest is writing"):
                plurank.ingest(inputs, tmp_path / "x.store")

    plurank.ingest(inputs, tmp_path / "x.store", on_progress=disturb)
    assert seen
    assert not list(tmp_path.glob(".*lock"))


def test_a_glob_does_not_mean_the_store_that_is_being_made(inputs, tmp_path):
    first = plurank.ingest(str(tmp_path / "**" / "*"), tmp_path / "x.store")
    again = plurank.ingest(str(tmp_path / "**" / "*"), tmp_path / "x.store", overwrite=True)
    assert len(first) == len(again)


def test_an_ingest_of_ballots_killed_anywhere_goes_on_and_ends_with_the_same_store(tmp_path, kill_at):
    (tmp_path / "1.csv").write_text("user,item,rank\n" + "".join(f"{n % 7},{n % 3},{n % 2}\n" for n in range(21)))
    (tmp_path / "2.csv").write_text("user,item,rank\n" + "".join(f"x{n},{n % 3},\n{n},x,{n}\n" for n in range(8)))
    kill_and_go_on([tmp_path / "1.csv", tmp_path / "2.csv"], tmp_path, kill_at, step=11, offered="all")

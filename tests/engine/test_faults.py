"""Killed workers, lost schedulers, stopped and killed fits."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import plurank
from plurank import DataError, EngineError, ParameterError
from plurank.mixed.checkpoint import clear_checkpoint
from plurank.mixed.users import WeightFiles
from tests.contracts.equality import assert_same_model


def make(**parameters):
    return plurank.MixedRanking(3, mixing="utility", random_state=0, tol=1e-9, max_iter=14, **parameters)


@pytest.fixture(scope="module")
def whole(stored):
    with pytest.warns(plurank.ConvergenceWarning):
        return make().fit(stored[1])


class Stop(Exception):
    """Raised by a test in the middle of a fit."""


def at_pass(n, action):
    """Progress that does something once, when n of 14 passes are done."""
    done = []

    def on_progress(stage, share):
        if stage == "fitting rankings and weights" and share >= n / 14 and not done:
            done.append(True)
            action()

    return on_progress


def stop():
    raise Stop


@pytest.mark.filterwarnings("ignore::plurank.ConvergenceWarning")
@pytest.mark.parametrize("n_passes", [2, 3, 7, 13])
def test_a_fit_that_was_stopped_goes_on_to_the_same_answer(n_passes, stored, whole, tmp_path):
    store, _ = stored
    with pytest.raises(Stop):
        make().fit(store, checkpoint=tmp_path / "fit", on_progress=at_pass(n_passes, stop))
    resumed = make().fit(store, checkpoint=tmp_path / "fit", resume=True)
    assert_same_model(whole, resumed, apart_from=["data_"])
    clear_checkpoint(tmp_path / "fit")
    assert not (tmp_path / "fit").exists()


def test_a_fit_that_goes_on_never_writes_over_the_weights_it_goes_on_from(tmp_path):
    files = WeightFiles(tmp_path)
    files.resume(7)
    assert files.new_version() > 7


@pytest.mark.filterwarnings("ignore::plurank.ConvergenceWarning")
def test_a_resumed_fit_does_not_begin_again(stored, tmp_path):
    store, _ = stored
    with pytest.raises(Stop):
        make().fit(store, checkpoint=tmp_path, on_progress=at_pass(8, stop))
    stages = set()
    make().fit(store, checkpoint=tmp_path, resume=True, on_progress=lambda stage, _: stages.add(stage))
    assert stages == {"fitting rankings and weights"}


def test_a_fit_that_was_stopped_is_not_lost_by_mistake(stored, tmp_path):
    store, _ = stored
    with pytest.raises(Stop):
        make().fit(store, checkpoint=tmp_path, on_progress=at_pass(8, stop))
    with pytest.raises(ParameterError, match="already contains a fit"):
        make().fit(store, checkpoint=tmp_path)
    with pytest.raises(ParameterError, match="belongs to another fit: mixing was"):
        plurank.MixedRanking(3, mixing="probability", random_state=0, tol=1e-9).fit(
            store, checkpoint=tmp_path, resume=True
        )
    assert (tmp_path / "checkpoint.npz").exists()
    with pytest.raises(ParameterError, match="resume=True requires checkpoint, the folder"):
        make().fit(store, resume=True)


@pytest.mark.filterwarnings("ignore::plurank.ConvergenceWarning")
def test_what_others_keep_in_the_folder_of_checkpoints_stays(stored, tmp_path):
    store, _ = stored
    (tmp_path / "202401").mkdir()
    (tmp_path / "202401" / "precious.csv").write_text("a")
    make().fit(store, checkpoint=tmp_path)
    clear_checkpoint(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["202401"]
    assert (tmp_path / "202401" / "precious.csv").exists()
    with pytest.raises(ParameterError, match="outside of any store"):
        make().fit(store, checkpoint=store.path / "shards")
    store.to_comparisons()


def test_two_fits_do_not_share_a_folder(stored, tmp_path):
    store, _ = stored
    seen = []

    def disturb():
        with pytest.raises(ParameterError, match="another fit is using"):
            make().fit(store, checkpoint=tmp_path)
        seen.append(True)
        raise Stop

    with pytest.raises(Stop):
        make().fit(store, checkpoint=tmp_path, on_progress=at_pass(2, disturb))
    assert seen


@pytest.mark.parametrize(
    ("checkpoint", "message"), [(5, "must be the path of a folder"), (__file__, "must be a folder that can be written")]
)
def test_folders_that_cannot_be_are_refused(checkpoint, message, stored):
    with pytest.raises(ParameterError, match=message):
        make().fit(stored[0], checkpoint=checkpoint)


def test_a_generator_cannot_be_resumed_and_is_refused(stored, tmp_path):
    rng = np.random.default_rng(0)
    with pytest.raises(ParameterError, match="got a generator"):
        plurank.MixedRanking(2, mixing="probability", random_state=rng).fit(stored[0], checkpoint=tmp_path)


def test_a_checkpoint_is_of_one_store_and_numbers_are_compared_as_numbers(stored, weighted_store, tmp_path):
    with pytest.raises(Stop):
        make(score_scale=1).fit(stored[0], checkpoint=tmp_path, on_progress=at_pass(5, stop))
    with pytest.raises(ParameterError, match="other data"):
        make(score_scale=1).fit(weighted_store[0], checkpoint=tmp_path, resume=True)
    with pytest.raises(Stop):
        make(score_scale=np.float64(1.0)).fit(stored[0], checkpoint=tmp_path, resume=True, on_progress=at_pass(7, stop))


def test_a_damaged_checkpoint_is_refused(stored, tmp_path):
    store, _ = stored
    with pytest.raises(Stop):
        make().fit(store, checkpoint=tmp_path, on_progress=at_pass(8, stop))
    file = tmp_path / "checkpoint.npz"
    content = file.read_bytes()
    for broken in (content[: len(content) // 2], b"", b"not a checkpoint", content[:-100] + bytes(100)):
        file.write_bytes(broken)
        with pytest.raises(DataError, match="no checkpoint, or is damaged"):
            make().fit(store, checkpoint=tmp_path, resume=True)
    with np.load(io.BytesIO(content)) as whole_arrays:
        np.savez(file, **{**whole_arrays, "about": np.array("{")})
    with pytest.raises(DataError, match="no checkpoint, or is damaged"):
        make().fit(store, checkpoint=tmp_path, resume=True)
    file.write_bytes(content)
    weights = next(path for path in tmp_path.glob("plurank-weights-*/weights-*.npy")).read_bytes()
    for broken in (weights[:50], b"\x93NUMPY\x01\x00\x0a\x00{'descr': "):  # the other is no Python, to numpy's surprise
        for path in tmp_path.glob("plurank-weights-*/weights-*.npy"):
            path.write_bytes(broken)
        with pytest.raises(DataError, match="missing or damaged"):
            make().fit(store, checkpoint=tmp_path, resume=True)


@pytest.mark.filterwarnings("ignore::plurank.ConvergenceWarning")
def test_a_fit_that_was_killed_goes_on_to_the_same_answer(stored, whole, tmp_path):
    store, _ = stored
    program = f"""
        import os, signal, plurank
        from tests.engine.test_faults import at_pass, make
        make().fit(
            plurank.open_store({str(store.path)!r}), checkpoint={str(tmp_path)!r},
            on_progress=at_pass(9, lambda: os.kill(os.getpid(), signal.SIGKILL)),
        )
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert_same_model(whole, make().fit(store, checkpoint=tmp_path, resume=True), apart_from=["data_"])


@pytest.mark.filterwarnings("ignore::plurank.ConvergenceWarning")
def test_a_killed_worker_changes_nothing(stored, whole, cluster):
    store, _ = stored
    pids = [worker.pid for worker in cluster.workers.values()]
    killed = at_pass(5, lambda: os.kill(pids[0], signal.SIGKILL))
    assert_same_model(
        whole,
        make().fit(store, engine="dask", scheduler=cluster.scheduler_address, on_progress=killed),
        apart_from=["data_"],
    )


def test_an_address_where_nobody_answers_gives_a_sentence(stored, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("plurank.engine.dask.TIMEOUT", 1)
    with pytest.raises(EngineError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        make().fit(stored[0], engine="dask", scheduler="tcp://127.0.0.1:1")


def test_what_is_no_scheduler_is_refused(stored):
    pytest.importorskip("distributed")
    with pytest.raises(ParameterError, match="address or a client"):
        make().fit(stored[0], engine="dask", scheduler=5)


def test_a_store_changed_while_it_is_fitted_on_a_cluster_is_refused(stored, cluster, tmp_path):
    shutil.copytree(stored[0].path, tmp_path / "copy")
    store = plurank.open_store(tmp_path / "copy")

    def replace():
        shard = next((tmp_path / "copy" / "shards").iterdir())
        shutil.copy(shard / "losers.npy", shard / "winners.npy")

    with pytest.raises(DataError, match="is damaged"):
        make().fit(store, engine="dask", scheduler=cluster.scheduler_address, on_progress=at_pass(3, replace))


@pytest.fixture
def own_scheduler(tmp_path):
    """A scheduler and a worker, each a process of its own: the address, and the scheduler's process."""
    pytest.importorskip("distributed")
    file, dask = tmp_path / "scheduler.json", [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    common = ["--scheduler-file", str(file)]
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*dask, "scheduler", *common, *options], **quiet)
    worker = subprocess.Popen(
        [*dask, "worker", *common, "--nthreads", "1", "--no-nanny", "--no-dashboard"],
        **quiet,
    )  # fmt: skip
    for _ in range(300):
        if file.exists() and file.stat().st_size:
            break
        time.sleep(0.1)
    yield json.loads(file.read_text())["address"], scheduler
    for process in (worker, scheduler):
        process.kill()
        process.wait()


@pytest.mark.filterwarnings("ignore")
def test_a_lost_scheduler_gives_a_sentence_and_the_fit_goes_on_elsewhere(stored, whole, own_scheduler, tmp_path):
    store, _ = stored
    address, scheduler = own_scheduler
    lost = at_pass(8, scheduler.kill)
    with pytest.raises(EngineError, match="connection to the Dask scheduler was lost"):
        make().fit(store, engine="dask", scheduler=address, checkpoint=tmp_path / "fit", on_progress=lost)
    assert_same_model(whole, make().fit(store, checkpoint=tmp_path / "fit", resume=True), apart_from=["data_"])


def test_a_store_that_is_damaged_stops_a_fit_on_a_cluster_with_the_name_of_the_file(stored, cluster, tmp_path):
    shutil.copytree(stored[0].path, tmp_path / "copy")
    winners = next((tmp_path / "copy").glob("shards/*/winners.npy"))
    content = bytearray(winners.read_bytes())
    content[-1] ^= 1
    winners.write_bytes(bytes(content))
    broken = plurank.open_store(tmp_path / "copy")
    with pytest.raises(DataError, match=r"winners\.npy is damaged"):
        make().fit(broken, engine="dask", scheduler=cluster.scheduler_address)

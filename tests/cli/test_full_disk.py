"""A disk that is really full, a file system of 2 MB: a sentence, and no half of a file."""

import os
import shutil
import subprocess
import sys

import pytest

import plurank
from plurank.web.database import FeedbackStore, FeedbackUnavailable, GivenAnswer


@pytest.fixture
def disk(tmp_path):
    """A small file system of its own."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root on Linux can mount a small file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def full(disk):
    """The file system with two pages left."""
    (disk / "ballast").write_bytes(bytes(shutil.disk_usage(disk).free - 8192))
    return disk


def check_refused(run, full, *args):
    before = sorted(path.name for path in full.iterdir())
    sentence = run(*args, code=2).stderr.strip().splitlines()[-1]
    assert "No space left on device" in sentence
    assert sorted(path.name for path in full.iterdir()) == before


@pytest.fixture
def votes(tmp_path):
    """A file of many people, whose model does not fit."""
    file = tmp_path / "votes.csv"
    plurank.simulate(2000, 8, 2, 5, random_state=0, mean_weights=[0.6, 0.4]).comparisons.to_frame().write_csv(file)
    return file


def test_a_model_that_does_not_fit_leaves_nothing(full, votes, run):
    check_refused(run, full, "fit", votes, "-k", 2, "--method", "topic", "-o", full / "model.plurank")


def test_a_model_that_does_not_fit_leaves_the_old_one(full, votes):
    model = plurank.TopicRanking(1, random_state=0).fit(plurank.read_comparisons(votes))
    small = plurank.SingleRanking().fit(plurank.simulate(5, 4, 1, 3, random_state=0).comparisons)
    small.save(full / "model.plurank")
    old = (full / "model.plurank").read_bytes()
    with pytest.raises(OSError, match="No space left"):
        model.save(full / "model.plurank")
    assert (full / "model.plurank").read_bytes() == old
    assert sorted(path.name for path in full.iterdir()) == ["ballast", "model.plurank"]


def test_tables_and_pages_that_do_not_fit_leave_nothing(full, votes, run, mixed_file):
    check_refused(run, full, "report", mixed_file, "-o", full / "report.html")
    check_refused(run, full, "simulate", "--users", 3000, "--items", 9, "-k", 2, "-o", full / "votes.csv")
    check_refused(run, full, "simulate", "--users", 3000, "--items", 9, "-k", 2, "-o", full / "votes.parquet")


def test_an_ingest_that_does_not_fit_goes_on_when_there_is_room(full, votes, run):
    sentence = run("ingest", votes, "-o", full / "x.store", code=2).stderr
    assert "o space left on device" in sentence
    assert not (full / "x.store").exists()
    (full / "ballast").unlink()
    run("ingest", votes, "-o", full / "x.store")
    assert len(plurank.open_store(full / "x.store").to_comparisons()) == 10_000


def test_answers_that_do_not_fit_are_not_acknowledged_and_the_rest_is_kept(disk):
    store, stored = FeedbackStore(str(disk / "answers.db"), create=True), []
    with pytest.raises(FeedbackUnavailable, match="full"):
        keep_until_full(store, stored)
    store.close()
    assert len(stored) > 1000
    assert len(plurank.read_feedback(disk / "answers.db")) == len(stored)


def keep_until_full(store, stored):
    for n in range(10_000):
        answers = [GivenAnswer(f"{n} {at}", "somebody" * 20, "a", "b") for at in range(50)]
        assert set(store.add(answers)) == {"stored"}
        stored += answers

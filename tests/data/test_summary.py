"""What a model remembers of its data."""

import json
import zipfile

import numpy as np
import pytest

import plurank
from plurank import DataError
from tests.models.archives import rezip


@pytest.fixture(scope="module")
def people():
    return plurank.simulate(60, 6, 2, 20, random_state=0).comparisons


@pytest.fixture(scope="module")
def model(people):
    return plurank.MixedRanking(2, mixing="probability", random_state=0, max_iter=50).fit(people)


@pytest.fixture
def content(model, tmp_path):
    model.save(tmp_path / "whole.plurank")
    return (tmp_path / "whole.plurank").read_bytes()


@pytest.mark.parametrize(
    "make",
    [
        lambda: plurank.TopicRanking(2, random_state=0), plurank.SingleRanking, lambda: plurank.FJS(2),
        lambda: plurank.ClusteredRanking(2, n_starts=1, random_state=0), lambda: plurank.PairTopics(2, random_state=0),
    ],
)  # fmt: skip
def test_every_model_remembers_its_data_and_saves_that(make, people, tmp_path):
    fitted = make().fit(people)
    report = people.diagnose()
    assert fitted.data_ == people.summary()
    assert fitted.data_["problems"] == report.problems
    assert fitted.data_["median_per_user"] == report.median_per_user
    fitted.save(tmp_path / "model.plurank")
    assert plurank.load(tmp_path / "model.plurank").data_ == fitted.data_


def test_long_lists_of_items_are_cut():
    users, winners = np.zeros(50, int), [f"item {n}" for n in range(50)]
    c = plurank.Comparisons.from_arrays(users, winners, ["last"] * 50, items=[*winners, "last", *range(100)])
    summary = c.summary()
    assert len(summary["undefeated_items"]) == len(summary["uncompared_items"]) == 20
    assert any("50 items" in problem for problem in summary["problems"])


def test_an_update_adds_up_what_can_be_added(model, people, tmp_path):
    model.save(tmp_path / "model.plurank")
    updated = plurank.load(tmp_path / "model.plurank")
    more = plurank.Comparisons.from_arrays([1000, 1000], [0, 1], [1, 99])
    updated.update(more)
    assert updated.data_["n_comparisons"] == len(people) + 2
    assert (updated.data_["n_users"], updated.data_["n_items"]) == (61, 7)
    assert updated.data_["median_per_user"] == model.data_["median_per_user"]
    assert updated.data_["n_updates"] == 1
    assert "first fit" in updated.data_["note"]
    assert model.data_["n_updates"] == 0


def test_a_file_from_before_models_remembered_is_read(content, model, tmp_path):
    path = tmp_path / "model.plurank"
    path.write_bytes(rezip(content, describe=lambda d: d["fitted"].pop("data_")))
    assert plurank.load(path).data_ is None
    plurank.load(path).update(plurank.Comparisons.from_arrays([0], [0], [1])).save(path)
    assert plurank.load(path).data_ is None


BROKEN = {
    "no counts": lambda data: data.pop("n_users"),
    "more than was asked": lambda data: data.update(extra=1),
    "a count below zero": lambda data: data.update(n_items=-1),
    "a count that is none": lambda data: data.update(n_comparisons="many"),
    "problems in numbers": lambda data: data.update(problems=[1, 2]),
    "items that are lists": lambda data: data.update(winless_items=[["a"]]),
    "a note that is no text": lambda data: data.update(note=7),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_description_of_data_that_is_none_is_refused(kind, content, tmp_path):
    path = tmp_path / "model.plurank"
    path.write_bytes(rezip(content, describe=lambda d: BROKEN[kind](d["fitted"]["data_"])))
    with pytest.raises(DataError, match="damaged"):
        plurank.load(path)


def test_the_description_is_plain_json(content, tmp_path):
    with zipfile.ZipFile(tmp_path / "whole.plurank") as archive:
        assert json.loads(archive.read("model.json"))["fitted"]["data_"]["n_users"] == 60

"""MixedRanking on disk: every kind comes back whole, or is refused with a sentence."""

import contextlib
import io
import zipfile

import numpy as np
import pytest

import plurank
from plurank import DataError
from tests.contracts.equality import assert_same_model
from tests.mixed.kinds import KINDS, make
from tests.models.archives import is_sentence, npy, rezip


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A fitted MixedRanking of every kind, and its file's content."""
    folder = tmp_path_factory.mktemp("mixed")
    c = plurank.simulate(60, 6, 2, 20, random_state=0).comparisons
    models = {kind: make(kind).fit(c) for kind in KINDS}
    for kind, model in models.items():
        model.save(folder / kind)
    return {kind: (model, (folder / kind).read_bytes()) for kind, model in models.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_mixed_model_comes_back_whole(kind, mixed, path):
    model, content = mixed[kind]
    path.write_bytes(rezip(content))
    loaded = plurank.load(path)
    assert_same_model(loaded, model)
    assert loaded.get_params() == model.get_params()
    assert loaded.rank(3).equals(model.rank(3))
    assert loaded.leaderboard(2).equals(model.leaderboard(2))
    assert loaded.weight_intervals(3).equals(model.weight_intervals(3))


@pytest.mark.parametrize("kind", KINDS)
def test_a_mixed_file_with_a_changed_byte_is_refused_or_was_not_harmed(kind, mixed, path):
    model, content = mixed[kind]
    for at in range(3, len(content), 61):
        damaged = bytearray(content)
        damaged[at] ^= 0xFF
        path.write_bytes(damaged)
        with contextlib.suppress(DataError):
            assert_same_model(plurank.load(path), model)


@pytest.mark.parametrize("kind", KINDS)
def test_a_mixed_file_without_one_of_its_parts_is_refused(kind, mixed, path):
    content = mixed[kind][1]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
    assert {"scores_.npy", "score_errors_.npy", "user_concentration_.npy", "log_posterior_.npy"} <= set(names)
    for name in names:
        path.write_bytes(rezip(content, without=(name,)))
        with pytest.raises(DataError) as error:
            plurank.load(path)
        assert is_sentence(error)


MISFITS = {
    "scores of other items": ("probability", {"scores_.npy": npy(np.zeros((5, 2)))}, None),
    "scores that are no numbers": ("probability", {"scores_.npy": npy(np.full((6, 2), np.nan))}, None),
    "scores that contradict the rankings": ("probability", {"scores_.npy": npy(np.zeros((6, 2)))}, None),
    "correlations above one": ("probability", {"score_correlations_.npy": npy(np.full((2, 2), 2.0))}, None),
    "ratings that are a number": ("probability", None, lambda d: d["fitted"].update(from_ratings_=1)),
    "errors below zero": ("probability", {"score_errors_.npy": npy(np.full((6, 2), -1.0))}, None),
    "errors without end": ("probability", {"score_errors_.npy": npy(np.full((6, 2), np.inf))}, None),
    "errors that are no numbers": ("probability", {"score_errors_.npy": npy(np.full((6, 2), np.nan))}, None),
    "evidence of other users": ("probability", {"user_concentration_.npy": npy(np.ones(3))}, None),
    "evidence below zero": ("probability", {"user_concentration_.npy": npy(np.full(60, -1.0))}, None),
    "a spread of nothing": ("probability", None, lambda d: d["fitted"].update(score_scale_=0.0)),
    "no spread": ("probability", None, lambda d: d["fitted"].pop("score_scale_")),
    "a concentration below zero": ("probability", None, lambda d: d["fitted"].update(concentration_=-1.0)),
    "a posterior that is no number": ("probability", {"log_posterior_.npy": npy(np.array([np.nan]))}, None),
    "a table of posteriors": ("probability", {"log_posterior_.npy": npy(np.zeros((2, 2)))}, None),
    "a dispersion that is not asked for": ("probability", None, lambda d: d["fitted"].update(dispersion_=0.5)),
    "members of other items": ("ensemble", {"member_scores_.npy": npy(np.zeros((1, 5, 2)))}, None),
    "weights of fewer members": ("ensemble", {"member_weights_.npy": npy(np.full((2, 60, 2), 0.5))}, None),
    "members' weights off the simplex": ("ensemble", {"member_weights_.npy": npy(np.full((1, 60, 2), 0.7))}, None),
    "no dispersion": ("mallows", None, lambda d: d["arrays"].remove("dispersion_")),
    "a dispersion of two": ("mallows", {"dispersion_.npy": npy(np.array([0.5, 2.0]))}, None),
    "dispersions of three rankings": ("mallows", {"dispersion_.npy": npy(np.full(3, 0.5))}, None),
    "no flip probability": ("strict", None, lambda d: d["fitted"].pop("flip_probability_")),
    "a flip probability above a half": ("strict", None, lambda d: d["fitted"].update(flip_probability_=0.6)),
    "another component": ("strict", None, lambda d: d["parameters"].update(component="mallows")),
    "an unknown component": ("strict", None, lambda d: d["parameters"].update(component="plackett-luce")),
    "a component that is a list": ("strict", None, lambda d: d["parameters"].update(component=["strict"])),
    "an unknown way to mix": ("utility", None, lambda d: d["parameters"].update(mixing="both")),
    "another class": ("strict", None, lambda d: d.update({"class": "TopicRanking"})),
}


@pytest.mark.parametrize("kind", MISFITS)
def test_a_mixed_file_whose_parts_do_not_fit_is_refused(kind, mixed, path):
    which, changes, describe = MISFITS[kind]
    path.write_bytes(rezip(mixed[which][1], changes, describe))
    with pytest.raises(DataError, match="damaged") as error:
        plurank.load(path)
    assert is_sentence(error)


@pytest.mark.parametrize("value", [1e308, -1e12, np.inf])
@pytest.mark.parametrize("name", ["scores_", "score_errors_", "user_concentration_"])
def test_absurd_numbers_are_refused(name, value, mixed, path):
    model, content = mixed["probability"]
    array = getattr(model, name).copy()
    array.flat[0] = abs(value) * 2 if name != "scores_" else value
    path.write_bytes(rezip(content, {f"{name}.npy": npy(array)}))
    with pytest.raises(DataError, match="damaged") as error:
        plurank.load(path)
    assert is_sentence(error)


def test_a_file_with_a_part_that_does_not_belong_there_is_refused(mixed, path):
    path.write_bytes(rezip(mixed["probability"][1], {"../../evil.txt": b"boo"}))
    with pytest.raises(DataError, match="do not belong to a model"):
        plurank.load(path)

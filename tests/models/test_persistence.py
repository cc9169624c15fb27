"""Models on disk: whole or refused with a sentence, and never half written."""

import contextlib
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest

import plurank
from plurank import DataError, TopicRanking
from tests.contracts.equality import assert_same_model
from tests.models.archives import is_sentence, npy, rezip


@pytest.fixture(scope="module")
def model():
    labels = np.array(["a", "ß", "😀", "d", "e", "f"], dtype=object)
    s = plurank.simulate(60, 6, 2, 20, random_state=0, items=labels)
    return TopicRanking(2, random_state=0).fit(s.comparisons)


@pytest.fixture(scope="module")
def content(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "model.plurank"
    model.save(path)
    return path.read_bytes()


def header(shape, kind="<f8"):
    """An npy file that promises more than it holds."""
    part = io.BytesIO()
    np.lib.format.write_array_header_1_0(part, {"descr": kind, "fortran_order": False, "shape": shape})
    return part.getvalue() + b"12345678"


def test_the_file_is_a_zip_of_json_and_arrays_without_pickle(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        description = json.loads(archive.read("model.json"))
        for name in names:
            if name != "model.json":
                np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
    assert {"model.json", "rankings_.npy", "user_weights_.npy", "mean_weights_.npy"} <= set(names)
    assert description["format"] == "plurank-model"
    assert description["class"] == "TopicRanking"


def test_an_archive_packed_again_is_still_the_model(content, model, path):
    path.write_bytes(rezip(content))
    assert_same_model(plurank.load(path), model)


def test_a_file_cut_short_anywhere_is_refused(content, path):
    lengths = {*range(0, len(content), 37), *range(len(content) - 40, len(content))}
    for length in sorted(lengths):
        path.write_bytes(content[:length])
        with pytest.raises(DataError) as error:
            plurank.load(path)
        assert is_sentence(error)


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_a_file_with_a_changed_byte_is_refused_or_was_not_harmed(mask, content, model, path):
    change_bytes(range(mask % 23, len(content), 23), mask, content, model, path)  # tests/long has every byte


def change_bytes(places, mask, content, model, path):
    # bytes that mean nothing to us, such as the time of day in the archive, may change
    for at in places:
        damaged = bytearray(content)
        damaged[at] ^= mask
        path.write_bytes(damaged)
        with contextlib.suppress(DataError):
            assert_same_model(plurank.load(path), model)


def test_every_bit_of_the_archives_own_headers_may_break(content, model, path):
    # among them the marks of encrypted and of unknown kinds of compressed files
    first, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    for at in (*range(first, first + 60), *range(end, len(content))):
        for bit in range(8):
            damaged = bytearray(content)
            damaged[at] ^= 1 << bit
            path.write_bytes(damaged)
            with contextlib.suppress(DataError):
                assert_same_model(plurank.load(path), model)


FOREIGN = {
    "nothing": b"",
    "text": b"user,winner,loser\n1,a,b\n",
    "a pickle": pickle.dumps({"rankings_": [[0, 1]]}),
    "an array": npy(np.arange(3)),
    "random bytes": np.random.default_rng(0).bytes(500),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_file_is_refused(kind, path):
    path.write_bytes(FOREIGN[kind])
    with pytest.raises(DataError, match="is not a plurank model") as error:
        plurank.load(path)
    assert is_sentence(error)


def test_another_kind_of_zip_is_refused(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("letter.txt", "dear reader")
    with pytest.raises(DataError, match=r"zip file but not a plurank model: it has no model\.json"):
        plurank.load(path)


@pytest.mark.parametrize("text", [b"[]", b"{}", b'"model"', b'{"format": "other"}'])
def test_a_zip_with_another_kind_of_model_json_is_refused(text, content, path):
    path.write_bytes(rezip(content, {"model.json": text}))
    with pytest.raises(DataError, match="is not a plurank model: its format is not 'plurank-model'"):
        plurank.load(path)


def test_a_missing_file_and_a_folder_are_refused(path):
    with pytest.raises(DataError, match="there is no such file"):
        plurank.load(path)
    with pytest.raises(DataError, match="is a folder; expected a model's file"):
        plurank.load(path.parent)


def test_a_file_of_a_newer_plurank_is_refused_with_both_versions(content, path):
    path.write_bytes(rezip(content, describe=lambda d: d.update(format_version=99, plurank_version="7.8.9")))
    with pytest.raises(DataError, match=rf"saved by plurank 7\.8\.9, which is newer .*{plurank.__version__}.*Upgrade"):
        plurank.load(path)


def test_a_file_of_an_unknown_class_is_refused_by_name(content, path):
    path.write_bytes(rezip(content, describe=lambda d: d.update({"class": "LaterRanking"})))
    with pytest.raises(DataError, match="holds a 'LaterRanking', which this plurank does not know"):
        plurank.load(path)


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_a_pickle_inside_an_array_is_not_run(content, path, tmp_path):
    mark = tmp_path / "mark"
    trap = npy(np.array([Bomb(str(mark))], dtype=object), allow_pickle=True)
    for name in ("user_weights_.npy", "rankings_.npy", "novel_items_.npy"):
        path.write_bytes(rezip(content, {name: trap}))
        with pytest.raises(DataError, match="damaged"):
            plurank.load(path)
    assert not mark.exists()


BROKEN_ARRAYS = {
    "a shape of terabytes": header((10**13,)),
    "a shape beyond all memory": header((2**62, 2**62)),
    "a shape beyond all numbers": header((10**30,)),
    "a negative shape": header((-1,)),
    "half a header": b"\x93NUMPY\x01\x00\x10\x00{'descr': ",
    "a header with an open bracket": b"\x93NUMPY\x01\x00\x0a\x00{'descr': ",
    "a header that is code": b"\x93NUMPY\x01\x00\x20\x00" + b"__import__('os').getcwd()".ljust(32),
    "no array at all": b"hello",
    "nothing": b"",
}


@pytest.mark.parametrize("kind", BROKEN_ARRAYS)
def test_a_broken_array_is_refused(kind, content, path):
    path.write_bytes(rezip(content, {"user_weights_.npy": BROKEN_ARRAYS[kind]}))
    with pytest.raises(DataError, match="damaged"):
        plurank.load(path)


def test_json_nested_beyond_measure_is_refused(content, path):
    path.write_bytes(rezip(content, {"model.json": b"[" * 100_000}))
    with pytest.raises(DataError, match="damaged"):
        plurank.load(path)


@pytest.mark.parametrize("name", ["fit", "save", "__class__", "_infer_weights", "score", "novel_pairs_"])
def test_only_fitted_attributes_are_set_from_a_file(name, content, path):
    path.write_bytes(rezip(content, describe=lambda d: d["fitted"].update({name: 1})))
    with pytest.raises(DataError, match="damaged"):
        plurank.load(path)


def test_a_small_file_that_would_unpack_to_gigabytes_is_refused_before_it_does(content, path):
    blown_up = io.BytesIO()
    with zipfile.ZipFile(blown_up, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", json.dumps({"format": "plurank-model", "more": " " * 2**25}))
    path.write_bytes(blown_up.getvalue())
    with pytest.raises(DataError, match=r"would unpack to 33,\d{3},\d{3} bytes") as error:
        plurank.load(path)
    assert is_sentence(error)


def test_arrays_of_the_other_byte_order_are_turned_round(content, model, path):
    path.write_bytes(rezip(content, {"user_weights_.npy": npy(model.user_weights_.astype(">f8"))}))
    loaded = plurank.load(path)
    assert loaded.user_weights_.dtype.isnative
    assert_same_model(loaded, model)


@pytest.mark.parametrize("change", [lambda a: a.astype(f"{a.dtype.kind}4"), np.asfortranarray])
def test_arrays_of_other_types_and_orders_become_those_of_a_fit(change, content, model, path):
    names = [name for name, field in model.fields.items() if field.shape and getattr(model, name) is not None]
    path.write_bytes(rezip(content, {f"{name}.npy": npy(change(getattr(model, name))) for name in names}))
    loaded = plurank.load(path)
    for name in names:
        given, fitted = getattr(loaded, name), getattr(model, name)
        assert (given.dtype, given.flags.c_contiguous) == (fitted.dtype, True)
        np.testing.assert_allclose(given, fitted, rtol=1e-6)


def test_a_version_that_is_no_version_cannot_take_over_a_terminal(content, path):
    path.write_bytes(rezip(content, describe=lambda d: d.update(format_version=99, plurank_version="\x1b[2J\n" * 99)))
    with pytest.raises(DataError, match="saved by plurank") as error:
        plurank.load(path)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 200


MISFITS = {
    "a ranking that is no permutation": ({"rankings_.npy": npy(np.zeros((2, 6), int))}, None),
    "rankings of other items": ({"rankings_.npy": npy(np.array([[0, 1, 2]] * 2))}, None),
    "no rankings": (
        {
            "rankings_.npy": npy(np.zeros((0, 6), int)),
            "user_weights_.npy": npy(np.zeros((60, 0))),
            "mean_weights_.npy": npy(np.zeros(0)),
        },
        None,
    ),
    "weights of other users": ({"user_weights_.npy": npy(np.full((3, 2), 0.5))}, None),
    "weights that are no numbers": ({"user_weights_.npy": npy(np.full((60, 2), np.nan))}, None),
    "weights below zero": ({"user_weights_.npy": npy(np.tile([2.0, -1.0], (60, 1)))}, None),
    "weights that do not sum to one": ({"mean_weights_.npy": npy(np.array([0.7, 0.7]))}, None),
    "complex weights": ({"user_weights_.npy": npy(np.full((60, 2), 0.5j))}, None),
    "weights of text": ({"user_weights_.npy": npy(np.full((60, 2), "half"))}, None),
    "novel pairs of other items": ({"novel_items_.npy": npy(np.full((2, 2), 99))}, None),
    "an unknown parameter": (None, lambda d: d["parameters"].update(speed=11)),
    "an impossible parameter": (None, lambda d: d["parameters"].update(n_rankings="two")),
    "items that repeat": (None, lambda d: d["items"].update(values=["a"] * 6)),
    "items that are half a character": (None, lambda d: d["items"].update(values=["a", "b", "c", "d", "e", "\ud800"])),
    "items that are no numbers": (None, lambda d: d["items"].update(values=[1, 2, 3, 4, 5, float("nan")])),
    "items that are cut to whole numbers": (
        None,
        lambda d: d["items"].update(dtype="<i8", values=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
    ),
    "weights in half precision": ({"user_weights_.npy": npy(np.full((60, 2), 0.5, np.float16))}, None),
    "an array listed twice": (None, lambda d: d["arrays"].append("rankings_")),
    "items that are lists": (None, lambda d: d["items"].update(values=[[1]] * 6)),
    "items that are one word": (None, lambda d: d["items"].update(values="abcdef")),
    "items longer than any float": (
        None,
        lambda d: d["items"].update(dtype="<f16", values=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    ),
    "an item without a name": (None, lambda d: d["items"].update(values=["a", "b", "c", "d", "e", ""])),
    "items of a strange type": (None, lambda d: d["items"].update(dtype="<M8[s]")),
    "no items": (None, lambda d: d.pop("items")),
    "no flip probability": (None, lambda d: d["fitted"].pop("flip_probability_")),
    "a flip probability of seven": (None, lambda d: d["fitted"].update(flip_probability_=7)),
    "a flip probability in words": (None, lambda d: d["fitted"].update(flip_probability_="small")),
    "no concentration": (None, lambda d: d["fitted"].pop("concentration_")),
    "an array that is not listed": (None, lambda d: d["arrays"].remove("novel_items_")),
    "an array that is not there": (None, lambda d: d["arrays"].append("lost_")),
    "a version in words": (None, lambda d: d.update(format_version="one")),
    "no class": (None, lambda d: d.pop("class")),
}


@pytest.mark.parametrize("kind", MISFITS)
def test_a_file_whose_parts_do_not_fit_is_refused(kind, content, path):
    changes, describe = MISFITS[kind]
    path.write_bytes(rezip(content, changes, describe))
    with pytest.raises(DataError, match="damaged") as error:
        plurank.load(path)
    assert is_sentence(error)


@pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt()], ids=["full disk", "Ctrl-C"])
@pytest.mark.parametrize("moment", ["os.fsync", "os.replace"])
def test_an_interrupted_save_leaves_the_old_file_whole_and_nothing_beside_it(
    moment, failure, content, model, path, monkeypatch
):
    path.write_bytes(content)

    def fail(*_):
        raise failure

    monkeypatch.setattr(moment, fail)
    with pytest.raises(type(failure)):
        model.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == content
    assert [p.name for p in path.parent.iterdir()] == ["model.plurank"]


def test_saving_replaces_an_older_file(model, path):
    path.write_bytes(b"old")
    model.save(path)
    assert_same_model(plurank.load(path), model)
    assert [p.name for p in path.parent.iterdir()] == ["model.plurank"]


def test_a_path_may_be_text_and_relative(model, path, monkeypatch):
    monkeypatch.chdir(path.parent)
    model.save("model.plurank")
    assert_same_model(plurank.load("model.plurank"), model)


def test_a_path_may_begin_with_the_home_folder(model, path, monkeypatch):
    monkeypatch.setenv("HOME", str(path.parent))
    model.save("~/model.plurank")
    assert path.is_file()
    assert_same_model(plurank.load("~/model.plurank"), model)


def test_saving_nowhere_or_over_a_folder_is_refused_with_a_sentence(model, tmp_path):
    with pytest.raises(DataError, match="there is no folder"):
        model.save(tmp_path / "nowhere" / "model.plurank")
    (tmp_path / "model.plurank").mkdir()
    with pytest.raises(DataError, match="folder"):
        model.save(tmp_path / "model.plurank")
    assert [p.name for p in tmp_path.iterdir()] == ["model.plurank"]


def test_a_saved_model_may_be_read_by_whom_the_umask_allows(model, path):
    mask = os.umask(0o022)
    try:
        model.save(path)
    finally:
        os.umask(mask)
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o644


def test_ids_that_json_cannot_hold_are_refused_with_a_sentence(path):
    users = [("a", 1), ("a", 1), ("b", 2), ("b", 2)]
    model = TopicRanking(1, random_state=0).fit(plurank.Comparisons.from_arrays(users, list("abaa"), list("babb")))
    with pytest.raises(DataError, match="only ids that are text or numbers can be saved"):
        model.save(path)
    assert not path.exists()

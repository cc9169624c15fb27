"""Stores: what they give, and that nothing half-written or damaged is read as whole."""

import json
import pickle
import shutil

import numpy as np
import pytest

import plurank
from plurank import (
    DataError,
    ParameterError,
    Store,
    open_store,
    read_comparisons,
)
from plurank.store.shards import describe_file, seal
from tests.store.ingesting import build

USERS = [*"abcdefgh"]
ITEMS = ["x", "a,b", 'say "hi"', "🍣"]


@pytest.fixture(scope="module")
def votes(tmp_path_factory):
    """A file of people who made one to eight comparisons, some of them weighing more than others."""
    rng = np.random.default_rng(0)
    users = np.repeat(USERS, np.arange(1, 9))
    winners = rng.integers(0, 4, len(users))
    losers = (winners + rng.integers(1, 4, len(users))) % 4
    labels = np.array(ITEMS, dtype=object)
    weights = rng.choice([0.5, 1.0, 3.0], len(users))
    order = rng.permutation(len(users))
    columns = (column[order] for column in (users, labels[winners], labels[losers], weights))
    made = plurank.Comparisons.from_arrays(*columns)
    file = tmp_path_factory.mktemp("votes") / "votes.parquet"
    made.to_frame().sample(fraction=1, shuffle=True, seed=1).write_parquet(file)
    return file


@pytest.fixture(scope="module")
def made(votes, tmp_path_factory):
    return build(votes, tmp_path_factory.mktemp("made") / "store")


@pytest.fixture
def copy(made, tmp_path):
    """A copy of the store, to damage."""
    return shutil.copytree(made.path, tmp_path / "store")


def test_a_store_says_what_comparisons_say(made, votes):
    whole = read_comparisons(votes)
    assert isinstance(made, Store)
    assert (made.n_users, made.n_items, len(made)) == (8, 4, 36)
    assert made.total_weight == pytest.approx(whole.total_weight)
    assert made.is_weighted
    assert made.rated is None
    assert made.items.tolist() == whole.items.tolist()
    assert made.users.tolist() == whole.users.tolist()
    np.testing.assert_array_equal(made.offsets, whole.offsets, strict=True)
    assert repr(made) == repr(whole).replace("Comparisons", "Store")


def test_a_store_without_weights_has_none(tmp_path, write):
    store = build(write("votes.csv", "user,winner,loser,weight\nu,a,b,1\n"), tmp_path / "store")
    assert not store.is_weighted
    assert store.total_weight == 1.0
    assert repr(store) == "<Store: 1 user, 2 items, 1 comparison (1 each)>"
    assert store.to_comparisons().weights is None


def test_every_block_is_the_block_of_the_whole(made, votes, assert_same):
    whole = read_comparisons(votes)
    assert made.n_shards > 2
    for begin in range(9):
        for end in range(begin, 9):
            assert_same(made.block(begin, end), whole.block(begin, end))


@pytest.mark.parametrize(("begin", "end"), [(-1, 3), (4, 3), (0, 9)])
def test_a_block_of_users_that_do_not_exist_is_refused(made, begin, end):
    with pytest.raises(ParameterError, match=r"^expected 0 <= begin <= end <= 8 users, got "):
        made.block(begin, end)


def test_a_block_inside_one_shard_is_not_copied(made):
    def maps(array):
        return isinstance(array, np.memmap) or (array is not None and maps(array.base))

    one, all_users = made.block(0, 1), made.block(0, 8)
    assert maps(one.winners)
    assert maps(one.losers)
    assert maps(one.weights)
    assert not maps(all_users.winners)
    assert not one.winners.flags.writeable


def test_a_model_can_be_fitted_to_a_block(made):
    plurank.SingleRanking().fit(made.block(0, 8))


def test_a_store_pickles_small_and_opens_itself_again(made, assert_same):
    assert made.users is not None
    assert len(made.offsets) == 9
    pickled = pickle.dumps(made)
    assert len(pickled) < 10_000
    assert_same(pickle.loads(pickled).to_comparisons(), made.to_comparisons())


def test_a_store_opens_by_text_and_by_path(made):
    assert len(open_store(str(made.path))) == len(open_store(made.path)) == 36


def test_content_is_checked_once_in_a_process(copy, monkeypatch):
    checked = []
    check = plurank.store.folder.check_content
    monkeypatch.setattr("plurank.store.folder.check_content", lambda *args: (checked.append(args), check(*args)))
    open_store(copy).block(0, 1)
    assert 0 < len(checked) < 8  # one shard and the items
    checked.clear()
    pickle.loads(pickle.dumps(open_store(copy))).block(0, 1)
    assert checked == []


def refusal(path):
    with pytest.raises(DataError) as caught:
        open_store(path).to_comparisons()
    return str(caught.value)


def test_what_is_no_store_is_refused(tmp_path, made):
    assert refusal(tmp_path / "no") == f"{tmp_path / 'no'}: there is no such store. Make one with `plurank ingest`."
    assert refusal(tmp_path) == f"{tmp_path} is not a store: it has no manifest.json. Make one with `plurank ingest`."
    file = made.path / "manifest.json"
    assert refusal(file) == f"{file} is a file; expected the folder of a store, made by `plurank ingest`."
    with pytest.raises(ParameterError, match=r"^expected the path of a store, got int\.$"):
        open_store(3)


def test_a_store_that_is_not_finished_is_refused(tmp_path):
    (tmp_path / "store.part").mkdir()
    assert refusal(tmp_path / "store.part") == (
        f"{tmp_path / 'store.part'} is an unfinished store. Run the same `plurank ingest` again to continue."
    )


def all_files(store):
    return sorted(path for path in store.rglob("*") if path.is_file() and path.name != "manifest.json")


def test_every_file_cut_short_is_refused_by_name(copy):
    for file in all_files(copy):
        content = file.read_bytes()
        file.write_bytes(content[:-1])
        assert refusal(copy).startswith(
            f"{file} is damaged: expected {len(content):,} bytes, got {len(content) - 1:,}."
        )
        file.write_bytes(content)


def test_every_file_that_is_missing_is_refused_by_name(copy):
    for file in all_files(copy):
        content = file.read_bytes()
        file.unlink()
        assert refusal(copy).startswith(f"{file} is missing, so the store is damaged. ")
        file.write_bytes(content)


def test_every_file_with_a_changed_byte_is_refused_by_name(copy):
    for file in all_files(copy):
        content = file.read_bytes()
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        assert refusal(copy).startswith(f"{file} is damaged: its content has changed. ")
        file.write_bytes(content)


def test_damage_in_a_shard_is_no_matter_to_others(copy):
    file = all_files(copy)[-1]
    file.write_bytes(bytes(len(file.read_bytes())))
    store = open_store(copy)
    assert len(store.block(0, 1)) == 1
    with pytest.raises(DataError, match="is damaged"):
        store.block(7, 8)


@pytest.mark.parametrize("content", ["", "{", "[]", "3", '{"format": "other"}', "\x00\xff"])
def test_a_damaged_manifest_is_refused(copy, content):
    (copy / "manifest.json").write_text(content, encoding="latin-1")
    assert refusal(copy).startswith(f"{copy / 'manifest.json'} is damaged")


def test_a_manifest_cut_short_anywhere_is_refused(copy):
    content = (copy / "manifest.json").read_bytes()
    for n in range(0, len(content) - 2, 97):
        (copy / "manifest.json").write_bytes(content[:n])
        assert refusal(copy).startswith(f"{copy / 'manifest.json'} is damaged")


def test_a_manifest_that_was_changed_is_refused(copy):
    manifest = json.loads((copy / "manifest.json").read_bytes())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "n_users": 7}))
    assert refusal(copy).startswith(f"{copy / 'manifest.json'} is damaged")
    del manifest["shards"]
    (copy / "manifest.json").write_text(json.dumps({**manifest, "checksum": seal(manifest)}))
    assert refusal(copy).startswith(f"{copy / 'manifest.json'} is damaged")


def test_a_store_of_another_version_is_refused(copy):
    manifest = json.loads((copy / "manifest.json").read_bytes())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "version": 3}))
    assert refusal(copy) == f"{copy} is a store of version 3; this plurank reads 1 and 2. Ingest the data again."


def reseal(folder, change=None, **files):
    """Change what a manifest says, or whole files of the first shard, and seal it as whoever made it could."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    shard = manifest["shards"][0]
    for name, array in files.items():
        np.save(folder / "shards" / shard["name"] / f"{name}.npy", array)
    shard["files"] = [describe_file(folder / "shards" / shard["name"] / record["name"]) for record in shard["files"]]
    if change is not None:
        change(manifest)
    (folder / "manifest.json").write_text(json.dumps({**manifest, "checksum": seal(manifest)}))


def test_what_is_resealed_without_a_change_is_still_the_store(copy, made, assert_same):
    reseal(copy)
    assert_same(open_store(copy).to_comparisons(), made.to_comparisons())


LIES = {
    "a shard that is elsewhere": lambda m: m["shards"][0].update(name="../../store/shards/000000"),
    "an absolute place": lambda m: m["shards"][0].update(name="/etc"),
    "another file": lambda m: m["shards"][0]["files"][0].update(name="../../manifest.json"),
    "other items": lambda m: m["items"].update(name="manifest.json"),
    "a shard that is a number": lambda m: m["shards"].append(7),
    "shards that are none": lambda m: m.update(shards={}),
    "a missing array": lambda m: m["shards"][0]["files"].pop(0),
    "a size in words": lambda m: m["items"].update(size="large"),
    "users in words": lambda m: m.update(n_users="8"),
    "fewer users than there are": lambda m: m.update(n_users=7),
    "negative counts": lambda m: m["shards"][0].update(n_users=-1),
    "more than any number": lambda m: m.update(n_items=10**400),
    "a weight beyond all numbers": lambda m: m.update(total_weight=10**400),
    "no weight": lambda m: m.update(total_weight=float("nan")),
    "a truth that is none": lambda m: m.update(is_weighted="yes"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_sealed_manifest_that_lies_is_refused(lie, copy):
    reseal(copy, LIES[lie])
    assert "manifest.json is damaged" in refusal(copy)


def test_items_that_are_not_as_many_as_the_manifest_says_are_refused(copy):
    reseal(copy, lambda manifest: manifest.update(n_items=5))
    assert "has 4 items, expected 5" in refusal(copy)


BAD_ARRAYS = {
    "items beyond the last": ("winners", lambda a: a + 4),
    "items before the first": ("losers", lambda a: a - 4),
    "items far beyond memory": ("winners", lambda a: np.full_like(a, 2**30)),
    "wide numbers": ("winners", lambda a: a.astype(np.int64)),
    "the other byte order": ("winners", lambda a: a.astype(">i4")),
    "too few": ("losers", lambda a: a[:-1]),
    "another shape": ("losers", lambda a: a[None]),
    "offsets that turn back": ("offsets", lambda a: np.concatenate([a[:1], a[1:] * 0 - 5, a[-1:]])[: len(a)]),
    "offsets beyond the end": ("offsets", lambda a: a * 2),
    "offsets that begin late": ("offsets", lambda a: np.maximum(a, 1)),
    "weights below zero": ("weights", lambda a: -a),
    "weights that are no numbers": ("weights", lambda a: a * np.nan),
    "a pickle": ("weights", lambda a: a.astype(object)),
}


@pytest.mark.parametrize("kind", BAD_ARRAYS)
def test_a_sealed_array_that_leads_outside_is_refused_before_a_kernel_sees_it(kind, copy):
    name, change = BAD_ARRAYS[kind]
    folder = next(iter(sorted((copy / "shards").iterdir())))
    reseal(copy, **{name: change(np.load(folder / f"{name}.npy"))})
    assert f"{name}.npy is not valid" in refusal(copy)
    with pytest.raises(DataError, match="is not valid"):
        plurank.SingleRanking().fit(open_store(copy))


def test_a_sealed_array_whose_head_is_no_python_is_refused(copy):
    file = next(iter(sorted((copy / "shards").iterdir()))) / "winners.npy"
    file.write_bytes(b"\x93NUMPY\x01\x00\x0a\x00{'descr': ")
    reseal(copy)
    assert "winners.npy is not valid" in refusal(copy)

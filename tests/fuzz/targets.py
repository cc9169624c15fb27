"""What is fuzzed: every door through which bytes of strangers come in.

A target turns bytes into a file or a request and uses it as people would. It works, or it raises a PlurankError; it
never raises anything else, and it leaves no half-written file.
"""

import gzip
import io
import json
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import polars as pl

import plurank
from plurank import Comparisons, PlurankError
from plurank.data.rated import RatedItems
from plurank.data.readers import read_any, read_observations
from plurank.store.batches import Budget
from plurank.store.shards import describe_file, seal
from plurank.thurstone.blocks import BlockData, Scale
from plurank.web.application import create_app
from plurank.web.configuration import ServiceSettings
from tests.store.ingesting import build

Edit = tuple[int, int, bytes]  # where, how many bytes go, what comes

# pieces of what files are made of, and what is known to break readers
PIECES = [
    *(bytes([n]) for n in (*range(0, 14), 0x1A, 0x1B, 0x1F, 0x7F, 0x80, 0xC0, 0xFF)), b"\r\n", b"\xef\xbb\xbf",
    b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xae", "é".encode(), "😀".encode(), "٣".encode(), b"\x1f\x8b",
    b"PK\x03\x04", b'"', b'""', b"'", b",", b";", b"\t", b"::", b":", b"{", b"}", b"[", b"]", b"{}", b"[]", b"\\",
    b"\\ud800", b"\\u0000", b"0", b"-0", b"1", b"-1", b"007", b"0.5", b"1e999", b"-1e999", b"1e-320", b"NaN",
    b"nan", b"inf", b"Infinity", b"null", b"true", b"9" * 19, b"9" * 30, b"9" * 400, b"2147483648",
    b"9223372036854775807", b" ", b"", b"tie", b"left", b"right", b"user", b"winner", b"loser", b"weight", b"item",
    b"rating", b"rank", b"a", b"b", b"a" * 300, b"[" * 300, b'{"a":' * 300, b"<f8", b">f8", b"<f2", b"|O", b"True",
    b"(8, 2)", b"(-1,)", b"# ALTERNATIVE NAME 1: x\n", b"{1,2}", b"../", b"/etc/passwd",
]  # fmt: skip


def apply(seed: bytes, edits: list[Edit]) -> bytes:
    """Change bytes here and there."""
    for at, n, piece in edits:
        begin = at % (len(seed) + 1)
        seed = seed[:begin] + piece + seed[begin + n :]
    return seed[:100_000]


@dataclass(frozen=True)
class Target:
    """Bytes to begin with, and what is done with changed ones: the number of the seed, the bytes, an empty folder."""

    name: str
    seeds: Callable[[], list[bytes]]
    use: Callable[[int, bytes, Path], object]

    def run(self, number: int, data: bytes) -> bool:
        """Use bytes; tells whether they were taken. Anything but a PlurankError gets through."""
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.use(number, data, Path(folder))
            except PlurankError as error:
                sentence = str(error)
                assert sentence.strip(), "an error without a word"
                assert len(sentence) < 5000, f"a sentence of {len(sentence):,} characters"
                taken = False
            else:
                taken = True
            halves = [path.name for path in Path(folder).rglob("*") if ".part" in path.name]
            assert not halves, f"half-written files are left: {halves}"
            return taken


def _use_comparisons(comparisons: Comparisons) -> None:
    comparisons.diagnose()
    comparisons.to_frame()
    assert comparisons.offsets[-1] == len(comparisons) > 0


def _read(name: str) -> Callable[[int, bytes, Path], None]:
    def use(_: int, data: bytes, folder: Path) -> None:
        file = folder / name
        file.write_bytes(gzip.compress(data, 1) if name.endswith(".gz") else data)
        _use_comparisons(plurank.read_comparisons(file))

    return use


def _read_any(_: int, data: bytes, folder: Path) -> None:
    (folder / "x.csv").write_bytes(data)
    _use_comparisons(read_any(folder / "x.csv"))


def _read_items(_: int, data: bytes, folder: Path) -> None:
    (folder / "items.csv").write_bytes(data)
    votes = Comparisons.from_arrays(["u", "u", "v"], [0, 1, 2], [1, 2, 0])
    _use_comparisons(votes.with_items(folder / "items.csv"))


def _whole(store: plurank.Store | plurank.RatedStore) -> Comparisons | RatedItems:
    return store.to_memory() if isinstance(store, plurank.RatedStore) else store.to_comparisons()


def _read_twice(name: str) -> Callable[[int, bytes, Path], None]:
    """Read into memory and by ingest, which must agree."""

    def use(_: int, data: bytes, folder: Path) -> None:
        (folder / name).write_bytes(data)
        outcomes = []
        for work in (
            lambda: read_observations(folder / name),
            lambda: _whole(build(folder / name, folder / "x.store")),
        ):
            try:
                outcomes.append(work().to_frame())
            except PlurankError as error:
                outcomes.append(error)
        memory, disk = outcomes
        if "give more memory" in str(disk):  # a row longer than all that a test ingests at once
            raise disk
        agree = (
            memory.equals(disk)
            if isinstance(memory, pl.DataFrame) and isinstance(disk, pl.DataFrame)
            else type(memory) is type(disk)
        )
        assert agree, f"read_observations and ingest differ: {memory!r:.300} | {disk!r:.300}"
        if isinstance(memory, Exception):
            raise memory

    return use


def _rate(name: str) -> Callable[[int, bytes, Path], None]:
    def use(_: int, data: bytes, folder: Path) -> None:
        (folder / name).write_bytes(data)
        _use_comparisons(Comparisons.from_ratings(plurank.read_ratings(folder / name), pairs="partial", random_state=0))

    return use


def _rank(name: str) -> Callable[[int, bytes, Path], None]:
    def use(_: int, data: bytes, folder: Path) -> None:
        (folder / name).write_bytes(data)
        frame = plurank.read_rankings(folder / name)
        if len(frame) < 100_000:  # a number of ballots is easily made large, and then is right
            _use_comparisons(Comparisons.from_rankings(frame))

    return use


@cache
def _model() -> bytes:
    """A small model, as its file."""
    people = plurank.simulate(12, 5, 2, 12, random_state=0)
    kind = plurank.MixedRanking(
        2, mixing="probability", init="items", concentration=1.0, score_scale=1.0, max_iter=200, random_state=0
    )
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind.fit(people.comparisons).save(Path(folder) / "m.plurank")
        return (Path(folder) / "m.plurank").read_bytes()


@cache
def _parts() -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(_model())) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _load(data: bytes, folder: Path) -> None:
    file = folder / "model.plurank"
    file.write_bytes(data)
    model = plurank.load(file)
    first, second = model.items_[:2].tolist()
    model.predict_proba(pl.DataFrame({"user": [model.users_[0]], "left": [first], "right": [second]}))
    model.rank(model.users_[0])
    model.leaderboard(1)
    model.fold_in([(first, second)]).next_pairs(1)
    model.save(folder / "again.plurank")
    plurank.load(folder / "again.plurank")


def _load_with_part(number: int, data: bytes, folder: Path) -> None:
    """Put changed bytes in the place of one part of a model's archive, which is whole otherwise."""
    names = list(_parts())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for n, (name, part) in enumerate(_parts().items()):
            archive.writestr(name, data if n == number % len(names) else part)
    _load(out.getvalue(), folder)


@cache
def _stores() -> dict[str, Path]:
    """A store of comparisons, one of ratings, and one of rankings with items on offer."""
    folder = Path(tempfile.mkdtemp(prefix="plurank-fuzz-"))
    frame = plurank.simulate(6, 4, 2, 4, random_state=0).comparisons.to_frame()
    frame.with_columns(weight=pl.int_range(1, len(frame) + 1) / 2).write_csv(folder / "votes.csv")
    rated = pl.DataFrame(
        {"user": [n // 3 for n in range(18)], "item": [n % 4 for n in range(18)], "rating": [1, 2] * 9}
    )
    rated.write_csv(folder / "stars.csv")
    rated.rename({"rating": "rank"}).write_csv(folder / "ballots.csv")
    two_shards = Budget(data_bytes=10**9, text_bytes=10**4, batch_rows=100, shard_rows=12)
    offered = {"votes": None, "stars": None, "ballots": "all"}
    return {
        name: build(folder / f"{name}.csv", folder / name, budget=two_shards, offered=offered[name]).path
        for name in offered
    }


def _store_files(name: str) -> list[Path]:
    return sorted(path.relative_to(_stores()[name]) for path in _stores()[name].rglob("*") if path.is_file())


def _store_seeds(name: str) -> list[bytes]:
    return [(_stores()[name] / file).read_bytes() for file in _store_files(name)]


def _use_store(folder: Path) -> None:
    store = plurank.open_store(folder)
    repr(store)
    if isinstance(store, plurank.RatedStore):
        whole = store.to_memory()
        assert whole.offsets[-1] == len(whole) == len(store) > 0
        data = BlockData.of(whole, Scale.of(whole.values, np.ones(len(whole.values))))
        assert data.by_item[0][-1] == len(whole)
    else:
        _use_comparisons(store.to_comparisons())
    plurank.SingleRanking().fit(store)


def _open_store(name: str, number: int, data: bytes, folder: Path) -> None:
    """Put changed bytes in the place of one file of a store, and seal it as whoever made it could."""
    copy = shutil.copytree(_stores()[name], folder / "x.store")
    changed = _store_files(name)[number % len(_store_files(name))]
    (copy / changed).write_bytes(data)
    try:
        manifest = json.loads((copy / "manifest.json").read_bytes())
        shards = [shard for shard in manifest["shards"] if changed.parts[1:2] == (shard["name"],)]
        for record in [*(file for shard in shards for file in shard["files"]), manifest["items"]]:
            if record["name"] == changed.name:
                record.update(describe_file(copy / changed))
        (copy / "manifest.json").write_text(json.dumps({**manifest, "checksum": seal(manifest)}))
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError):
        pass  # then it stays unsealed
    _use_store(copy)


PATHS = ("/predict", "/rank", "/fold-in", "/next-pair", "/feedback")
BODIES = [
    b'{"pairs": [{"user": 1, "left": 0, "right": "1"}, {"user": null, "left": 2, "right": 3}]}',
    b'{"user": 3, "top": 2}',
    b'{"answers": [{"winner": 0, "loser": 1}, {"winner": 2, "loser": 1}]}',
    b'{"answers": [{"winner": 0, "loser": 1}], "skip": [{"left": 2, "right": 3}]}',
    b'{"id": "a", "user": "b", "winner": 0, "loser": 1}',
]
STATUSES = {200, 201, 400, 409, 413, 415, 422}


class _Refused(PlurankError):
    pass


@cache
def _client() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from fastapi.testclient import TestClient
    folder = Path(tempfile.mkdtemp(prefix="plurank-fuzz-"))
    (folder / "m.plurank").write_bytes(_model())
    database = str(folder / "answers.db")
    settings = ServiceSettings(feedback=database, rate=0.0, hide_results=False, show_people=True)
    app = create_app(folder / "m.plurank", settings)
    return TestClient(app, raise_server_exceptions=False).__enter__()


def _post(number: int, data: bytes, _: Path) -> None:
    client: object = _client()
    path = PATHS[number % len(PATHS)]
    answer = client.post(path, content=data, headers={"content-type": "application/json"})  # type: ignore[attr-defined]
    assert answer.status_code in STATUSES, f"{path} answered {answer.status_code}: {answer.text:.300}"
    said = answer.json()
    if answer.status_code >= 400:
        raise _Refused(said["error"])


CSV = [
    b"user,winner,loser\nu,a,b\nu,b,c\nv,c,a\n",
    b"user;left;right;winner;weight\n1;a;b;a;0.5\n1;a;b;tie;2\n2;b;c;right;1\n",
    b'worker,model_a,model_b,winner\n"x ""y""",m1,m2,model_a\nz,m2,m3,tie (bothbad)\n',
    b"judge,entity_a,entity_b,comparison\n1,7,8,-2\n1,8,9,0\n2,9,7,1.5\n",
]
RATED = [
    b"user,item,rating\nu,a,3.5\nu,b,4\nv,a,\nv,b,1\n",
    b"user,item,rank\n1,7,1\n1,8,2\n2,7,1\n2,8,1\n",
]
JSONL = [
    b'{"user": "u", "winner": "a", "loser": "b"}\n{"user": "v", "winner": "b", "loser": "c"}\n',
    b'{"user": 1, "left": 2, "right": 3, "label": 2}\n{"user": 1.5, "left": 3, "right": 4, "label": "tie"}\n',
]
BALLOTS = [
    b"# ALTERNATIVE NAME 1: Ebi\n# ALTERNATIVE NAME 2: Ika\n3: 1,{2,3},4\n1: 4,1\n",
    b"3\n1,Ebi\n2,Ika\n3,Uni\n4,4,2\n3,1,2,3\n1,{1,2},3\n",
]


def _parquet() -> list[bytes]:
    out = io.BytesIO()
    pl.DataFrame({"user": ["u", "v"], "winner": ["a", "b"], "loser": ["b", "c"], "weight": [1.0, 2.0]}).write_parquet(
        out
    )
    return [out.getvalue()]


RECORDS = b'[{"user": "a", "winner": "x", "loser": "y", "talk": [{"x": 1}]}, {"user": 1, "winner": "y", "loser": "x"}]'
VOTES = [
    b"timestamp,comment-id,voter-id,vote\n1,0,1,1\n2,1,1,-1\n3,0,2,0\n",
    b"participant,group-id,n-votes,0,1\n1,0,2,1,-1\n2,0,1,,1\n3,,0,,\n",
    b"Session ID,Winner ID,Winner Text,Loser ID,Loser Text,Valid\ns,1,a,2,b,True\ns,2,b,1,a,FALSE\n",
    b"user,item,rank\n1,a,1\n1,b,2\n2,a,1\n",
]
ITEMS = [
    b'comment-id,agrees,disagrees,moderated,comment-body\n0,1,2,1,a b\n1,2,3,-1,c\n2,0,0,0,"d, e"\n',
    b"item,text,hidden\n0,x,false\n1,y,no\n2,z,1\n",
]
TARGETS = {
    target.name: target
    for target in (
        Target("csv", lambda: CSV, _read("x.csv")),
        Target(
            "tsv, gzipped", lambda: [text.translate(bytes.maketrans(b",;", b"\t\t")) for text in CSV], _read("x.tsv.gz")
        ),
        Target("jsonl", lambda: JSONL, _read("x.jsonl")),
        Target("parquet", _parquet, _read("x.parquet")),
        Target("json", lambda: [RECORDS, b"[" + b",".join(JSONL[0].strip().splitlines()) + b"]"], _read("x.json")),
        Target("votes of any form", lambda: VOTES, _read_any),
        Target("items", lambda: ITEMS, _read_items),
        Target("csv, ingested", lambda: [*CSV, *RATED], _read_twice("x.csv")),
        Target("ratings.dat", lambda: [b"1::2::3::4\n1::3::4.5::4\n2::2::1::9\n"], _rate("x.dat")),
        Target(
            "ratings.csv",
            lambda: [
                b"userId,movieId,rating\n1,2,3.5\n1,3,4\n",
                b"timestamp,voter-id,comment-id,vote\n1,2,3,-1\n5,2,4,1\n",
                b"participant,group-id,n-votes,0,1\n1,0,2,1,-1\n2,1,1,,1\n",
            ],
            _rate("x.csv"),
        ),
        Target("ballots", lambda: BALLOTS, _rank("x.toi")),
        Target("rankings.csv", lambda: [b"user,item,rank\n1,a,1\n1,b,2\n2,a,1\n2,b,1\n"], _rank("x.csv")),
        Target("model", lambda: [_model()], lambda _, data, folder: _load(data, folder)),
        Target("model, a part", lambda: list(_parts().values()), _load_with_part),
        Target("store", partial(_store_seeds, "votes"), partial(_open_store, "votes")),
        Target("store of ratings", partial(_store_seeds, "stars"), partial(_open_store, "stars")),
        Target("store of ballots", partial(_store_seeds, "ballots"), partial(_open_store, "ballots")),
        Target("http", lambda: BODIES, _post),
    )
}

"""Ingesting more comparisons than memory holds, against polars reading and sorting the same columns in memory.

    python -m benchmarks.scale.ingest --rows 20000000 --memory 2GB

Makes a Parquet file with text ids of users and items in no order; then, each in a process of its own, polars reads its
columns and sorts them by user, plurank ingests it, and plurank reads all blocks of the store. Bounds: at most 4 times
polars' time for 100 million rows, and peak memory below what is given.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import plurank
from benchmarks.common import write_results

PER_USER, N_ITEMS = 50, 10_000
PIECE = 5_000_000
COLUMNS = ["user", "winner", "loser"]


def make_piece(n_rows: int, n_users: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng([0, seed])
    users, winners = rng.integers(0, n_users, n_rows), rng.integers(0, N_ITEMS, n_rows)
    losers = (winners + rng.integers(1, N_ITEMS, n_rows)) % N_ITEMS
    numbers = pl.DataFrame({"user": users, "winner": winners, "loser": losers})
    kinds = {"user": "user", "winner": "item", "loser": "item"}
    return numbers.select(pl.format(f"{kind} {{}}", name).alias(name) for name, kind in kinds.items())


def make_file(file: Path, n_rows: int) -> float:
    """Write pieces, and put them together without holding them all."""
    begun, folder, pieces = time.perf_counter(), file.parent, []
    for begin in range(0, n_rows, PIECE):
        pieces.append(folder / f"piece-{begin}.parquet")
        make_piece(min(PIECE, n_rows - begin), n_rows // PER_USER, begin).write_parquet(pieces[-1])
    pl.scan_parquet(pieces).sink_parquet(file)
    for piece in pieces:
        piece.unlink()
    return time.perf_counter() - begun


def sort_with_polars(file: Path) -> float:
    begin = time.perf_counter()
    pl.read_parquet(file, columns=COLUMNS).sort("user", maintain_order=True)
    return time.perf_counter() - begin


def ingest(file: Path, memory: str) -> float:
    make_piece(1000, 100, 0).write_parquet(file.with_name("warm.parquet"))
    plurank.ingest(file.with_name("warm.parquet"), file.with_name("warm"), overwrite=True)  # compiles
    begin = time.perf_counter()
    plurank.ingest(file, file.with_name("store"), memory=memory)
    return time.perf_counter() - begin


def read_blocks(file: Path) -> float:
    """Seconds to touch every comparison of the store once, checksums included."""
    begin = time.perf_counter()
    store = plurank.open_store(file.with_name("store"))
    edges = np.linspace(0, store.n_users, 65).astype(int)
    total = sum(int(store.block(edges[n], edges[n + 1]).winners.sum()) for n in range(64))
    assert total > 0
    return time.perf_counter() - begin


def measure(work: str, file: Path, *options: str) -> tuple[float, float]:
    """Seconds and peak gigabytes of some work in a process of its own, which counts from the size of this one."""
    command = [sys.executable, "-m", "benchmarks.scale.ingest", "--work", work, "--file", str(file), *options]
    took, peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-2:]
    print(f"{work}: {took} s, peak {peak} GB", flush=True)
    return float(took), float(peak)


def compare(n_rows: int, memory: str, scratch: str | None) -> dict[str, object]:
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        file = Path(folder) / "votes.parquet"
        measure("make", file, "--rows", str(n_rows))
        print(f"{n_rows:,} rows, {file.stat().st_size / 1e9:.2f} GB of Parquet", flush=True)
        theirs, their_peak = measure("sort", file)
        ours, our_peak = measure("ingest", file, "--memory", memory)
        reading, _ = measure("read", file)
        store = plurank.open_store(file.with_name("store"))
        assert len(store) == n_rows
        return {
            "rows": n_rows, "users": store.n_users, "items": store.n_items, "memory": memory, "shards": store.n_shards,
            "store_gb": round(store.n_bytes / 1e9, 3), "ingest_seconds": ours, "polars_seconds": theirs,
            "ingest_over_polars": round(ours / theirs, 3), "ingest_peak_gb": our_peak, "polars_peak_gb": their_peak,
            "read_blocks_seconds": reading,
        }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000_000, 20_000_000])
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--scratch", help="a folder with room for the file and twice the store")
    parser.add_argument("--work", choices=["make", "sort", "ingest", "read"], help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work is None:
        write_results("ingest", [compare(n_rows, args.memory, args.scratch) for n_rows in args.rows], replacing="rows")
        return
    options = {"make": [args.rows[0]], "ingest": [args.memory]}.get(args.work, [])
    works = {"make": make_file, "sort": sort_with_polars, "ingest": ingest, "read": read_blocks}
    took = works[args.work](args.file, *options)
    print(f"{took:.3f} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9:.3f}")


if __name__ == "__main__":
    main()

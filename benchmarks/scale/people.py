"""Simulated people by the hundred million: Parquet files of a few million rows each, then a store."""

import sys
from pathlib import Path

import numpy as np
import polars as pl

import plurank

N_ITEMS, N_RANKINGS, PER_USER = 200, 10, 250
ROWS_AT_ONCE = 5_000_000
LEADS = 1.0 / (1.0 + np.exp(-6.0 * np.arange(1, N_ITEMS) / (N_ITEMS - 1)))


def store_of(folder: Path, n_comparisons: int) -> Path:
    """Make the store of so many comparisons unless it is there; give its path."""
    path = folder / f"{n_comparisons}.store"
    if not path.exists():
        files = write_people(folder / f"{n_comparisons}", n_comparisons)
        plurank.ingest([files], path)
    return path


def write_people(folder: Path, n_comparisons: int) -> Path:
    """Write Parquet files with the columns user, winner, loser, all numbers; the same people for every run."""
    folder.mkdir(parents=True, exist_ok=True)
    rankings = np.stack([np.random.default_rng([7, k]).permutation(N_ITEMS) for k in range(N_RANKINGS)])
    users_at_once = ROWS_AT_ONCE // PER_USER
    n_users = n_comparisons // PER_USER
    for n, first in enumerate(range(0, n_users, users_at_once)):
        file = folder / f"{n:04}.parquet"
        if file.exists():
            continue
        some = min(users_at_once, n_users - first)
        c = plurank.simulate(
            some, concentration=1.0, random_state=n, rankings=rankings, comparisons_per_user=PER_USER,
            mean_weights=np.full(N_RANKINGS, 1 / N_RANKINGS), lead_probabilities=LEADS,
        ).comparisons  # fmt: skip
        frame = pl.DataFrame({"user": c.user_of_each() + first, "winner": c.winners, "loser": c.losers})
        frame.write_parquet(file.with_suffix(".part"))
        file.with_suffix(".part").rename(file)
        print(f"{file.name}: {first + some:,} people", file=sys.stderr, flush=True)
    return folder

"""Ingesting in very small pieces, so that few rows already make many batches, runs and shards."""

from plurank.store.batches import Budget
from plurank.store.ingest import build_store
from plurank.types import silent

TINY = Budget(data_bytes=10**9, text_bytes=60, batch_rows=4, shard_rows=5)


def build(inputs, store, *, columns=None, ties="half", budget=TINY, overwrite=False, on_progress=silent, offered=None):
    return build_store(inputs, store, columns, ties, budget, overwrite, on_progress, offered)


def content(folder):
    """All files under a folder, as they are."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}

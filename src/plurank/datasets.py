"""Public data sets: ``plurank.datasets.fetch("sushi-a")``, and ``plurank.datasets.names()`` for the list."""

from plurank.data.datasets import Dataset, fetch, names

__all__ = ["Dataset", "fetch", "names"]

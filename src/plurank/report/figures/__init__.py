"""Figures, one file a family; each function gives an altair chart."""

from plurank.extras import extra

with extra("report", "a figure"):  # before any of the files here imports it
    import altair  # noqa: F401

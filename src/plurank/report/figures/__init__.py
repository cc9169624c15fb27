"""Figures, one file a family; each function gives a chart."""

from plurank.exceptions import extra

with extra("report", "a figure"):  # before any of the files here imports it
    import vl_convert  # noqa: F401

"""Reading a small frame, and the sentence with which one is refused."""

import polars as pl
import pytest

from plurank import Comparisons, DataError


def read(data, **options):
    return Comparisons.from_frame(pl.DataFrame(data), **options)


def refusal(data, **options):
    with pytest.raises(DataError) as caught:
        read(data, **options)
    assert type(caught.value) is DataError
    return str(caught.value)

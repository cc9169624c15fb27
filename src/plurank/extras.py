"""Packages that only some features need: where one is missing, a sentence says how to install it."""

from collections.abc import Iterator
from contextlib import contextmanager

from plurank.exceptions import MissingExtraError


@contextmanager
def extra(name: str, feature: str) -> Iterator[None]:
    """Raise a MissingExtraError where what is imported within is not installed; ``name``: the extra that has it."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = str(error.name)
        if missing.partition(".")[0] == "plurank":
            raise
        raise MissingExtraError(f"{feature} needs {missing}: pip install 'plurank[{name}]'.", name=missing) from None

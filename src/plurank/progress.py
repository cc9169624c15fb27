"""How long work reports where it is: a function of a stage's name and the share of it that is done."""

from collections.abc import Callable

Progress = Callable[[str, float], None]


def silent(stage: str, done: float) -> None:
    """Report nothing."""

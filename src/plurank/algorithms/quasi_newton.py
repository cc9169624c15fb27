"""Directions that learn the curvature of a function from its slopes (limited-memory BFGS).

Ours: starts from a preconditioner, an estimate of the Hessian that a pass over the comparisons gives, so that scores of
rare and of frequent items move at their own pace, and all sums are plain ones with one order.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MEMORY = 12


class QuasiNewton:
    """Remembers the last few steps and how the slope changed along them."""

    def __init__(self) -> None:
        self._steps: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been learnt."""
        return not self._steps

    def direction(self, gradient: Floats, precondition: Callable[[Floats], Floats]) -> Floats:
        """Return a direction of ascent; ``precondition`` applies a first guess of the inverse Hessian."""
        ascent = gradient.copy()
        taken = []
        for step, change, scale in reversed(self._steps):
            share = scale * _dot(step, ascent)
            taken.append(share)
            ascent -= share * change
        ascent = precondition(ascent)
        for (step, change, scale), share in zip(self._steps, reversed(taken), strict=True):
            ascent += (share - scale * _dot(change, ascent)) * step
        return ascent

    def remember(self, step: Floats, slope_before: Floats, slope_after: Floats) -> None:
        """Learn from a step, unless the function curves the wrong way along it."""
        change = slope_before - slope_after
        along = _dot(step, change)
        if along > 0.0:
            self._steps.append((step, change, 1.0 / along))

    def copy(self, times: float = 1.0) -> Self:
        """Return a memory that learns on its own from here, of a function that is so many times as large."""
        twin = type(self)()
        twin._steps.extend((step, times * change, scale / times) for step, change, scale in self._steps)
        return twin

    def forget(self) -> None:
        """Start again from the first guess."""
        self._steps.clear()

    def to_arrays(self) -> dict[str, Floats]:
        """Give what has been learnt as arrays: steps and changes (n, ...)."""
        kinds = zip(*((step, change) for step, change, _ in self._steps), strict=True)
        return {name: np.array(kind) for name, kind in zip(("steps", "changes"), kinds, strict=False)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats]) -> Self:
        """Know again what was learnt."""
        memory = cls()
        for step, change in zip(arrays.get("steps", ()), arrays.get("changes", ()), strict=True):
            memory._steps.append((step, change, 1.0 / _dot(step, change)))
        return memory


def _dot(a: Floats, b: Floats) -> float:
    return float((a * b).sum())

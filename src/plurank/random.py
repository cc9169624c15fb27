"""The one place where a seed becomes generators.

Two kinds of randomness keep answers independent of threads, shards and workers:
:func:`spawn` gives each fixed block of work a child generator of its own, and :func:`uniforms_at` gives
draw number n of a stream, which depends on the seed and on n alone.
"""

import numpy as np
from numpy.typing import NDArray

from plurank.exceptions import ParameterError

RandomState = int | np.random.Generator | None


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Turn a seed, a generator or None (fresh entropy) into a generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if random_state is not None and not (whole and random_state >= 0):
        expected = "an integer >= 0, a numpy Generator or None"
        raise ParameterError(parameter="random_state", expected=expected, got=f"{random_state!r:.80}")
    return np.random.default_rng(random_state)


def spawn(rng: np.random.Generator, n: int) -> list[np.random.Generator]:
    """Return n independent child generators; child b serves block b, whoever runs it."""
    return rng.spawn(n)


def draw_seed(rng: np.random.Generator) -> int:
    """Draw the seed of a stream for :func:`uniforms_at`."""
    return int(rng.integers(2**63))


def uniforms_at(seed: int, start: int, count: int) -> NDArray[np.float64]:
    """Return draws number start, ..., start + count - 1 of the stream of this seed, each in [0, 1)."""
    bits = np.random.PCG64(seed)
    return np.random.Generator(bits.advance(start)).random(count)


def uniforms_of(seed: int, keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each key a draw in [0, 1) that depends on the seed and the key alone, by mixing its bits (SplitMix64)."""
    mixed = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53

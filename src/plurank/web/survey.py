"""Which pair to ask next in a survey: so that every item is asked about, and people's answers tell camps apart.

The most informative pair is the same for everybody who has said nothing, so a survey that always asked it would learn
about a few items only. Here half of the questions, and all of the first ones, go to items with the fewest answers.
"""

import hashlib
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from plurank.web.labels import Label

EXPLORING = 4  # first questions of everybody, which go to items with few answers
CHANCE_TO_EXPLORE = 0.5  # of later ones
N_BEST = 20  # most informative pairs, of which one is drawn
LEAST_GAIN = 1e-6  # bits; below it a question says nothing about a person

Pair = tuple[int, int]  # items by their numbers


class AskedPairs:
    """How often every pair was asked, by this process, on top of the answers stored when it started."""

    def __init__(self, counted: Iterable[tuple[Label, Label, int]] = ()) -> None:
        self.items: Counter[Label] = Counter()
        self.partners: defaultdict[Label, Counter[Label]] = defaultdict(Counter)
        self.lock = threading.Lock()
        for one, other, n in counted:
            self.add(one, other, n)

    def add(self, one: Label, other: Label, n: int = 1) -> None:
        """Count a pair."""
        with self.lock:
            for first, second in ((one, other), (other, one)):
                self.items[first] += n
                self.partners[first][second] += n


def choose_pair(
    labels: Sequence[Label],
    asked: AskedPairs,
    own: set[frozenset[int]],
    visitor: str,
    find_best: Callable[[int], Sequence[tuple[Pair, float]]],
) -> Pair | None:
    """Return the two items to ask a visitor about next, None where all pairs are in ``own``, those asked before.

    ``find_best`` returns the most informative pairs, with their gains. The draw is the same for a visitor who has
    answered as much while nobody else has.
    """
    rng = _generator(visitor, len(own))
    votes = np.array([asked.items[label] for label in labels], dtype=np.float64)
    if len(own) >= EXPLORING and rng.random() >= CHANCE_TO_EXPLORE:
        best = [(pair, gain) for pair, gain in find_best(N_BEST) if gain > LEAST_GAIN]
        if best:
            return _draw_informative(best, votes, rng)
    return _find_rare(labels, asked, own, votes, rng)


def _draw_informative(best: Sequence[tuple[Pair, float]], votes: NDArray[np.float64], rng: np.random.Generator) -> Pair:
    """Draw one of the most informative pairs, the sooner the more it says and the fewer answers its items have."""
    weights = np.array([gain / (1.0 + votes[left] + votes[right]) for (left, right), gain in best])
    return best[int(rng.choice(len(best), p=weights / weights.sum()))][0]


def _find_rare(
    labels: Sequence[Label],
    asked: AskedPairs,
    own: set[frozenset[int]],
    votes: NDArray[np.float64],
    rng: np.random.Generator,
) -> Pair | None:
    """Return the item with the fewest answers, beside the one it met least; ties are broken by lot."""
    lots = rng.random(len(labels))
    taken: defaultdict[int, set[int]] = defaultdict(set)
    for pair in own:
        one, other = sorted(pair)
        taken[one].add(other)
        taken[other].add(one)
    for first in np.argsort(votes + lots, kind="stable").tolist():
        met = asked.partners.get(labels[first], Counter[Label]())
        meetings = np.array([met[label] for label in labels], dtype=np.float64)
        for second in np.lexsort((votes + lots, meetings)).tolist():
            if second != first and second not in taken[first]:
                return (first, second) if rng.random() < 0.5 else (second, first)
    return None


def _generator(visitor: str, n_asked: int) -> np.random.Generator:
    seed = hashlib.sha256(f"{n_asked} {visitor}".encode("utf-8", "backslashreplace")).digest()
    return np.random.default_rng(int.from_bytes(seed[:16], "big"))

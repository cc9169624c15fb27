"""Choose the next pair of a survey, so that every item is covered and answers distinguish camps.

The most informative pair is the same for all visitors without answers, so a survey that always asked it would learn
about a few items only. Here half of the questions, and all of the first ones, go to the items with the fewest answers.
"""

import hashlib
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from plurank.types import Floats
from plurank.web.schemas import Id

N_EXPLORING = 4  # first questions of a visitor, which go to items with few answers
P_EXPLORE = 0.5  # probability that a later question does, too
N_INFORMATIVE = 20  # most informative pairs, one of which is drawn
MIN_GAIN = 1e-6  # bits; a question below it is uninformative

CodePair = tuple[int, int]  # codes of two items


class AskedPairs:
    """Counts how often each pair was asked by this process, in addition to the answers stored before it started."""

    def __init__(self, counted: Iterable[tuple[Id, Id, int]] = ()) -> None:
        self.items: Counter[Id] = Counter()
        self.partners: defaultdict[Id, Counter[Id]] = defaultdict(Counter)
        self.lock = threading.Lock()
        for one, other, n in counted:
            self.add(one, other, n)

    def add(self, one: Id, other: Id, n: int = 1) -> None:
        """Count a pair."""
        with self.lock:
            for first, second in ((one, other), (other, one)):
                self.items[first] += n
                self.partners[first][second] += n


def choose_pair(
    ids: Sequence[Id],
    asked: AskedPairs,
    own: set[frozenset[int]],
    visitor: str,
    find_informative: Callable[[int], Sequence[tuple[CodePair, float]]],
) -> CodePair | None:
    """Return the next pair to ask a visitor; None where all pairs are in ``own``, those that the visitor was asked.

    ``find_informative`` returns the most informative pairs with their gains. The random generator depends on the
    visitor and on the number of pairs asked only.
    """
    rng = _generator(visitor, len(own))
    votes = np.array([asked.items[id] for id in ids], dtype=np.float64)
    if len(own) >= N_EXPLORING and rng.random() >= P_EXPLORE:
        best = [(pair, gain) for pair, gain in find_informative(N_INFORMATIVE) if gain > MIN_GAIN]
        if best:
            return _draw_informative(best, votes, rng)
    return _find_least_asked(ids, asked, own, votes, rng)


def _draw_informative(best: Sequence[tuple[CodePair, float]], votes: Floats, rng: np.random.Generator) -> CodePair:
    """Draw a pair with probability proportional to its gain, divided by 1 + the answers about its items."""
    weights = np.array([gain / (1.0 + votes[left] + votes[right]) for (left, right), gain in best])
    return best[int(rng.choice(len(best), p=weights / weights.sum()))][0]


def _find_least_asked(
    ids: Sequence[Id],
    asked: AskedPairs,
    own: set[frozenset[int]],
    votes: Floats,
    rng: np.random.Generator,
) -> CodePair | None:
    """Return the item with the fewest answers and the one it was compared with least; ties are broken at random."""
    jitter = rng.random(len(ids))
    taken: defaultdict[int, set[int]] = defaultdict(set)
    for pair in own:
        one, other = sorted(pair)
        taken[one].add(other)
        taken[other].add(one)
    for first in np.argsort(votes + jitter, kind="stable").tolist():
        compared = asked.partners.get(ids[first], Counter[Id]())
        counts = np.array([compared[id] for id in ids], dtype=np.float64)
        for second in np.lexsort((votes + jitter, counts)).tolist():
            if second != first and second not in taken[first]:
                return (first, second) if rng.random() < 0.5 else (second, first)
    return None


def _generator(visitor: str, n_asked: int) -> np.random.Generator:
    seed = hashlib.sha256(f"{n_asked} {visitor}".encode("utf-8", "backslashreplace")).digest()
    return np.random.default_rng(int.from_bytes(seed[:16], "big"))

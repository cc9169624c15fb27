"""Fuzz for as long as you like, with every door in turn.

    python -m tests.fuzz.long [--minutes 5] [--seed 0] [--only csv,model] [--keep FOLDER]

Bytes that were taken become new seeds, so that changes add up. What breaks a promise is kept in a folder and told, with
status 1 at the end. A crash of the whole process leaves the bytes in FOLDER/last.
"""

import argparse
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.fuzz.targets import PIECES, TARGETS, Edit, apply

MOST_SEEDS = 200


def draw_edits(draw: random.Random) -> list[Edit]:
    def piece() -> bytes:
        return draw.choice(PIECES) if draw.random() < 0.7 else draw.randbytes(draw.randint(1, 4))

    return [(draw.randrange(2**16), draw.choice([0, 0, 1, 1, 2, 4, 8, 30]), piece()) for _ in range(draw.randint(1, 6))]


class Hunt:
    """One target with its seeds, what was tried, and what was found, by the place in the code where it broke."""

    def __init__(self, name: str, keep: Path) -> None:
        self.name, self.target, self.keep = name, TARGETS[name], keep
        self.seeds = list(enumerate(self.target.seeds()))
        self.n_first = len(self.seeds)
        self.counts: Counter[str] = Counter()
        self.found: dict[str, bytes] = {}

    def step(self, draw: random.Random) -> None:
        """Try one input."""
        number, seed = draw.choice(self.seeds)
        data = apply(seed, draw_edits(draw))
        (self.keep / "last").write_bytes(f"{self.name} {number}\n".encode() + data)
        try:
            taken = self.target.run(number, data)
        except (Exception, BaseException) as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self._note(error, number, data)
        else:
            self.counts["taken" if taken else "refused"] += 1
            if taken:
                self._learn(number, data, draw)

    def _learn(self, number: int, data: bytes, draw: random.Random) -> None:
        if len(self.seeds) < MOST_SEEDS:
            self.seeds.append((number, data))
        else:
            self.seeds[draw.randrange(self.n_first, MOST_SEEDS)] = (number, data)

    def _note(self, error: BaseException, number: int, data: bytes) -> None:
        self.counts["broken"] += 1
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "plurank" in frame.filename]
        where = f"{type(error).__name__} at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        if where not in self.found:
            self.found[where] = data
            (self.keep / f"{self.name} {number} {where}".replace("/", "_").replace(":", "_")).write_bytes(data)
            print(f"{self.name}, seed {number}: {where}: {error!s:.300}\n  {data!r:.400}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="names of targets, with commas between them; all by default")
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "plurank-fuzz")
    given = parser.parse_args()
    given.keep.mkdir(parents=True, exist_ok=True)
    draw = random.Random(given.seed)
    names = [name for name in TARGETS if given.only is None or name in given.only.split(",")]
    hunts = [Hunt(name, given.keep) for name in names]
    deadline = time.monotonic() + 60 * given.minutes
    while time.monotonic() < deadline:
        for hunt in hunts:
            hunt.step(draw)
    for hunt in hunts:
        total = sum(hunt.counts.values())
        print(f"{hunt.name}: {total:,} inputs, {dict(hunt.counts)}, {len(hunt.found)} kinds of findings")
    sys.exit(any(hunt.found for hunt in hunts))


if __name__ == "__main__":
    main()

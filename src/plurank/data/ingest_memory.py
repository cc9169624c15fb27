"""How much of a data set is held in memory at once, given the most that may be used."""

import re
from dataclasses import dataclass
from typing import Any

from plurank.exceptions import ParameterError

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
LEAST, MOST = 500 * 10**6, 10**15
PROGRAM = 300 * 10**6  # Python and its libraries, before any data
# the most bytes taken for each row, beside those of its ids, which are held about four times
COPIES = 4
BATCH_ROW, SHARD_ROW, USER_ROW, ITEM = 1000, 500, 80, 100


@dataclass(frozen=True)
class Budget:
    """The bytes that there are for data, and the sizes of the pieces that are worked on one at a time."""

    room: int
    text_bytes: int  # of a text file, read at once
    batch_rows: int  # read and sorted at once
    shard_rows: int  # comparisons of a shard; more only of a single user

    @classmethod
    def of(cls, memory: int) -> "Budget":
        """Divide up the memory; short rows, of six bytes, are the ones that take most for each byte of text."""
        room = memory - PROGRAM
        return cls(room, text_bytes=room * 6 // (BATCH_ROW + COPIES * 54), batch_rows=2**22, shard_rows=2**23)

    def rows_of_batch(self, width: float) -> int:
        """Give how many rows to read at once, if the ids of one take so many bytes."""
        return max(1, min(self.batch_rows, int(self.room / (BATCH_ROW + COPIES * width))))

    def rows_of_shard(self, width: float) -> int:
        """Give how many comparisons to merge at once, if the labels of users are so many bytes for each."""
        return max(1, min(self.shard_rows, int(self.room / (SHARD_ROW + COPIES * width))))

    @property
    def rows_of_user(self) -> int:
        """How many comparisons of one user can be merged."""
        return self.room // USER_ROW

    def has_room_for_items(self, n_items: int, n_bytes: int) -> bool:
        """Tell whether so many items, whose ids are so many bytes, leave room for the rest."""
        return ITEM * n_items + COPIES * n_bytes <= self.room // 2


def parse_memory(memory: Any) -> int:
    """Give a number of bytes, written as such or like "2GB", "1.5 GiB" or "800M"."""
    text = str(memory).strip().lower() if isinstance(memory, (int, str)) and not isinstance(memory, bool) else ""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text)
    if found is None or (found[3] and not found[2]):
        raise ParameterError(f"memory must be a size such as '2GB' or '800MB', got {memory!r}.")
    n_bytes = float(found[1]) * (BINARY_UNITS if found[3] else UNITS)[found[2]]
    if n_bytes < LEAST:
        raise ParameterError(f"memory must be at least {LEAST // 10**6}MB, got {memory!r}.")
    if n_bytes > MOST:
        raise ParameterError(f"memory must be at most {MOST // 10**12:,}TB, got {memory!r:.60}.")
    return int(n_bytes)

"""Files that are whole or absent: written beside, flushed to disk, renamed."""

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def write_beside(target: Path) -> Iterator[Path]:
    """Give a name beside the target to write to; rename it at the end, or remove it if anything fails."""
    beside = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    try:
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_json(target: Path, value: Any) -> None:
    """Write a value as JSON."""
    with write_beside(target) as beside, beside.open("w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)
        file.write("\n")

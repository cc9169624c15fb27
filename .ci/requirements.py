"""Print what an extra of plurank needs, plurank's own needs included: ``python .ci/requirements.py dev``.

So that dependencies can be installed while the wheel is still being built.
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def needs_of(extra: str) -> list[str]:
    """List the requirements of an extra, with those of the extras that it names."""
    found = []
    for line in PROJECT["optional-dependencies"][extra]:
        own = re.fullmatch(rf"{PROJECT['name']}\[(.+)\]", line)
        found += [need for name in own[1].split(",") for need in needs_of(name.strip())] if own else [line]
    return found


if __name__ == "__main__":
    print(*PROJECT["dependencies"], *needs_of(sys.argv[1]), sep="\n")

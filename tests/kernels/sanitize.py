"""Run the tests of the kernels, and many random shapes, under address and undefined-behaviour sanitizers.

    python -m tests.kernels.sanitize [--shapes 2000]

The package is copied, its native library compiled with the sanitizers, and used from there in a process of its own,
so that a read or write out of bounds ends it with a report. ``make sanitize`` runs this.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g"
BUILD = ["-std=c++20", "-fPIC", "-shared", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-Wno-psabi"]


def build(package: Path) -> None:
    """Compile both kinds of the library into the copied package."""
    sources = sorted(map(str, (package / "kernels/native").glob("*.cpp")))
    for kind, more in (("baseline", []), ("avx2", ["-mavx2"])):
        target = package / f"kernels/native_{kind}.so"
        subprocess.run(["g++", *BUILD, *FLAGS.split(), *more, *sources, "-o", str(target)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", type=int, default=2000)
    n_shapes = parser.parse_args().shapes
    preload = subprocess.run(["g++", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "plurank"
        shutil.copytree(ROOT / "src/plurank", package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        build(package)
        environment = {
            **os.environ,
            "LD_PRELOAD": preload.strip(),
            "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps memory on purpose
            "PYTHONPATH": os.pathsep.join([folder, str(ROOT)]),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        for kind in ("avx2", "baseline"):
            kept = {**environment, "PLURANK_KERNELS": kind}
            shapes = [sys.executable, "-m", "tests.kernels.shapes", str(n_shapes)]
            subprocess.run(shapes, env=kept, cwd=ROOT, check=True)
        tests = ["tests/kernels", "-s", "-p", "no:cacheprovider", "--ignore", "tests/kernels/test_switches.py"]
        subprocess.run([sys.executable, "-m", "pytest", *tests], env=environment, cwd=ROOT, check=True)
    print(f"clean: {n_shapes:,} random shapes for each of two instruction sets, and the tests of the kernels")


if __name__ == "__main__":
    main()

"""Check the archives in a folder, then install each into a clean environment and try it: ``make release`` runs this.

What must be in the source archive and the wheel is listed here; nothing may name a folder of the machine that built it.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
IN_SOURCE = [
    "CHANGELOG.md", "CITATION.cff", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
    "SECURITY.md", "pyproject.toml", "setup.py", "mkdocs.yml", "conftest.py", "benchmarks/README.md",
    "benchmarks/common.py", "docs/tutorial.md", "docs/images/rankings.svg", "src/plurank/__init__.py",
    "src/plurank/py.typed", "src/plurank/kernels/native/lanes.hpp", "tests/conftest.py", "tests/kernels/twins.py",
]  # fmt: skip
IN_WHEEL = [
    "plurank/py.typed", "plurank/__init__.pyi", "plurank/metrics/__init__.pyi", "plurank/topic/__init__.pyi",
    "plurank/data/__init__.pyi", "plurank/report/page.css", "plurank/report/page.html.jinja",
    "plurank/web/page/index.html", "plurank/web/page/page.js", "plurank/kernels/native_baseline.so",
]  # fmt: skip
# models belong there only as fixtures of earlier versions
UNWANTED = re.compile(r"__pycache__|\.py[co]$|\.coverage|\.venv|\.db$|^(?!.*tests/compatibility/).*\.plurank$")
LOCAL = re.compile(rb"/(?:home|root|Users|tmp|work|opt)/\w")
LARGEST = 200_000  # bytes of any one file
TRY = """
import importlib.metadata, importlib.resources, plurank
assert importlib.resources.files("plurank").joinpath("py.typed").is_file()
people = plurank.simulate(200, 6, 2, 20, random_state=0)
model = plurank.MixedRanking(2, random_state=0).fit(people.comparisons)
model.save("try.plurank")
questions = people.comparisons.to_frame().rename({"winner": "left", "loser": "right"})
assert plurank.load("try.plurank").predict_proba(questions).mean() > 0.5
print("plurank", plurank.__version__, "imported from its installation")
"""


def contents(archive: Path) -> dict[str, bytes]:
    """Give the files of an archive; those of a source archive without its topmost folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}
    with tarfile.open(archive) as source:
        files = [member for member in source.getmembers() if member.isfile()]
        return {member.name.partition("/")[2]: source.extractfile(member).read() for member in files}


def check_contents(archive: Path, version: str) -> None:
    """Stop where something is missing, unwanted, too large, or names a local folder."""
    files = contents(archive)
    wheel = archive.suffix == ".whl"
    unwanted = re.compile(UNWANTED.pattern + r"|\.[ch]pp$") if wheel else UNWANTED
    wanted = [*IN_WHEEL, f"plurank-{version}.dist-info/licenses/LICENSE"] if wheel else IN_SOURCE
    problems = [f"{name} is missing" for name in wanted if name not in files]
    for name, content in files.items():
        if unwanted.search(name):
            problems.append(f"{name} does not belong there")
        if len(content) > LARGEST:
            problems.append(f"{name} has {len(content):,} bytes")
        problems += [f"{name} names {found.decode()}..." for found in LOCAL.findall(content)]
    if problems:
        sys.exit("\n".join([f"{archive.name}:", *problems]))
    print(f"{archive.name}: {len(files)} files, {archive.stat().st_size:,} bytes, nothing missing, nothing local")


def try_installed(archive: Path, version: str) -> None:
    """Install into an environment of its own, away from the sources, and use it."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder, "env"), with_pip=True)
        commands = Path(folder, "env", "Scripts" if os.name == "nt" else "bin")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}

        def run(*command: object) -> str:
            result = subprocess.run(
                [str(part) for part in command], cwd=folder, env=clean, capture_output=True, text=True, check=False
            )
            if result.returncode != 0:
                sys.exit(f"{archive.name}: {command[0]} failed\n{result.stdout}{result.stderr}")
            return result.stdout

        run(commands / "python", "-m", "pip", "install", "--quiet", archive.resolve())
        print(run(commands / "python", "-W", "error", "-c", TRY).strip())
        told = run(commands / "plurank", "--version")
        assert told.startswith(f"plurank {version} (kernels: native"), told
        run(commands / "plurank", "demo")
        print(f"{archive.name}: installed, and plurank demo ran")


def main(folder: Path) -> None:
    """Check everything in a folder."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    archives = [folder / f"plurank-{version}.tar.gz", *folder.glob(f"plurank-{version}-py3-none-*.whl")]
    for archive in archives:
        check_contents(archive, version)
    for archive in archives:
        try_installed(archive, version)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Build the environments of the peers: one for those that install together, one for each that does not.

    python -m benchmarks.peers.environments [--folder .peers]

An environment that cannot be built is reported, and its methods are left out of the table with that reason.
"""

import subprocess
import sys
from pathlib import Path

from benchmarks.common import parser_of

PINS = {
    "main": (
        "choix==0.4.1", "evalica==0.4.2", "crowd-kit==1.4.2", "scikit-learn==1.9.1", "tomotopy==0.14.0",
        "implicit==0.7.3", "cornac==3.0.1", "polars>=1.20",
    ),
    "smurff": ("smurff==1.1", "polars>=1.20"),
    "numpyro": ("numpyro==0.22.0", "jax==0.10.2", "polars>=1.20"),
    "reddwarf": ("red-dwarf==0.4.0", "polars>=1.20"),
    "lcl": ("lcl-choice==0.1.46", "jax==0.10.2", "polars>=1.20"),
    "lightfm": ("lightfm-next==1.19.0", "polars>=1.20"),
}  # fmt: skip


def python_of(environment: str, folder: Path) -> Path | None:
    """Give the interpreter of an environment, None where there is none; plurank's own is the one that runs this."""
    if environment == "plurank":
        return Path(sys.executable)
    built = folder / environment / "pins.txt"
    return folder / environment / "bin" / "python" if built.exists() else None


def build(environment: str, folder: Path) -> bool:
    """Build one environment unless it is there with the same pins; tell whether it is there now."""
    home, pins = folder / environment, PINS[environment]
    mark = home / "pins.txt"
    if mark.exists() and mark.read_text().split() == list(pins):
        return True
    print(f"building {home} ({', '.join(pins)})", flush=True)
    mark.unlink(missing_ok=True)
    install = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pins]
    for command in ([sys.executable, "-m", "venv", str(home)], install):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"cannot build {home}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return False
    mark.write_text("\n".join(pins))
    return True


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--folder", type=Path, default=Path(".peers"))
    folder = parser.parse_args().folder
    for environment in PINS:
        build(environment, folder)


if __name__ == "__main__":
    main()

"""Fuzz one door with atheris, which looks for bytes that reach new code (pip install atheris; Linux and macOS).

    python -m tests.fuzz.guided csv -max_total_time=300

All but the name of the target are libFuzzer's options; the first byte of an input says which seed it is of.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["plurank"], enable_loader_override=False):
    from tests.fuzz.targets import PIECES, TARGETS


def main() -> None:
    target = TARGETS[sys.argv[1]]
    seeds = target.seeds()
    with tempfile.TemporaryDirectory() as folder:
        words, corpus = Path(folder) / "words", Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(seeds):
            (corpus / str(number)).write_bytes(bytes([number]) + seed)
        escaped = ("".join(f"\\x{byte:02x}" for byte in piece) for piece in PIECES if piece)
        words.write_text("".join(f'"{word}"\n' for word in escaped))

        def use(data: bytes) -> None:
            if data:
                target.run(data[0] % len(seeds), data[1:])

        atheris.Setup([sys.argv[0], f"-dict={words}", "-max_len=4096", *sys.argv[2:], str(corpus)], use)
        atheris.Fuzz()


if __name__ == "__main__":
    main()

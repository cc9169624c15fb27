"""Tests that take minutes, and quality checks that are also commands: agreement, soak, extremes, faults."""

from pathlib import Path

RESULTS = Path(__file__).parent / "results"  # of the commands, discussed in docs/quality.md

"""The command line: parse, call one public function, format."""

from plurank.cli.program import main

__all__ = ["main"]

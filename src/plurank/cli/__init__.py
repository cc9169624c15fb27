"""The command line: parse, call one public function, format."""

from plurank.cli.app import main

__all__ = ["main"]

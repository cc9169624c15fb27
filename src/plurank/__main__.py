"""``python -m plurank`` is the command line."""

from plurank.cli import main

main()

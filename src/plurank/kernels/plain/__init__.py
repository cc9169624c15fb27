"""The plain twins: every native function again, slow and readable.

Tests compare the two, and where no native library was built the twins run in its place.
"""

"""Comparisons on disk, for more of them than fit in memory."""

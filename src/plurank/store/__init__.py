"""Comparisons, ratings and rankings on disk, for more of them than fit in memory."""

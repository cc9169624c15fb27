"""Data input: comparisons, ratings and rankings, read from files and frames, and validated once."""

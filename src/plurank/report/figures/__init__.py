"""Figures, one file a family; each function gives an altair chart."""

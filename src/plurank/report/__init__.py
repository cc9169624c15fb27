"""Figures, tables and the page: what a fitted model looks like."""

"""Figures, words and the page that explain a fitted model to people."""

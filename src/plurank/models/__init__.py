"""Estimators: fit, transform, predict; the mathematics is elsewhere."""

"""How good rankings and predictions are."""

"""Given the rankings: the prior, every user's weights, and predictions."""

"""Comparisons in memory, and the weights of those who made them."""

import numpy as np

from plurank import Comparisons
from plurank.algorithms import crowd
from plurank.algorithms.crowd import InMemory


def test_a_sample_of_ratings_is_larger_by_how_little_their_comparisons_count(monkeypatch, rng):
    low, high = np.triu_indices(4, 1)  # 6 comparisons of 4 items are 3 observations
    c = Comparisons.from_arrays(np.repeat(np.arange(5), 6), np.tile(low, 5), np.tile(high, 5))
    asked = []
    monkeypatch.setattr(crowd, "sample_for_scores", lambda *given: asked.append(given[-1]))
    InMemory(c).sample(2, rng)
    InMemory(c).sample(2, rng, rated=True)
    assert asked == [None, 0.5]

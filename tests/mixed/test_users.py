"""Comparisons in memory and in a store, and the weights of those who made them."""

import numpy as np
import pytest

from plurank import Comparisons, ingest
from plurank.mixed import users
from plurank.mixed.users import Users, WeightFiles


@pytest.mark.parametrize("where", ["memory", "store"])
def test_a_sample_of_ratings_is_larger_by_how_little_their_comparisons_count(where, monkeypatch, rng, tmp_path):
    low, high = np.triu_indices(4, 1)  # 6 comparisons of 4 items are 3 observations
    c = Comparisons.from_arrays(np.repeat(np.arange(5), 6), np.tile(low, 5), np.tile(high, 5))
    if where == "memory":
        people = Users(c)
    else:
        c.to_frame().write_csv(tmp_path / "votes.csv")
        store = ingest(tmp_path / "votes.csv", tmp_path / "votes.store")
        people = Users(store, storage=WeightFiles(tmp_path))
    asked = []
    monkeypatch.setattr(users, "sample_for_scores", lambda *given: asked.append(given[-1]))
    people.sample(2, 10, rng)
    people.sample(2, 10, rng, rated=True)
    assert asked == [None, 0.5]

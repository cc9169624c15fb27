"""The control of the benchmark of effects: coefficients drawn by a regression that knows the scores."""

import numpy as np
import polars as pl
import pytest

from benchmarks.effects_coverage import count_held, describe, draw_known, share_tables, simulate
from plurank.regression.coefficients import softmax


@pytest.mark.parametrize("mixing", ["utility", "probability"])
def test_slopes_drawn_with_known_scores_are_as_far_from_the_truth_as_they_say(mixing):
    apart = []
    for seed in range(40):
        made = simulate(100, 10, 2, mixing, seed)
        drawn = draw_known(made, mixing, seed)[:, 1:, 0]
        apart.append((made.truth.slopes[:, 0] - drawn.mean(axis=0)) / drawn.std(axis=0))
    # 120 nearly independent squares of standard normals: their mean has standard deviation (2 / 120) ** 0.5 = 0.13
    assert np.mean(np.square(apart)) == pytest.approx(1.0, abs=4 * 0.13)


def test_shares_at_a_level_are_means_over_people_who_would_have_it():
    made = simulate(50, 5, 3, "utility", 0)
    effects = pl.DataFrame({"attribute": ["age", "level"], "level": ["10%", "c"], "value": [-1.5, None]})
    age = made.people["age"].to_numpy()
    level = np.searchsorted(["a", "b", "c"], made.people["level"].to_numpy())
    rows = [describe(np.full(50, -1.5), level), describe(age, np.full(50, 2))]
    expected = [softmax(made.truth.table[0] + row @ made.truth.slopes).mean(axis=0) for row in rows]
    np.testing.assert_allclose(share_tables(made, effects, made.truth.table[None])[0], expected)


def test_bounds_belong_to_intervals():
    assert count_held(np.array([0.0, 0.2, 0.6]), np.array([0.5, 0.4, 0.9]), np.array([0.0, 0.5, 0.7])) == 2 / 3

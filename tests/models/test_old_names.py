"""Names of version 0.1 work for one release, with a warning."""

import numpy as np
import pytest

import plurank
from plurank.models.fields import RENAMED


@pytest.fixture(scope="module")
def model(easy):
    return plurank.MixedRanking(2, mixing="probability", concentration=1.0, score_scale=1.0, random_state=0).fit(
        easy.comparisons
    )


@pytest.mark.parametrize(("old", "value"), [("start", "items"), ("spread", 2.0), ("rated", True)])
def test_a_parameter_is_taken_by_its_old_name_with_a_warning(old, value):
    with pytest.warns(DeprecationWarning, match=f"{old} is now {RENAMED[old]}"):
        made = plurank.MixedRanking(3, **{old: value})
    assert made.get_params()[RENAMED[old]] == value
    with pytest.warns(DeprecationWarning, match=f"{old} is now {RENAMED[old]}"):
        assert plurank.MixedRanking(3).set_params(**{old: value}).get_params() == made.get_params()


@pytest.mark.parametrize("old", [name for name in RENAMED if name.endswith("_")])
def test_an_attribute_is_read_by_its_old_name_with_a_warning(model, old):
    with pytest.warns(DeprecationWarning, match=f"{old} is now {RENAMED[old]}"):
        np.testing.assert_array_equal(getattr(model, old), getattr(model, RENAMED[old]))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (plurank.MixedRanking(1, "mallows", random_state=0), "component='mallows'"),
        (plurank.TopicRanking(1, directions="sphere", random_state=0), "directions"),
        (plurank.TopicRanking(1, regression_tol=1e-6, random_state=0), "regression_tol"),
        (plurank.TopicRanking(1, prior="likelihood", random_state=0), "prior"),
    ],
)
def test_what_nobody_needs_is_deprecated(model, name):
    comparisons = plurank.simulate(30, 4, 1, 10, random_state=0).comparisons
    with pytest.warns(DeprecationWarning, match=f"^{name} is deprecated and will be removed in 0.3: "):
        model.fit(comparisons)

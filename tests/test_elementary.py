"""What plurank computes by itself, so as not to wait for scipy, is what scipy computes."""

import numpy as np
import pytest
from scipy import special

from plurank import elementary

NUMBERS = np.concatenate([np.linspace(-40.0, 40.0, 401), [-800.0, 800.0, -1e-9, 1e-9]])
SHARES = np.concatenate([np.linspace(0.001, 0.999, 401), [1e-12, 1.0 - 1e-12, 1e-300]])


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("expit", NUMBERS, special.expit(NUMBERS)),
        ("log_expit", NUMBERS, special.log_expit(NUMBERS)),
        ("logit", SHARES, special.logit(SHARES)),
        ("entropy", SHARES, (special.entr(SHARES) + special.entr(1.0 - SHARES)) / np.log(2.0)),
        ("log_gamma", SHARES * 50.0, special.gammaln(SHARES * 50.0)),
    ],
)
def test_it_is_what_scipy_computes(name, values, expected):
    np.testing.assert_allclose(getattr(elementary, name)(values), expected, rtol=1e-13, atol=1e-15)


def test_a_coin_that_always_falls_the_same_way_has_no_entropy():
    np.testing.assert_array_equal(elementary.entropy(np.array([0.0, 1.0])), 0.0)


def test_the_lowest_point_is_found_inside_and_at_the_ends():
    for lowest in (0.0, 0.1234567, 0.5):
        found = elementary.minimise(lambda x, at=lowest: np.cosh(x - at), 0.0, 0.5, 1e-7)
        assert abs(found - lowest) < 1e-7


def test_numbers_in_tables_stay_where_they_are():
    table = NUMBERS[:12].reshape(3, 4)
    np.testing.assert_array_equal(elementary.expit(table).ravel(), elementary.expit(table.ravel()))

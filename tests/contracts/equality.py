"""Two models are the same in everything that fit made."""

import numpy as np

from plurank.models.fields import RENAMED


def fitted_attributes(model):
    """Every attribute that fit made, by name."""
    names = {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}
    return {name: getattr(model, name) for name in sorted(names - RENAMED.keys())}


def assert_same_model(one, other, apart_from=()):
    """Two models are of one class and equal in every fitted attribute, to the bit, apart from those named."""
    assert type(one) is type(other)
    first, second = fitted_attributes(one), fitted_attributes(other)
    assert first.keys() == second.keys()
    for name in first.keys() - set(apart_from):
        value = first[name]
        if isinstance(value, np.ndarray):
            assert value.dtype == second[name].dtype, name
            np.testing.assert_array_equal(value, second[name], err_msg=name)
        else:
            assert value == second[name], name
            assert type(value) is type(second[name]), name

"""The same answers with the plain twins, and with the kernels as ordinary Python."""

import os
import subprocess
import sys

import numpy as np
import pytest

SCRIPT = """
import sys
import numpy as np
import plurank

s = plurank.simulate(60, 5, 2, 9, random_state=2, mean_weights=[0.5, 0.5])
frame = s.comparisons.to_frame()
c = plurank.Comparisons.from_arrays(frame["user"], frame["winner"], frame["loser"], np.tile([1.0, 2.0, 0.5], 180))
found = {}
for detection in ("whitened", "projections"):
    m = plurank.TopicRanking(2, detection, n_projections=60, random_state=0).fit(c)
    for name in ("rankings_", "user_weights_", "mean_weights_", "concentration_", "flip_probability_", "solid_angles_"):
        found[detection + name] = getattr(m, name)
    found[detection + "score"] = m.score(c)
found["plain"] = plurank.kernels.group.__module__ == "plurank.kernels.reference"
found["compiled"] = hasattr(plurank.kernels.group, "py_func")
np.savez(sys.argv[1], **found)
"""


def fit_elsewhere(path, **switches):
    environment = {k: v for k, v in os.environ.items() if k not in ("PLURANK_PLAIN", "NUMBA_DISABLE_JIT")}
    subprocess.run([sys.executable, "-c", SCRIPT, str(path)], env=environment | switches, check=True, timeout=300)
    with np.load(path) as found:
        return dict(found)


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    found = fit_elsewhere(tmp_path_factory.mktemp("usual") / "fit.npz")
    assert found.pop("compiled")
    assert not found.pop("plain")
    return found


@pytest.mark.parametrize("switch", ["PLURANK_PLAIN", "NUMBA_DISABLE_JIT"])
def test_a_fit_without_compiled_kernels_gives_the_same_model(switch, usual, tmp_path):
    found = fit_elsewhere(tmp_path / "fit.npz", **{switch: "1"})
    assert found.pop("plain") == (switch == "PLURANK_PLAIN")
    assert not found.pop("compiled")
    assert found.keys() == usual.keys()
    for name, value in usual.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-6, atol=1e-9, err_msg=name)


WITHOUT_A_PLACE = """
import warnings
from numba.core.caching import CompileResultCacheImpl
CompileResultCacheImpl._locator_classes = []  # as where no folder can be written to
with warnings.catch_warnings(record=True) as caught:
    from plurank import kernels
print([str(warning.message).split(",")[0] for warning in caught])
print(kernels.group(__import__("numpy").array([1, 0, 1], dtype="int32"), 2)[0].tolist())
"""


def test_where_compiled_code_cannot_be_kept_a_warning_says_so_and_kernels_work():
    done = subprocess.run([sys.executable, "-c", WITHOUT_A_PLACE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['compiled code cannot be kept']", "[1, 0, 2]"]

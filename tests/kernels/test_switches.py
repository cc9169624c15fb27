"""The same answers with each of the native libraries and with the plain twins."""

import os
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest

from plurank.kernels import library

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
for mixing in ("probability", "utility"):
    m = plurank.MixedRanking(2, mixing=mixing, max_iter=8, random_state=0, concentration=1.0, spread=1.0).fit(c)
    for name in ("scores_", "score_errors_", "user_weights_", "log_posterior_"):
        found[mixing + name] = getattr(m, name)
found["active"] = plurank.kernels.library.ACTIVE
np.savez(sys.argv[1], **found)
"""


def fit_elsewhere(path, kind):
    environment = {k: v for k, v in os.environ.items() if k != "PLURANK_KERNELS"} | kind
    subprocess.run([sys.executable, "-c", SCRIPT, str(path)], env=environment, check=True, timeout=300)
    with np.load(path) as found:
        return dict(found)


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    found = fit_elsewhere(tmp_path_factory.mktemp("usual") / "fit.npz", {})
    assert found.pop("active") == library.ACTIVE != "plain"
    return found


def test_the_library_for_any_processor_gives_the_same_model_to_the_last_bit(usual, tmp_path):
    found = fit_elsewhere(tmp_path / "fit.npz", {"PLURANK_KERNELS": "baseline"})
    assert found.pop("active") == "baseline"
    assert found.keys() == usual.keys()
    for name, value in usual.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def test_the_plain_twins_give_the_same_model(usual, tmp_path):
    found = fit_elsewhere(tmp_path / "fit.npz", {"PLURANK_KERNELS": "plain"})
    assert found.pop("active") == "plain"
    assert found.keys() == usual.keys()
    for name, value in usual.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-6, atol=1e-8, err_msg=name)


WITHOUT_A_LIBRARY = """
import pathlib, warnings
exists = pathlib.Path.exists
pathlib.Path.exists = lambda path: path.suffix != ".so" and exists(path)  # as where no compiler was found
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from plurank import kernels
print(kernels.library.ACTIVE, [str(warning.message).split(" and ")[0] for warning in caught])
print(kernels.group(__import__("numpy").array([1, 0, 1], dtype="int32"), 2)[0].tolist())
"""


def test_without_a_library_one_warning_says_so_and_the_twins_run():
    done = subprocess.run([sys.executable, "-c", WITHOUT_A_LIBRARY], capture_output=True, text=True, check=True)
    said = ["plain ['plurank has no native library here (it was not built)']", "[1, 0, 2]"]
    assert done.stdout.splitlines() == said


@pytest.mark.parametrize(("damaged", "expected"), [("avx2", "baseline"), ("baseline", "plain")])
def test_a_library_that_cannot_be_loaded_is_passed_over(damaged, expected, tmp_path, monkeypatch):
    for path in library.FOLDER.glob("native_*.so"):
        shutil.copy(path, tmp_path)
    (tmp_path / f"native_{damaged}.so").write_bytes(b"no library")
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    monkeypatch.delenv("PLURANK_KERNELS", raising=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert library.choose_library()[0] == expected
    assert len(caught) == (expected == "plain")


def test_a_library_of_another_version_is_refused(monkeypatch):
    monkeypatch.setattr(library, "ABI_VERSION", library.ABI_VERSION + 1)
    with pytest.raises(OSError, match="of another version of plurank"):
        library.load_library("baseline")

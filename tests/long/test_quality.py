"""Short runs of the quality checks; each is a command, too, for as long as one likes: python -m tests.long.soak."""

import os
import random

import pytest

from tests.long import agreement, extremes, faults, soak

ROUNDING = ("native, plain twins", "rows, rows shuffled", "weight 2, rows twice")  # sums in another order
CLOSE = 1e-7  # ten times the largest difference in docs/quality.md
SEED = random.SystemRandom().randrange(10**6) if os.environ.get("PLURANK_EXAMPLES") == "random" else 0
SMALL = {
    "10^6 items": lambda: extremes.many_items(5_000),
    "one user, 10^7 comparisons": lambda: extremes.one_user(10**5),
    "10^6 users, two comparisons each": lambda: extremes.many_users(10**4),
    "all users identical": extremes.identical,
    "all comparisons contradictory": extremes.contradictory,
}
CANNOT_TELL = ("one user, 10^7 comparisons", "all users identical", "all comparisons contradictory")


@pytest.mark.filterwarnings("ignore")  # as the command does; that a fit stops early is meant
@pytest.mark.parametrize("compare", [agreement.by_switches, agreement.by_engine, agreement.by_input])
def test_the_same_fit_in_two_ways_has_the_same_answer(compare, tmp_path):
    for row in compare(tmp_path):
        bound = CLOSE if row["what"] in ROUNDING else 0.0
        assert row.get("rankings_", 0.0) == 0.0, row
        assert all(value <= bound for name, value in row.items() if name not in ("what", "model")), row


def test_random_fits_give_sound_models_or_a_sentence(tmp_path):
    ends, _, broken, _ = soak.run(60, SEED, tmp_path)
    assert not broken, f"python -m tests.long.soak --fits 60 --seed {SEED}"
    assert ends.total() == 60


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", extremes.MODELS)
@pytest.mark.parametrize("data", extremes.DATA)
def test_extreme_data_are_fitted_or_refused_with_a_sentence(data, name):
    outcome = extremes.fit(data, name, SMALL[data]())
    can_fail = data in CANNOT_TELL and "2" in name  # two rankings of what has one
    assert outcome == "fitted" or (can_fail and outcome.endswith(".")), outcome


@pytest.mark.parametrize("kind", faults.KINDS)
def test_nothing_acknowledged_is_lost_when_a_process_is_killed(kind):
    assert faults.kill_often(kind, 4, SEED)["broken_promises"] == 0

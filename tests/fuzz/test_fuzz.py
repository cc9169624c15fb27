"""Whatever bytes come in: it works, or there is a sentence. `python -m tests.fuzz.long` looks for longer."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import PIECES, TARGETS, apply

piece = st.one_of(st.sampled_from(PIECES), st.binary(max_size=4))
edits = st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 12), piece), min_size=1, max_size=5)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=25, derandomize=True, suppress_health_check=list(HealthCheck))
@given(number=st.integers(0, 12), changes=edits)
def test_changed_bytes_are_taken_or_refused_with_a_sentence(name, number, changes):
    target = TARGETS[name]
    seeds = target.seeds()
    target.run(number % len(seeds), apply(seeds[number % len(seeds)], changes))


@pytest.mark.parametrize("name", TARGETS)
def test_bytes_that_are_not_changed_are_taken(name):
    target = TARGETS[name]
    for number, seed in enumerate(target.seeds()):
        assert target.run(number, seed), number

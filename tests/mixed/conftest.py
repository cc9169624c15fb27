"""People and models that several tests share."""

import pytest

from tests.mixed.kinds import KINDS, make
from tests.oracles.simulated_scores import simulate_scores


@pytest.fixture(scope="module")
def truth():
    return simulate_scores(150, 8, 2, 40, "probability", 1, score_scale=1.5, shared=0.5, concentration=0.5)


@pytest.fixture(scope="module")
def models(truth):
    return {kind: make(kind).fit(truth.comparisons) for kind in KINDS}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def model(kind, models):
    return models[kind]

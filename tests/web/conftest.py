"""What the service's tests share: models with text and with whole numbers as ids, and clients."""

import warnings

import pytest

import plurank
from plurank.web.application import create_app
from plurank.web.configuration import ServiceSettings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette prefers a newer httpx
    from fastapi.testclient import TestClient

DRINKS = ["tea", "coffee", "cocoa", "milk", "water", "juice", "cola", "maté"]


def rename(comparisons):
    """Return comparisons with names of users and items instead of numbers."""
    frame = comparisons.to_frame()
    users = [f"user {user}" for user in frame["user"]]
    return plurank.Comparisons.from_arrays(
        users, [DRINKS[item] for item in frame["winner"]], [DRINKS[item] for item in frame["loser"]]
    )


@pytest.fixture(scope="session")
def drinkers():
    """Comparisons of drinks by 150 people who follow two rankings."""
    return rename(plurank.simulate(150, 8, 2, 30, random_state=0, mean_weights=[0.6, 0.4]).comparisons)


@pytest.fixture(scope="session")
def model(drinkers):
    return plurank.MixedRanking(
        2, mixing="probability", init="items", concentration=1.0, score_scale=1.0, random_state=0
    ).fit(drinkers)


@pytest.fixture(scope="session")
def numbered():
    """A model whose users and items are whole numbers."""
    made = plurank.simulate(100, 6, 2, 30, random_state=1, mean_weights=[0.6, 0.4])
    return plurank.MixedRanking(
        2, mixing="probability", init="items", concentration=1.0, score_scale=1.0, random_state=0
    ).fit(made.comparisons)


@pytest.fixture
def model_file(model, tmp_path):
    """A file of the model that a test may change."""
    model.save(tmp_path / "drinks.plurank")
    return tmp_path / "drinks.plurank"


@pytest.fixture
def open_client(tmp_path):
    """Open clients of applications that end with the test."""
    opened = []

    def open_one(model, **settings):
        given = {"feedback": str(tmp_path / "feedback.db"), "rate": 0.0, "hide_results": False, **settings}
        opened.append(TestClient(create_app(model, ServiceSettings(**given)), raise_server_exceptions=False))
        return opened[-1].__enter__()

    yield open_one
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def client(open_client, model):
    return open_client(model)


@pytest.fixture
def refused():
    """Check that a response is an error with one sentence, and return the sentence."""

    def check(answer, status):
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/json"
        assert set(answer.json()) == {"error"}
        assert answer.json()["error"].endswith(".")
        return answer.json()["error"]

    return check

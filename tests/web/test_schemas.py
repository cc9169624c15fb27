"""The description of the interface is true: generated requests get answers of the shapes it names."""

import json
import warnings

import pytest

from plurank.web.application import create_app
from plurank.web.configuration import ServiceSettings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of libraries that schemathesis uses
    import schemathesis
    from hypothesis import HealthCheck, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

CHECKS = [not_a_server_error, response_schema_conformance, status_code_conformance, content_type_conformance]


@pytest.fixture(scope="module")
def described(model, tmp_path_factory):
    """The schema, as schemathesis reads it from the application."""
    database = str(tmp_path_factory.mktemp("interface") / "feedback.db")
    app = create_app(model, ServiceSettings(feedback=database, rate=0.0, hide_results=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield schemathesis.openapi.from_asgi("/openapi.json", app)
    app.state.service.close()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "operation",
    [
        "GET /health", "GET /rankings", "POST /predict", "POST /rank", "POST /fold-in", "POST /next-pair",
        "POST /feedback", "GET /figures/rankings", "GET /survey",
    ],
)  # fmt: skip
def test_generated_requests_are_answered_as_described(described, operation):
    method, path = operation.split()

    @settings(max_examples=25, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=described[path][method].as_strategy())
    def ask(case):
        case.call_and_validate(checks=CHECKS)

    ask()


def test_every_address_has_examples_of_the_models_own_items(client, model):
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {
        "/health", "/rankings", "/predict", "/rank", "/fold-in", "/next-pair", "/feedback", "/figures/rankings",
        "/survey",
    }  # fmt: skip
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            if path in ("/figures/rankings", "/survey"):
                continue
            status = "201" if path == "/feedback" else "200"
            assert "example" in operation["responses"][status]["content"]["application/json"]
            if method == "post":
                example = operation["requestBody"]["content"]["application/json"]["example"]
                assert model.items_[0] in json.dumps(example, ensure_ascii=False)
                assert client.post(path, json=example).status_code == int(status)


def test_the_examples_answers_are_what_the_service_answers(client):
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        operation = operations.get("post")
        if operation is not None:
            example = operation["requestBody"]["content"]["application/json"]["example"]
            (shown,) = [reply["content"]["application/json"]["example"] for reply in operation["responses"].values()
                        if "example" in reply["content"]["application/json"]]  # fmt: skip
            assert client.post(path, json=example).json() == shown


def test_with_a_token_the_description_says_so(open_client, model):
    client = open_client(model, token="secret")
    described = client.get("/openapi.json", headers={"authorization": "Bearer secret"}).json()
    assert described["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}

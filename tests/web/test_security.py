"""Access control: hosts, tokens, rate and size limits, CORS, and the headers of every response."""

import os

import pytest

from plurank.exceptions import ParameterError
from plurank.web.configuration import ServiceSettings, WorkerConfiguration, export_to_workers, import_from_parent
from plurank.web.security import (
    BURST_SECONDS,
    MAX_CLIENTS,
    RateLimiter,
    client_key,
)

ASK = {"pairs": [{"left": "tea", "right": "cola"}]}


@pytest.fixture(autouse=True)
def _no_figures(monkeypatch):
    """The figures' library takes seconds to put together."""
    monkeypatch.setattr("plurank.web.static.VegaBundle.get", lambda _: b"")


def test_a_body_may_be_as_large_as_allowed_and_no_larger(open_client, model, refused):
    client = open_client(model, max_body=200)
    body = b'{"pairs": [{"left": "tea", "right": "cola"}]}'
    headers = {"content-type": "application/json"}
    assert client.post("/predict", content=body.ljust(200), headers=headers).status_code == 200
    assert "200 bytes" in refused(client.post("/predict", content=body.ljust(201), headers=headers), 413)


def test_a_body_that_does_not_say_how_long_it_is_is_measured(open_client, model, refused):
    client = open_client(model, max_body=200)

    def pieces():
        for _ in range(100):
            yield b" " * 50

    answer = client.post("/predict", content=pieces(), headers={"content-type": "application/json"})
    assert "content-length" not in answer.request.headers
    assert "200 bytes" in refused(answer, 413)


def test_without_the_token_only_the_page_and_health_are_open(open_client, model, refused):
    client = open_client(model, token="secret")
    assert client.get("/health").status_code == 200
    assert client.get("/vega.js").status_code == 200
    for headers in ({}, {"authorization": "Bearer secre"}, {"authorization": "secret"}, {"authorization": "Bearer é"}):
        given = {name: value.encode("latin-1") for name, value in headers.items()}
        for path in ("/rankings", "/openapi.json", "/figures/rankings", "/nothing"):
            assert "Authorization: Bearer" in refused(client.get(path, headers=given), 401)
        answer = client.post("/predict", json=ASK, headers=given)
        refused(answer, 401)
        assert answer.headers["www-authenticate"] == "Bearer"
    assert client.post("/predict", json=ASK, headers={"authorization": "Bearer secret"}).status_code == 200


@pytest.mark.parametrize(
    "settings",
    [
        {"token": ""},
        {"token": "a\nb"},
        {"token": "é"},
        {"rate": -1.0},
        {"rate": float("inf")},
        {"max_body": 0},
        {"questions": 0},
        {"title": " "},
        {"question": "x" * 301},
        {"allow_frame": "https://a b"},
        {"allow_frame": "x; script-src *"},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ParameterError) as caught:
        ServiceSettings(**settings)
    assert caught.value.parameter == next(iter(settings))


def test_workers_get_the_settings_of_their_parent(monkeypatch):
    monkeypatch.setenv("PLURANK_SERVE", "")
    settings = ServiceSettings(
        "postgresql://me@db/votes", "tökén".encode().hex(), rate=0.5, title="Tee ☕", questions=3
    )
    export_to_workers("m.plurank", settings)
    assert import_from_parent() == WorkerConfiguration("m.plurank", settings, os.getpid())


def test_a_client_that_asks_too_often_is_told_how_long_to_wait(open_client, model, refused):
    client = open_client(model, rate=1.0)
    assert client.post("/predict", json=ASK).status_code == 200
    answer = client.post("/predict", json=ASK)
    assert "1 requests per minute" in refused(answer, 429)
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert client.get("/health").status_code == 200, "whoever watches over the service may always ask"


def test_a_bucket_fills_at_its_rate_and_no_further():
    now = [0.0]
    limiter = RateLimiter(60.0, lambda: now[0])  # one a second
    assert [limiter.seconds_to_wait("a") for _ in range(BURST_SECONDS)] == [0.0] * BURST_SECONDS
    assert limiter.seconds_to_wait("a") == pytest.approx(1.0)
    assert limiter.seconds_to_wait("b") == 0.0, "each client has a bucket of its own"
    now[0] += 0.5
    assert limiter.seconds_to_wait("a") == pytest.approx(0.5)
    now[0] += 0.5
    assert limiter.seconds_to_wait("a") == 0.0
    now[0] += 1000.0
    assert sum(limiter.seconds_to_wait("a") == 0.0 for _ in range(50)) == BURST_SECONDS


def test_only_so_many_clients_are_remembered():
    limiter = RateLimiter(60.0, lambda: 0.0)
    for n in range(MAX_CLIENTS + 50):
        limiter.seconds_to_wait(f"client {n}")
    assert len(limiter.buckets) == MAX_CLIENTS


def test_addresses_of_one_household_are_one_client():
    assert client_key("203.0.113.9") == "203.0.113.9"
    assert client_key("2001:db8:1:2::1") == client_key("2001:db8:1:2:ffff::9%eth0") == "2001:db8:1:2::/64"
    assert client_key("2001:db8::1") == client_key("2001:db8:0:0:5::")
    assert client_key("2001:db8::1") != client_key("2001:db8:0:1::1")
    assert client_key("::ffff:203.0.113.9") == client_key("203.0.113.9") != client_key("::ffff:203.0.113.8")
    assert client_key("testclient") == "testclient", "a proxy may forward any text"


def test_pages_of_other_sites_may_not_call(client, refused):
    answer = client.get("/rankings", headers={"origin": "https://elsewhere.example"})
    assert "access-control-allow-origin" not in answer.headers
    asked = {"origin": "https://elsewhere.example", "access-control-request-method": "POST"}
    answer = client.options("/predict", headers=asked)
    refused(answer, 405)
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("allowed", ["https://friend.example", "*"])
def test_pages_of_the_site_allowed_may_call(open_client, model, allowed):
    client = open_client(model, allow_origin=allowed, token="secret")
    asked = {"origin": "https://friend.example", "access-control-request-method": "POST"}
    answer = client.options("/predict", headers=asked)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == allowed
    assert {"Authorization", "Content-Type"} <= set(answer.headers["access-control-allow-headers"].split(", "))
    assert answer.headers["access-control-allow-methods"] == "GET, POST"
    refusal = client.post("/predict", json=ASK, headers={"origin": "https://friend.example"})
    assert refusal.headers["access-control-allow-origin"] == allowed, "a page must be able to read why"
    if allowed != "*":
        other = client.get("/health", headers={"origin": "https://other.example"})
        assert "access-control-allow-origin" not in other.headers
        asked["origin"] = "https://other.example"
        preflight = client.options("/predict", headers=asked)
        assert preflight.status_code == 400
        assert "access-control-allow-origin" not in preflight.headers


def test_every_answer_carries_what_keeps_browsers_safe(open_client, model):
    client = open_client(model, token="secret")
    for answer in (client.get("/health"), client.get("/nothing"), client.get("/vega.js"), client.post("/predict")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


LOCAL = ["127.0.0.1", "127.0.0.1:8000", "localhost", "LOCALHOST:1", "a.localhost:80", "[::1]", "[::1]:8000", "10.0.0.7"]
FOREIGN = [
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example:",
    "é",
]


@pytest.mark.parametrize("host", LOCAL)
def test_a_service_for_this_machine_is_found_by_address_and_as_localhost(host, open_client, model):
    client = open_client(model, is_local=True)
    assert client.get("/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", FOREIGN)
def test_a_service_for_this_machine_is_not_found_by_names_that_others_made_lead_to_it(
    host, open_client, model, refused
):
    client = open_client(model, is_local=True)
    for answer in (
        client.get("/rankings", headers={"host": host.encode("latin-1")}),
        client.post("/predict", json=ASK, headers={"host": host.encode("latin-1")}),
    ):
        assert "with a token" in refused(answer, 403)


def test_a_service_for_others_or_with_a_token_has_any_name(open_client, model):
    assert open_client(model).get("/health", headers={"host": "votes.example"}).status_code == 200


@pytest.mark.parametrize("allowed", ["https://town.example", "*"])
def test_the_site_allowed_may_show_the_page_in_a_frame(open_client, model, allowed):
    client = open_client(model, allow_frame=allowed)
    assert client.get("/").headers["content-security-policy"].endswith(f"frame-ancestors {allowed}")
    assert "SameSite=None; Secure; Partitioned" in client.get("/", headers={"cookie": ""}).headers["set-cookie"]

"""Invalid requests: always a sentence, never a server error."""

import json

import pytest

from plurank.web.application import create_app
from plurank.web.configuration import ServiceSettings
from tests.web.conftest import TestClient

PAIR = {"left": "tea", "right": "cola"}
ANSWER = {"winner": "tea", "loser": "cola"}
KEPT = {"id": "a1", "user": "v", **ANSWER}

BAD = [
    ("/predict", {}, "pairs is missing"),
    ("/predict", [], "the body: expected"),
    ("/predict", "tea", "the body: expected"),
    ("/predict", None, "the body"),
    ("/predict", {"pairs": []}, "at least 1 item"),
    ("/predict", {"pairs": {}}, "pairs: expected a valid list, got an object"),
    ("/predict", {"pairs": [None]}, "pairs[0]: expected"),
    ("/predict", {"pairs": [{"left": "tea"}]}, "pairs[0].right is missing"),
    ("/predict", {"pairs": [{**PAIR, "left": None}]}, "pairs[0].left: expected an id"),
    ("/predict", {"pairs": [{**PAIR, "left": True}]}, "pairs[0].left: expected an id"),
    ("/predict", {"pairs": [{**PAIR, "left": ["tea"]}]}, "pairs[0].left: expected an id"),
    ("/predict", {"pairs": [{**PAIR, "user": {}}]}, "pairs[0].user: expected an id"),
    ("/predict", {"pairs": [PAIR, {**PAIR, "left": "beer"}]}, "pairs[1].left: expected an item of the model"),
    ("/predict", {"pairs": [{"left": "tea", "right": "tea"}]}, "pairs[0]: expected two different items, got 'tea'"),
    ("/predict", {"pairs": [{**PAIR, "left": 10**400}]}, "pairs[0].left: expected an item"),
    ("/predict", {"pairs": [{**PAIR, "left": "x" * 10_000}]}, "..."),
    ("/predict", {"pairs": [PAIR], "users": 1}, "users is not a known field"),
    ("/predict", {"pairs": [{**PAIR, "usr": 1}]}, "pairs[0].usr is not a known field"),
    ("/predict", {"pairs": [PAIR] * 10_001}, "at most 10000 items"),
    ("/rank", {"user": "user 7", "answers": []}, "a user or answers, got both"),
    ("/rank", {"top": 0}, "top: expected greater than or equal to 1, got 0"),
    ("/rank", {"top": 1.5}, "top: expected"),
    ("/rank", {"top": "3"}, "top: expected"),
    ("/rank", {"answers": [{"winner": "tea"}]}, "answers[0].loser is missing"),
    ("/fold-in", {}, "answers is missing"),
    ("/fold-in", {"answers": None}, "answers: expected"),
    ("/fold-in", {"answers": [{**ANSWER, "loser": "tea"}]}, "answers[0].winner: expected two different items"),
    ("/fold-in", {"answers": [{**ANSWER, "loser": "beer"}]}, "answers[0].loser: expected an item"),
    ("/fold-in", {"answers": [ANSWER] * 1_001}, "at most 1000 items"),
    ("/next-pair", {"answers": [ANSWER], "skip": [ANSWER]}, "skip[0].left is missing"),
    ("/next-pair", {"skip": [{"left": "tea", "right": "beer"}]}, "skip[0].right: expected an item"),
    ("/next-pair", {"skip": [PAIR] * 1_001}, "at most 1000 items"),
    ("/feedback", {**KEPT, "id": ""}, "id: "),
    ("/feedback", {**KEPT, "id": 5}, "id: expected a valid string"),
    ("/feedback", {**KEPT, "id": "x" * 65}, "at most 64 characters"),
    ("/feedback", {**KEPT, "id": "a\x00b"}, "id: expected text without control characters"),
    ("/feedback", {**KEPT, "id": "\ud800"}, "id: "),
    ("/feedback", {**KEPT, "user": "\udfff"}, "user: "),
    ("/feedback", {**KEPT, "user": ""}, "user: "),
    ("/feedback", {**KEPT, "user": "x" * 201}, "at most 200 characters"),
    ("/feedback", {**KEPT, "winner": "beer"}, "winner: expected an item of the model"),
    ("/feedback", {**KEPT, "loser": "tea"}, "winner: expected two different items"),
    ("/feedback", {**KEPT, "withdrawn": "perhaps"}, "withdrawn: expected"),
    ("/feedback", {"answers": []}, "answers: "),
    ("/feedback", {"answers": [KEPT, {**KEPT, "id": ""}]}, "answers[1].id: "),
    ("/feedback", {"answers": [{"id": "a2"}]}, "answers[0].user is missing"),
    ("/feedback", {"answers": [KEPT] * 1_001}, "at most 1000 items"),
    ("/next-pair", {"visitor": 7}, "visitor: expected"),
]  # fmt: skip

RAW = [
    (b"", "the body is missing"),
    (b"tea", "expected JSON"),
    (b"\xff\xfe", "expected JSON"),
    (b'{"pairs": [{"left": "\xff", "right": "tea"}]}', "expected JSON"),
    (b"[" * 200_000, "expected JSON"),
    (b'{"pairs":' * 50_000, "expected JSON"),
    (b'{"pairs": [{"left": NaN, "right": "tea"}]}', "pairs[0].left: expected an id"),
    (b'{"pairs": [{"left": -Infinity, "right": "tea"}]}', "pairs[0].left: expected an id"),
    (b'{"pairs": [{"left": 1e999, "right": "tea"}]}', "pairs[0].left: expected an id"),
    (b'{"pairs": [{"left": ' + b"9" * 5_000 + b', "right": "tea"}]}', "expected JSON"),
    (b'{"pairs": [{"left": "\\ud800", "right": "tea"}]}', "pairs[0].left: expected"),
    (b'{"pairs": [{"left": "cola", "right": "tea", "\\ud800": 1}]}', "pairs[0]"),
    (b'{"pairs": [{"left": "cola", "right": "tea"},]}', "expected JSON"),
]


@pytest.fixture(scope="module")
def client(model, tmp_path_factory):
    """One for all: what is refused changes nothing."""
    settings = ServiceSettings(
        feedback=str(tmp_path_factory.mktemp("kept") / "feedback.db"), rate=0.0, hide_results=False
    )
    with TestClient(create_app(model, settings), raise_server_exceptions=False) as opened:
        yield opened


@pytest.mark.parametrize(("path", "body", "sentence"), BAD)
def test_a_body_that_is_not_as_expected_gets_a_sentence(client, refused, path, body, sentence):
    answer = client.post(path, content=json.dumps(body), headers={"content-type": "application/json"})
    assert sentence in refused(answer, 422)
    assert len(answer.text) < 400


def test_an_unknown_user_gets_a_sentence(open_client, model, refused):
    client = open_client(model, show_people=True)
    sentence = refused(client.post("/rank", json={"user": "nobody"}), 422)
    assert "user: expected a user of the model, got 'nobody'" in sentence


@pytest.mark.parametrize(("body", "sentence"), RAW)
def test_bytes_that_are_no_json_get_a_sentence(client, refused, body, sentence):
    answer = client.post("/predict", content=body, headers={"content-type": "application/json"})
    assert sentence in refused(answer, answer.status_code)
    assert answer.status_code in (400, 422)


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_another_content_type_is_refused(client, refused, kind):
    headers = {} if kind is None else {"content-type": kind}
    sentence = refused(client.post("/predict", content=json.dumps({"pairs": [PAIR]}), headers=headers), 415)
    assert "application/json" in sentence


def test_a_content_type_with_a_charset_is_fine(client):
    headers = {"content-type": "application/json; charset=utf-8"}
    assert client.post("/predict", content=json.dumps({"pairs": [PAIR]}), headers=headers).status_code == 200


@pytest.mark.parametrize("top", ["0", "-1", "x", "1.5", "", "9" * 30])
def test_a_bad_top_gets_a_sentence(client, refused, top):
    assert "top: " in refused(client.get(f"/rankings?top={top}"), 422)


def test_another_method_is_refused(client, refused):
    for method, path in (("GET", "/predict"), ("DELETE", "/feedback"), ("POST", "/health"), ("PUT", "/")):
        for headers in ({}, {"content-type": "application/json"}, {"content-type": "text/plain"}):
            refused(client.request(method, path, headers=headers), 405)


def test_head_is_answered_like_get_but_without_a_body(client):
    for path in ("/", "/health", "/rankings"):
        answer = client.head(path)
        assert answer.status_code == 200
        assert answer.content == b""
        assert int(answer.headers["content-length"]) == len(client.get(path).content)


def test_an_internal_error_is_a_sentence_without_details(client, refused, monkeypatch, caplog):
    def fail(*_):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("plurank.web.service.ModelService.predict", fail)
    sentence = refused(client.post("/predict", json={"pairs": [PAIR]}), 500)
    assert "internal error" in sentence
    assert "secret" not in sentence
    assert "secret" in caplog.text

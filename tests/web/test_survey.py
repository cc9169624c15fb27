"""A survey tells nothing about the population, asks about every item, and stores answers in batches."""

import json
from collections import Counter

import numpy as np
import pytest

import plurank
from plurank.web.configuration import ServiceSettings

IDEAS = [f"idea {n}" for n in range(15)]
ANSWER = {"winner": "tea", "loser": "cola"}
TELLING = {
    "/predict": {"pairs": [{"left": "tea", "right": "cola"}]},
    "/rank": {"answers": [ANSWER]},
    "/fold-in": {"answers": [ANSWER]},
}


@pytest.fixture
def survey(open_client, model):
    return open_client(model, hide_results=None)


def kept(n, **more):
    return {"id": f"a{n}", "user": "visitor", "winner": "tea", "loser": "cola", **more}


def test_results_are_hidden_by_default_where_answers_are_stored():
    assert ServiceSettings(feedback="x.db").hides_results
    assert not ServiceSettings().hides_results
    assert not ServiceSettings(feedback="x.db", hide_results=False).hides_results
    assert ServiceSettings(hide_results=True).hides_results


def test_a_survey_tells_nothing_about_the_population(survey, refused):
    for path, body in TELLING.items():
        assert "--show-results" in refused(survey.post(path, json=body), 403)
    for path in ("/rankings", "/figures/rankings"):
        assert "hides its results" in refused(survey.get(path), 403)
    found = survey.post("/next-pair", json={"visitor": "ann"}).json()
    assert set(found) == {"left", "right", "left_text", "right_text"}
    described = json.dumps(survey.get("/openapi.json").json()["paths"])
    assert '"probabilities": [0' not in described
    assert '"mean_weight": 0' not in described


def test_whoever_has_the_token_sees_results_of_a_survey(open_client, model, refused):
    client = open_client(model, hide_results=None, token="secret")
    given = {"authorization": "Bearer secret"}
    assert client.get("/rankings", headers=given).status_code == 200
    assert client.post("/rank", json={"user": "user 7"}, headers=given).status_code == 200
    refused(client.get("/rankings"), 401)


def test_a_page_learns_what_to_ask_and_how_much(open_client, model):
    client = open_client(model, hide_results=None, title="Drinks", question="What first?")
    found = client.get("/survey").json()
    assert (found["title"], found["question"], found["questions"]) == ("Drinks", "What first?", 20)
    assert (found["hide_results"], found["feedback"], found["n_items"], found["longest_text"]) == (True, True, 8, 6)
    assert open_client(model, questions=100).get("/survey").json()["questions"] == 28, "there are no more pairs"
    assert open_client(model).get("/survey").json()["questions"] is None


@pytest.fixture
def colleagues(open_client):
    """Let 40 people of two camps give 12 answers each; gives the pairs asked, by visitor."""

    def ask(model):
        client = open_client(model, hide_results=None)
        rng = np.random.default_rng(0)
        asked = []
        for n in range(40):
            order = IDEAS if n % 2 else IDEAS[::-1]
            answers = []
            for _ in range(12):
                told = [{"winner": winner, "loser": loser} for winner, loser in answers]
                found = client.post("/next-pair", json={"answers": told, "visitor": f"visitor {n}"}).json()
                pair = sorted((found["left"], found["right"]), key=order.index)
                answers.append(tuple(pair if rng.random() < 0.9 else pair[::-1]))
            asked.append([frozenset(pair) for pair in answers])
        return asked

    return ask


@pytest.mark.parametrize("knows", ["nothing", "two camps"])
def test_forty_people_are_asked_about_every_idea_evenly(colleagues, knows):
    model = plurank.blank_model(IDEAS)
    if knows == "two camps":
        rng = np.random.default_rng(1)
        pairs = [(n, *sorted(rng.choice(15, 2, replace=False))) for n in range(60) for _ in range(20)]
        rows = [(n, IDEAS[a], IDEAS[b]) if n % 2 else (n, IDEAS[b], IDEAS[a]) for n, a, b in pairs]
        comparisons = plurank.Comparisons.from_arrays(*zip(*rows, strict=True))
        model = plurank.MixedRanking(2, mixing="probability", concentration=1.0, score_scale=1.0, random_state=0).fit(
            comparisons
        )
    asked = colleagues(model)
    assert all(len(set(own)) == 12 for own in asked), "nobody is asked a pair twice"
    assert len({own[0] for own in asked}) >= 20, "not everybody begins with the same question"
    items = Counter(item for own in asked for pair in own for item in pair)
    mean = 40 * 12 * 2 / 15
    assert min(items.values()) >= mean / 2
    assert max(items.values()) <= mean * 2
    assert len({pair for own in asked for pair in own}) >= 95, "of 105 pairs"


def test_answers_stored_before_the_start_count_for_what_is_asked(open_client, model):
    client = open_client(model, hide_results=None)
    rows = [{**kept(n), "loser": item} for n, item in enumerate(["coffee", "cocoa", "milk", "water", "juice", "cola"])]
    client.post("/feedback", json={"answers": rows})
    again = open_client(model, hide_results=None)
    found = again.post("/next-pair", json={"visitor": "ann"}).json()
    assert "maté" in (found["left"], found["right"]), "the one nobody was asked about"


def test_several_answers_are_stored_each_with_an_outcome(survey):
    rows = [kept(1), kept(2, winner="beer"), kept(3, loser="tea"), kept(4)]
    found = survey.post("/feedback", json={"answers": rows})
    assert found.status_code == 200
    assert [row["outcome"] for row in found.json()["answers"]] == ["stored", "rejected", "rejected", "stored"]
    assert "expected an item of the model" in found.json()["answers"][1]["error"]
    again = survey.post("/feedback", json={"answers": [kept(1), kept(4, winner="milk"), kept(5)]}).json()["answers"]
    assert [row["outcome"] for row in again] == ["known", "conflict", "stored"]
    assert "another answer" in again[1]["error"]


def test_a_withdrawn_answer_counts_no_more_whichever_comes_first(survey, tmp_path, refused):
    database = tmp_path / "feedback.db"
    survey.post("/feedback", json={"answers": [kept(1), kept(2), kept(3)]})
    taken = survey.post("/feedback", json=kept(1, withdrawn=True))
    assert (taken.status_code, taken.json()["outcome"]) == (200, "withdrawn")
    assert survey.post("/feedback", json=kept(9, withdrawn=True)).json()["outcome"] == "withdrawn"
    late = survey.post("/feedback", json={"answers": [kept(9), kept(1), kept(1, withdrawn=True)]}).json()["answers"]
    assert [row["outcome"] for row in late] == ["withdrawn"] * 3
    assert len(plurank.read_feedback(database)) == 2
    assert "another answer" in refused(survey.post("/feedback", json=kept(2, winner="milk", withdrawn=True)), 409)


def test_an_answer_that_a_model_has_learned_from_cannot_be_withdrawn(survey, model_file, tmp_path, refused):
    from plurank.web.learning import prepare_lesson

    survey.post("/feedback", json={"answers": [kept(1), kept(2)]})
    survey.post("/feedback", json=kept(2, withdrawn=True))
    learned = plurank.load(model_file)
    assert len(prepare_lesson(learned, tmp_path / "feedback.db").comparisons) == 1
    assert "cannot be withdrawn" in refused(survey.post("/feedback", json=kept(1, withdrawn=True)), 409)
    found = survey.post("/feedback", json={"answers": [kept(1, withdrawn=True)]}).json()
    assert found["answers"][0]["outcome"] == "learned"


def test_texts_are_shown_and_ids_are_stored(open_client, tmp_path):
    model = plurank.blank_model(["a", "b"], ["More trees", "More benches"])
    client = open_client(model)
    assert {row["item"]: row["text"] for row in client.post("/rank", json={}).json()["items"]} == {
        "a": "More trees", "b": "More benches",
    }  # fmt: skip
    found = client.post("/next-pair", json={}).json()
    assert {found["left"]: found["left_text"], found["right"]: found["right_text"]} == {
        "a": "More trees", "b": "More benches",
    }  # fmt: skip
    assert client.get("/rankings").json()["rankings"][0]["items"][0]["text"].startswith("More")
    client.post("/feedback", json={"id": "1", "user": "ann", "winner": "a", "loser": "b"})
    assert plurank.read_feedback(tmp_path / "feedback.db").to_frame().rows() == [("ann", "a", "b")]


def test_a_full_disk_shows_in_health_until_answers_are_stored_again(survey, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("plurank.web.database.FeedbackStore._add_one", fail)
        assert survey.post("/feedback", json={"answers": [kept(1), kept(2)]}).status_code == 503
    assert survey.get("/health").json()["status"] == "answers cannot be stored"
    assert survey.post("/feedback", json=kept(1)).status_code == 201
    assert survey.get("/health").json()["status"] == "ok"


def test_without_a_token_nothing_is_told_about_single_users(client, refused):
    for user in ("user 7", "nobody", 7):
        for path, body in {
            "/rank": {"user": user},
            "/predict": {"pairs": [{"left": "tea", "right": "cola"}, {"user": user, "left": "tea", "right": "cola"}]},
        }.items():
            assert "--show-people or a token" in refused(client.post(path, json=body), 403)
    assert client.post("/rank", json={"answers": [ANSWER]}).status_code == 200
    assert client.post("/rank", json={}).status_code == 200
    assert client.post("/predict", json=TELLING["/predict"]).status_code == 200
    assert "user 0" not in json.dumps(client.get("/openapi.json").json())


@pytest.mark.parametrize("settings", [{"show_people": True}, {"token": "secret"}])
def test_with_a_token_or_by_request_users_are_told(open_client, model, settings):
    client = open_client(model, **settings)
    given = {"authorization": "Bearer secret"}
    assert client.post("/rank", json={"user": "user 7"}, headers=given).status_code == 200

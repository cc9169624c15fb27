"""Every endpoint of the service does what the library does."""

import polars as pl
import pytest

import plurank

ANSWERS = [("tea", "coffee"), ("cocoa", "cola"), ("milk", "tea")]
TOLD = [{"winner": winner, "loser": loser} for winner, loser in ANSWERS]


def shown(board):
    """The rows of a leaderboard as the service answers: with the ids as texts."""
    return [{**row, "text": str(row["item"])} for row in board.to_dicts()]


def test_health_says_what_is_served(client, model):
    assert client.get("/health").json() == {
        "status": "ok",
        "plurank": plurank.__version__,
        "model": {"class": "MixedRanking", "n_users": 150, "n_items": 8, "n_rankings": 2},
        "feedback": True,
    }


def test_rankings_are_the_leaderboards(client, model):
    found = client.get("/rankings").json()
    assert found["n_items"] == 8
    assert [ranking["ranking"] for ranking in found["rankings"]] == [1, 2]
    assert [ranking["mean_weight"] for ranking in found["rankings"]] == pytest.approx(model.mean_weights_)
    for ranking in found["rankings"]:
        assert ranking["items"] == shown(model.leaderboard(ranking["ranking"]))
    sentences = [described["sentence"] for described in plurank.describe_rankings(model)]
    assert [ranking["description"] for ranking in found["rankings"]] == sentences


def test_rankings_say_who_follows_them_and_what_camps_share(client, model):
    found = client.get("/rankings").json()
    camps = model.camps()
    for n, ranking in enumerate(found["rankings"]):
        row = camps.row(n, named=True)
        assert ranking["camp"] == {name: row[name] for name in ("people", "people_80", "votes")}
    ground = model.common_ground()
    assert [row["item"] for row in found["common_ground"]] == ground["item"].to_list()
    assert [row["label"] for row in found["common_ground"]] == ground["label"].to_list()
    assert len(client.get("/rankings?top=3").json()["common_ground"]) == 3


def test_counts_of_a_few_people_are_not_told(open_client):
    few = [(f"few {n}", "b", "a") for n in range(3) for _ in range(20)]
    many = [(f"many {n}", "a", "b") for n in range(30) for _ in range(20)]
    comparisons = plurank.Comparisons.from_arrays(*zip(*few, *many, strict=True))
    model = plurank.MixedRanking(2, mixing="probability", concentration=0.5, score_scale=1.0, random_state=0).fit(
        comparisons
    )
    assert sorted(model.camps()["people"]) == [3, 30]
    large, small = (ranking["camp"] for ranking in open_client(model).get("/rankings").json()["rankings"])
    assert small == {"people": "fewer than 5", "people_80": "fewer than 5", "votes": None}
    assert (large["people"], large["votes"]) == ("about 30", None), "or all people less these would tell"
    told = open_client(model, show_people=True).get("/rankings").json()["rankings"][1]["camp"]
    assert (told["people"], told["votes"]) == (3, 60)


def test_top_shortens_rankings_and_ranks(client):
    assert [len(ranking["items"]) for ranking in client.get("/rankings?top=3").json()["rankings"]] == [3, 3]
    whole = client.post("/rank", json={}).json()["items"]
    assert client.post("/rank", json={"top": 2}).json()["items"] == whole[:2]
    assert client.post("/rank", json={"top": 100}).json()["items"] == whole
    assert len(client.post("/rank", json={"answers": TOLD, "top": 3}).json()["items"]) == 3


def test_predict_knows_users_and_takes_unknown_ones_as_anybody(open_client, model):
    client = open_client(model, show_people=True)
    pairs = [
        {"user": "user 7", "left": "tea", "right": "cola"},
        {"user": None, "left": "tea", "right": "cola"},
        {"left": "tea", "right": "cola"},
        {"user": "nobody", "left": "cola", "right": "tea"},
        {"user": 7, "left": "tea", "right": "cola"},
    ]
    found = client.post("/predict", json={"pairs": pairs}).json()["probabilities"]
    frame = {"user": ["user 7", "-", "-", "-", "-"], "left": ["tea"] * 5, "right": ["cola"] * 5}
    expected = model.predict_proba(pl.DataFrame(frame)).tolist()
    assert found == pytest.approx([expected[0], expected[1], expected[1], 1 - expected[1], expected[1]])


def test_many_pairs_are_predicted_as_one_by_one(open_client, model):
    client = open_client(model, show_people=True)
    pairs = [{"user": f"user {n % 150}", "left": "tea", "right": "cola"} for n in range(2000)]
    many = client.post("/predict", json={"pairs": pairs}).json()["probabilities"]
    one = [client.post("/predict", json={"pairs": [pair]}).json()["probabilities"][0] for pair in pairs[:5]]
    assert many[:5] == pytest.approx(one)
    assert len(many) == 2000


def test_rank_of_a_user_of_answers_and_of_everybody(open_client, model):
    client = open_client(model, show_people=True)
    for _ in range(2):  # made, and remembered
        assert client.post("/rank", json={"user": "user 7"}).json()["items"] == shown(model.rank("user 7"))
        assert client.post("/rank", json={}).json()["items"] == shown(model.rank())
    told = client.post("/rank", json={"answers": TOLD}).json()["items"]
    assert told == shown(model.fold_in(ANSWERS).rank())
    assert client.post("/rank", json={"answers": []}).json()["items"] == shown(model.fold_in([]).rank())


def test_fold_in_gives_weights_with_bounds(client, model):
    found = client.post("/fold-in", json={"answers": TOLD}).json()
    assert found == {"n_answers": 3, "weights": model.fold_in(ANSWERS).weight_intervals().to_dicts()}
    assert client.post("/fold-in", json={"answers": []}).json()["n_answers"] == 0


def test_next_pair_is_the_librarys_and_passes_over_what_was_skipped(client, model):
    found = client.post("/next-pair", json={"answers": TOLD}).json()
    expected = model.fold_in(ANSWERS).next_pairs(1).row(0, named=True)
    assert found == {**expected, "left_text": expected["left"], "right_text": expected["right"]}
    skip = [{"left": found["right"], "right": found["left"]}]
    other = client.post("/next-pair", json={"answers": TOLD, "skip": skip}).json()
    assert {other["left"], other["right"]} != {found["left"], found["right"]}
    assert client.post("/next-pair", json={}).status_code == 200


def test_next_pair_is_null_when_every_pair_was_asked(client, model):
    items = model.items_.tolist()
    pairs = [{"left": one, "right": other} for n, one in enumerate(items) for other in items[:n]]
    assert client.post("/next-pair", json={"skip": pairs}).json() == {"left": None, "right": None}


def test_feedback_is_stored_once(client, refused):
    answer = {"id": "a1", "user": "visitor", "winner": "tea", "loser": "cola"}
    first, again = client.post("/feedback", json=answer), client.post("/feedback", json=answer)
    assert (first.status_code, first.json()) == (201, {"id": "a1", "stored": True, "outcome": "stored"})
    assert (again.status_code, again.json()) == (200, {"id": "a1", "stored": False, "outcome": "known"})
    assert "another answer" in refused(client.post("/feedback", json={**answer, "winner": "milk"}), 409)


def test_a_service_without_a_database_keeps_nothing(open_client, model, refused):
    client = open_client(model, feedback=None)
    assert client.get("/health").json()["feedback"] is False
    answer = {"id": "a1", "user": "visitor", "winner": "tea", "loser": "cola"}
    assert "stores no answers" in refused(client.post("/feedback", json=answer), 404)


def test_numbers_and_their_text_find_each_other_and_answers_have_the_models_own(open_client, numbered):
    client = open_client(numbered, show_people=True)
    by_number = client.post("/predict", json={"pairs": [{"user": 7, "left": 1, "right": 2}]}).json()
    by_text = client.post("/predict", json={"pairs": [{"user": "7", "left": "1", "right": 2.0}]}).json()
    assert by_number == by_text
    assert client.post("/rank", json={"user": "7"}).json() == client.post("/rank", json={"user": 7}).json()
    assert all(isinstance(place["item"], int) for place in client.post("/rank", json={}).json()["items"])


def test_where_number_and_text_are_both_items_each_finds_itself(open_client, refused):
    comparisons = plurank.Comparisons.from_arrays(["a", "b"] * 5, [5, "5"] * 5, ["5", "x"] * 5)
    model = plurank.MixedRanking(1, init="random", concentration=1.0, score_scale=1.0, random_state=0).fit(comparisons)
    client = open_client(model)
    ask = {"pairs": [{"left": 5, "right": "5"}]}
    assert client.post("/predict", json=ask).json()["probabilities"][0] > 0.5
    assert "got '05'" in refused(client.post("/predict", json={"pairs": [{"left": "05", "right": "5"}]}), 422)


@pytest.mark.parametrize("kind", ["TopicRanking", "SingleRanking"])
def test_every_kind_of_model_is_served(open_client, drinkers, kind):
    made = {"TopicRanking": plurank.TopicRanking(2, random_state=0), "SingleRanking": plurank.SingleRanking()}[kind]
    client = open_client(made.fit(drinkers))
    assert client.get("/health").json()["model"]["class"] == kind
    for place in client.get("/rankings").json()["rankings"][0]["items"]:
        assert set(place) == {"item", "text", "score", "rank", "lower", "upper"}
    for path, body in {"/rank": {}, "/fold-in": {"answers": TOLD}, "/next-pair": {"answers": TOLD}}.items():
        assert client.post(path, json=body).status_code == 200


def test_the_figures_library_comes_from_here(client):
    answer = client.get("/vega.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "max-age=86400" in answer.headers["cache-control"]
    assert "vegaEmbed" in answer.text


def test_the_figure_is_the_librarys(client, model):
    assert client.get("/figures/rankings").json() == model.plot.rankings().to_dict()


def test_pages_that_load_from_elsewhere_are_off(client, refused):
    for path in ("/docs", "/redoc", "/nothing", "/page/../service.py", "/%2e%2e/service.py"):
        assert "no such endpoint" in refused(client.get(path), 404)

"""Common ground, agreement and camps of fitted models."""

import copy

import numpy as np
import polars as pl
import pytest

import plurank
from plurank.models.consensus import LEAST_VOTES

LISTED = ("liked by all camps", "disliked by all camps")


def poll(seed=0, n_people=200, n_items=30, n_camps=2):
    """Votes of two camps: the first five statements are liked by all, the next five by nobody, and five split them.

    The last statement has one vote.
    """
    rng = np.random.default_rng(seed)
    shares = np.full((n_items, n_camps), 0.5)
    shares[:5], shares[5:10] = 0.92, 0.08
    shares[10:15] = np.array([0.95, 0.05])[np.arange(n_camps) % 2]
    camps = np.arange(n_people) % n_camps
    voted = rng.random((n_people, n_items)) < 0.7
    voted[:, -1] = np.arange(n_people) == 3
    users, items = np.nonzero(voted)
    votes = np.where(rng.random(len(users)) < shares[items, camps[users]], 1, -1)
    votes[(rng.random(len(users)) < 0.1) & (items < n_items - 1)] = 0
    votes[items == n_items - 1] = 1
    frame = pl.DataFrame({"user": users, "item": [f"s{n:02}" for n in items], "rating": votes})
    return frame, plurank.Comparisons.from_ratings(frame)


@pytest.fixture(scope="module")
def votes():
    return poll()


@pytest.fixture(scope="module", params=["probability", "utility"])
def polled(request, votes):
    return plurank.MixedRanking(2, mixing=request.param, random_state=0).fit(votes[1])


def labels_of(model):
    return dict(model.common_ground().select("item", "label").rows())


def lists_by_level(model):
    """Items that are labelled by levels of agreement; "same position" goes by places, which a new item moves."""
    labels = labels_of(model).items()
    return {
        (item, label) for item, label in labels if label in ("liked by all camps", "disliked by all camps", "contested")
    }


def test_what_was_planted_is_found_and_a_single_vote_says_nothing(polled):
    labels = labels_of(polled)
    planted = {"liked by all camps": range(5), "disliked by all camps": range(5, 10), "contested": range(10, 15)}
    for label, items in planted.items():
        found = [labels[f"s{n:02}"] for n in items]
        assert found.count(label) >= 4, "one may be doubtful by the votes of a few dissenters"
        assert set(found) <= {label, "undecided"}
    assert labels["s29"] == "not enough votes"
    assert not any(labels[f"s{n:02}"] in LISTED for n in range(15, 30))


def test_the_frame_has_what_it_promises(polled):
    frame = polled.common_ground()
    assert frame.height == 30
    for name in ("liked_by_all", "disliked_by_all", "contested", "same_place", "bridging"):
        assert frame[name].is_between(0, 1).all(), name
    assert (frame["bridging_lower"] <= frame["bridging"]).all()
    assert (frame["bridging"] <= frame["bridging_upper"]).all()
    assert frame["enough_votes"].to_list() == (frame["votes"] >= LEAST_VOTES).to_list()
    sure = frame.filter("enough_votes")["bridging"].to_list()
    assert sure == sorted(sure, reverse=True)
    assert frame.row(-1, named=True)["item"] == "s29"
    assert set(frame["worst_ranking"]) <= {1, 2}


def test_votes_and_agreement_are_counted_as_cast(polled, votes):
    frame, _ = votes
    counted = dict(polled.common_ground().select("item", "votes").rows())
    assert counted == dict(frame.group_by("item").len().rows())
    found = polled.agreement()
    assert found.height == 60
    camps = polled.user_weights_.argmax(axis=1) + 1
    of_user = pl.DataFrame({"user": polled.users_, "ranking": camps})
    kinds = {"agree": 1, "passed": 0, "disagree": -1}
    sums = {name: (pl.col("rating") == value).sum() for name, value in kinds.items()}
    cast = frame.join(of_user, on="user").group_by("item", "ranking").agg(**sums)
    same = found.join(cast, on=["item", "ranking"], suffix="_cast").filter(
        (pl.col("agree") == pl.col("agree_cast"))
        & (pl.col("passed") == pl.col("passed_cast"))
        & (pl.col("disagree") == pl.col("disagree_cast"))
    )
    assert same.height == cast.height
    assert (found["lower"] < found["upper"]).all()


def test_camps_are_people_with_their_votes(polled, votes):
    camps = polled.camps()
    assert camps["people"].sum() == 200
    assert camps["votes"].sum() == votes[0].height
    assert (camps["people_80"] <= camps["people"]).all()
    assert camps["share"].to_list() == polled.mean_weights_.tolist()


def test_files_keep_all_of_it(polled, tmp_path):
    polled.save(tmp_path / "model.plurank")
    loaded = plurank.load(tmp_path / "model.plurank")
    assert loaded.common_ground().equals(polled.common_ground())
    assert loaded.agreement().equals(polled.agreement())
    assert loaded.camps().equals(polled.camps())


def test_a_file_of_an_earlier_version_knows_no_votes(polled, tmp_path):
    old = copy.deepcopy(polled)
    for name in (
        "user_votes_",
        "item_votes_",
        "item_people_",
        "camp_votes_",
        "dissenter_votes_",
        "item_texts_",
        "influence_",
    ):
        setattr(old, name, None)
    old.save(tmp_path / "model.plurank")
    loaded = plurank.load(tmp_path / "model.plurank")
    frame = loaded.common_ground()
    assert frame["votes"].null_count() == 30
    assert set(frame["label"]) == {"not enough votes"}, "nothing is said where nobody knows how many votes there were"
    assert "least_agreement" not in frame.columns
    assert loaded.camps()["votes"].null_count() == 2
    assert loaded.agreement().height == 0
    assert loaded.influence is None


def test_an_item_that_everybody_passed_on_has_no_share(votes):
    passed = pl.DataFrame({"user": range(40), "item": ["hard"] * 40, "rating": [0] * 40}, schema=votes[0].schema)
    model = plurank.MixedRanking(2, mixing="probability", random_state=0).fit(
        plurank.Comparisons.from_ratings(pl.concat([votes[0], passed]))
    )
    row = model.common_ground().row(by_predicate=pl.col("item") == "hard", named=True)
    assert (row["votes"], row["least_agreement"], row["most_agreement"]) == (40, None, None)
    assert row["label"] not in (*LISTED, "contested")
    assert model.agreement().filter(pl.col("item") == "hard")["share"].null_count() == 2


def test_an_update_adds_votes(votes):
    frame, _ = votes
    first, later = frame.filter(pl.col("user") < 150), frame.filter(pl.col("user") >= 150)
    model = plurank.MixedRanking(2, mixing="probability", random_state=0).fit(plurank.Comparisons.from_ratings(first))
    model.update(plurank.Comparisons.from_ratings(later))
    counted = dict(model.common_ground().select("item", "votes").rows())
    assert counted == dict(frame.group_by("item").len().rows())
    assert model.agreement()["agree"].sum() == (frame["rating"] == 1).sum()


def test_an_update_without_votes_leaves_levels_of_agreement_as_they_were(votes):
    model = plurank.MixedRanking(2, mixing="probability", random_state=0).fit(votes[1])
    before = model.agreement()
    lists = lists_by_level(model)
    model.update(plurank.Comparisons.from_arrays(["new", "new"], ["s00", "s40"], ["s01", "s02"]))
    after = model.agreement()
    assert after.filter(pl.col("item") != "s40")["agree"].to_list() == before["agree"].to_list()
    assert lists_by_level(model) == lists
    assert model.influence is None, "nobody has looked again"


def test_one_person_makes_no_item_liked_however_often_they_say_so():
    made = plurank.simulate(60, 12, 1, 20, random_state=0).comparisons.to_frame()
    names = {name: pl.col(name).cast(pl.String) for name in ("user", "winner", "loser")}
    troll = pl.DataFrame(
        {"user": ["troll"] * 24, "winner": ["planted"] * 24, "loser": [str(n % 12) for n in range(24)]}
    )
    for n_rankings in (1, 2):
        model = plurank.MixedRanking(n_rankings, mixing="probability", random_state=0).fit(
            pl.concat([made.with_columns(**names), troll])
        )
        row = model.common_ground().row(by_predicate=pl.col("item") == "planted", named=True)
        assert (row["votes"], row["people"], row["label"]) == (24, 1, "not enough votes")


@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_what_comparisons_say_is_right_nearly_always(mixing):
    right = n_listed = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        scores = 1.5 * rng.standard_normal((24, 1)) + rng.standard_normal((24, 2))
        camps = np.arange(300) % 2
        users = np.repeat(np.arange(300), 30)
        left = rng.integers(0, 24, len(users))
        other = (left + rng.integers(1, 24, len(users))) % 24
        ahead = scores[left, camps[users]] - scores[other, camps[users]]
        wins = rng.random(len(users)) < 1.0 / (1.0 + np.exp(-ahead))
        made = plurank.Comparisons.from_arrays(users, np.where(wins, left, other), np.where(wins, other, left))
        labels = labels_of(plurank.MixedRanking(2, mixing=mixing, random_state=0).fit(made))
        ranks = np.argsort(np.argsort(-scores, axis=0), axis=0)
        for item, label in labels.items():
            if label in LISTED:
                n_listed += 1
                right += bool((ranks[item] < 8).all() if label == LISTED[0] else (ranks[item] >= 16).all())
    assert n_listed >= 12
    assert right >= 0.9 * n_listed  # 5% are expected to be wrong; of 12 or more, two are bad luck


def test_models_without_uncertainty_refuse():
    made = plurank.simulate(100, 8, 2, 20, random_state=0).comparisons
    for model in (plurank.TopicRanking(2, random_state=0).fit(made), plurank.SingleRanking().fit(made)):
        for ask in (model.common_ground, lambda model=model: model.committee(2)):
            with pytest.raises(plurank.ParameterError, match="Fit a MixedRanking"):
                ask()
        assert model.camps()["people"].sum() == 100
        assert model.agreement().height == 0


def test_a_committee_serves_the_share_it_says_and_says_whom_not(polled):
    chosen = polled.committee(3)
    assert len(chosen.items) == len(chosen.texts) == 3
    assert chosen.lower <= chosen.share_served <= chosen.upper
    assert chosen.left_out["people"].sum() == 200
    served = (chosen.left_out["served"] * chosen.left_out["people"]).sum() / 200
    assert served == pytest.approx(chosen.share_served, abs=1e-9)
    assert polled.committee(4).share_served >= chosen.share_served
    assert "of people" in str(chosen)


def test_nobody_is_served_where_nobody_has_answered():
    with pytest.raises(plurank.ParameterError, match="nobody has answered yet"):
        plurank.blank_model(["a", "b", "c"]).committee(1)


def test_a_committee_keeps_to_its_budget(polled):
    cost = {item: float(2 + n % 3) for n, item in enumerate(polled.items_)}
    chosen = polled.committee(None, cost=cost, budget=7.0)
    assert chosen.cost == sum(cost[item] for item in chosen.items) <= 7.0
    same = polled.committee(None, cost=list(cost.values()), budget=7.0)
    assert same.items == chosen.items


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "size must be an integer >= 1 without cost and budget"),
        ({"size": 0}, "size must be"),
        ({"size": 2, "top": 30}, "top must be less"),
        ({"size": 2, "cost": [1.0]}, "cost and budget require each other"),
        ({"size": 2, "cost": [1.0], "budget": 3.0}, "one number for each"),
        ({"size": 2, "cost": {"s00": 1.0}, "budget": 3.0}, "no entry for 29 items"),
        ({"size": 2, "cost": [-1.0] * 30, "budget": 3.0}, "positive"),
        ({"size": 2, "cost": [5.0] * 30, "budget": 3.0}, "budget must be at least 5, the cost of the cheapest item"),
        ({"size": 2, "level": 1.5}, "level must be"),
    ],
)
def test_impossible_committees_are_refused_with_a_sentence(polled, arguments, words):
    with pytest.raises(plurank.PlurankError, match=words):
        polled.committee(**arguments)


def test_stores_count_votes_as_memory_does(tmp_path):
    made = plurank.simulate(60, 8, 2, 20, random_state=0).comparisons
    made.to_frame().write_csv(tmp_path / "votes.csv")
    store = plurank.ingest(tmp_path / "votes.csv", tmp_path / "store")
    in_memory = plurank.MixedRanking(2, mixing="probability", random_state=0).fit(
        plurank.read_comparisons(tmp_path / "votes.csv")
    )
    stored = plurank.MixedRanking(2, mixing="probability", random_state=0).fit(store)
    assert stored.common_ground().equals(in_memory.common_ground())
    assert stored.camps().equals(in_memory.camps())
    assert stored.influence == in_memory.influence


def test_a_tie_is_one_vote():
    answers = {"left": list("xyz") * 2, "right": list("yzx") * 2, "winner": ["left", "tie", "right"] * 2}
    frame = pl.DataFrame({"user": ["a"] * 3 + ["b"] * 3, **answers})
    model = plurank.MixedRanking(1, random_state=0, concentration=1.0, score_scale=1.0).fit(frame)
    assert model.camps()["votes"].to_list() == [6]
    assert dict(model.common_ground().select("item", "votes").rows()) == {"x": 4, "y": 4, "z": 4}


def test_a_model_whose_scores_are_all_equal_ranks_nobody_for_sure(polled):
    model = copy.deepcopy(polled)
    model.scores_, model.rankings_ = np.zeros_like(model.scores_), np.tile(np.arange(30), (2, 1))
    ranks = model.rank()
    assert (ranks["upper"] - ranks["lower"] >= 20).all()  # 90% of 30 ranks are about 27

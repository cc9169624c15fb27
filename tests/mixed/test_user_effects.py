"""People who deviate from the rankings they follow: new ones are remembered by their own answers."""

import copy
import json
import zipfile

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

import plurank
from plurank import Comparisons, MixedRanking

N_ITEMS, PER_USER = 15, 40


def people(n: int, deviation: float, seed: int) -> Comparisons:
    """People who follow one of two opposite rankings, each in a way of their own."""
    rng = np.random.default_rng(seed)
    shared = np.linspace(1.0, -1.0, N_ITEMS) * np.where(rng.random((n, 1)) < 0.5, 1.0, -1.0)
    own = shared + deviation * rng.standard_normal((n, N_ITEMS))
    users = np.repeat(np.arange(n), PER_USER)
    first = rng.integers(N_ITEMS, size=len(users))
    second = (first + 1 + rng.integers(N_ITEMS - 1, size=len(users))) % N_ITEMS
    wins = rng.random(len(users)) < expit(own[users, first] - own[users, second])
    sides = np.where(wins, first, second), np.where(wins, second, first)
    return Comparisons.from_arrays(users, *sides, items=np.arange(N_ITEMS))


def fit(mixing: str, deviation: float) -> MixedRanking:
    return MixedRanking(2, mixing=mixing, concentration=1.0, score_scale=1.0, random_state=0).fit(
        people(300, deviation, 0)
    )


@pytest.fixture(scope="module", params=["probability", "utility"])
def model(request) -> MixedRanking:
    return fit(request.param, 2.0)


@pytest.fixture(scope="module")
def asked_and_test() -> tuple[Comparisons, Comparisons]:
    return people(50, 2.0, 1).split(0.3, random_state=0)


def without(model: MixedRanking) -> MixedRanking:
    plain = copy.deepcopy(model)
    plain.user_effect_scale_ = None
    return plain


def test_a_fit_sees_how_far_people_deviate(model):
    assert 1.0 <= model.user_effect_scale_ <= 4.0
    assert fit(model.mixing, 0.0).user_effect_scale_ is None


def test_the_same_seed_gives_the_same_deviation(model):
    assert fit(model.mixing, 2.0).user_effect_scale_ == model.user_effect_scale_


def test_new_people_are_predicted_better_by_their_own_answers(model, asked_and_test):
    remembered, forgotten = (np.log(m.predict_new(*asked_and_test)) for m in (model, without(model)))
    gains = remembered - forgotten
    assert gains.mean() > 5.0 * gains.std() / np.sqrt(len(gains))


def test_people_nobody_asked_are_as_the_rankings_say(model, asked_and_test):
    asked, test = asked_and_test
    strangers = Comparisons(test.winners, test.losers, test.offsets, test.items, test.users + 1000)
    np.testing.assert_allclose(
        model.predict_new(asked, strangers), without(model).predict_new(asked, strangers), atol=1e-12
    )
    person = model.fold_in()
    np.testing.assert_allclose(person.predict([0], [1]), without(model).fold_in().predict([0], [1]))


def test_a_person_is_predicted_as_people_are(model, asked_and_test):
    asked = asked_and_test[0].block(0, 1)
    pairs = [(int(a), int(b)) for a, b in zip(asked.winners, asked.losers, strict=True)]
    person = model.fold_in(pairs)
    left, right = np.triu_indices(N_ITEMS, 1)
    test = Comparisons.from_arrays(np.zeros(len(left), int), left, right, items=np.arange(N_ITEMS))
    told = plurank.Comparisons.from_arrays(*np.transpose([(0, *pair) for pair in pairs]), items=np.arange(N_ITEMS))
    # weights are drawn for a person and expanded for people: the same but for that
    np.testing.assert_allclose(person.predict(left, right), model.predict_new(told, test), atol=0.08)


def test_an_order_says_what_predictions_say():
    person = fit("utility", 2.0).fold_in([(14, 0), (14, 1), (14, 2), (14, 3), (0, 13), (1, 13), (2, 12), (3, 12)])
    order = person.rank()
    assert order["rank"].to_list() == [*range(1, N_ITEMS + 1)]
    assert (order["score"].diff().drop_nulls() <= 0).all()
    assert ((order["lower"] <= order["rank"]) & (order["rank"] <= order["upper"])).all()
    above, below = order["item"][:-1].to_list(), order["item"][1:].to_list()
    assert (person.predict(above, below) > 0.45).all()  # rankings are averaged over what the weights may be


def test_an_item_put_before_all_others_stands_higher_than_rankings_have_it(model):
    answers = [(7, other) for other in range(N_ITEMS) if other != 7] * 2
    places = [
        m.fold_in(answers).rank().filter(pl.col("item") == 7)["rank"].item() for m in (model, without(model))
    ]  # fmt: skip
    assert places[0] < places[1]


def test_files_keep_the_deviation_and_older_ones_have_none(model, tmp_path):
    model.save(tmp_path / "a.plurank")
    assert plurank.load(tmp_path / "a.plurank").user_effect_scale_ == model.user_effect_scale_
    with (
        zipfile.ZipFile(tmp_path / "a.plurank") as new,
        zipfile.ZipFile(tmp_path / "older.plurank", "w") as older,
    ):
        for name in new.namelist():
            content = new.read(name)
            if name == "model.json":
                description = json.loads(content)
                del description["fitted"]["user_effect_scale_"]
                content = json.dumps(description).encode()
            older.writestr(name, content)
    assert plurank.load(tmp_path / "older.plurank").user_effect_scale_ is None


def test_one_person_or_one_comparison_has_no_deviation():
    one = MixedRanking(1, random_state=0).fit(Comparisons.from_arrays(["a"], ["x"], ["y"]))
    assert one.user_effect_scale_ is None

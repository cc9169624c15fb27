"""n_rankings="auto" and mixing="auto": what is chosen, and that the fit is the one of what was chosen."""

import numpy as np
import pytest

from plurank import (
    Comparisons,
    MixedRanking,
    NotIdentifiableError,
    ParameterError,
    Ratings,
    held_out_quality,
    ingest,
    load,
    open_store,
    simulate,
)
from plurank.mixed import estimator
from plurank.mixed.candidates import check_selection
from tests.oracles.simulated_scores import simulate_scores


def planted(n_rankings, seed, n_users=200, per_user=20):
    """Users without noise who follow one ranking each."""
    rng = np.random.default_rng(seed)
    rankings = np.array([rng.permutation(8) for _ in range(n_rankings)])
    places = np.argsort(rankings, axis=1)
    users = np.repeat(np.arange(n_users), per_user)
    own = rng.integers(n_rankings, size=n_users)[users]
    first = rng.integers(8, size=len(users))
    second = (first + 1 + rng.integers(7, size=len(users))) % 8
    wins = places[own, first] < places[own, second]
    return Comparisons.from_arrays(
        users, np.where(wins, first, second), np.where(wins, second, first), items=np.arange(8)
    )


def shuffle_users(comparisons, seed):
    """Deal the comparisons to users at random."""
    rows = np.random.default_rng(seed).permutation(len(comparisons))
    c = comparisons
    return Comparisons.from_arrays(c.user_of_each(), c.winners[rows], c.losers[rows], items=np.arange(c.n_items))


def auto(comparisons, **parameters):
    return MixedRanking(random_state=0, **parameters).fit(comparisons)


@pytest.mark.parametrize("seed", range(3))
def test_two_planted_rankings_are_found(seed):
    assert auto(planted(2, seed)).n_rankings_ == 2


@pytest.mark.parametrize("seed", range(2))
def test_people_who_agree_have_one_ranking(seed):
    c = simulate_scores(150, 8, 1, 20, "probability", seed).comparisons
    assert auto(c).n_rankings_ == 1


def test_comparisons_dealt_to_users_at_random_have_one_ranking_even_if_no_scores_describe_them():
    # a mixture of two strict orders in fixed shares is no Bradley-Terry ranking: two predict better, but nobody differs
    model = auto(shuffle_users(planted(2, 0), 0))
    assert model.n_rankings_ == 1


def test_the_fit_is_that_of_the_chosen_number_and_mixing(tmp_path):
    c = planted(2, 0)
    model = auto(c)
    same = MixedRanking(model.n_rankings_, mixing=model.mixing_, random_state=0).fit(c)
    np.testing.assert_array_equal(model.scores_, same.scores_)
    np.testing.assert_array_equal(model.user_weights_, same.user_weights_)
    assert same.selection_ is None
    rows = model.selection_["candidates"]
    assert (model.n_rankings_, model.mixing_) in [(row["n_rankings"], row["mixing"]) for row in rows]
    model.save(tmp_path / "model.plurank")
    again = load(tmp_path / "model.plurank")
    assert again.selection_ == model.selection_ == again.summary()["selection"]
    assert (again.n_rankings, again.mixing, again.mixing_) == ("auto", "auto", model.mixing_)
    np.testing.assert_array_equal(again.predict_held_out(c)[0], same.predict_held_out(c)[0])


def test_a_store_gives_the_same_choice_and_fit(tmp_path):
    made = simulate(120, 6, 2, 20, random_state=0).comparisons
    made.to_frame().write_csv(tmp_path / "votes.csv")
    ingest(tmp_path / "votes.csv", tmp_path / "votes.store")
    store = open_store(tmp_path / "votes.store")
    in_memory, on_disk = auto(store.to_comparisons()), auto(store)
    assert on_disk.selection_ == in_memory.selection_
    np.testing.assert_array_equal(on_disk.scores_, in_memory.scores_)


def test_there_are_no_more_rankings_than_items():
    rng = np.random.default_rng(0)
    stars = rng.normal(size=(200, 1)) * rng.choice([-1.0, 1.0], 6) + rng.normal(size=(200, 6))
    values = np.digitize(stars, [-1.0, 0.0, 1.0]).ravel()
    rated = Ratings.from_arrays(np.repeat(np.arange(200), 6), np.tile(np.arange(6), 200), values)
    chosen = MixedRanking(max_iter=60, random_state=0).fit(rated)
    assert max(row["n_rankings"] for row in chosen.selection_["candidates"]) <= 6
    compared = MixedRanking(max_iter=20, random_state=0).fit(rated.to_comparisons())
    assert max(row["n_rankings"] for row in compared.selection_["candidates"]) <= 6


def test_only_the_mixing_may_be_chosen():
    c = simulate_scores(80, 6, 2, 20, "utility", 0).comparisons
    model = MixedRanking(2, mixing="auto", random_state=0).fit(c)
    assert model.n_rankings_ == 2
    assert {row["mixing"] for row in model.selection_["candidates"]} == {"probability", "utility"}
    assert {row["n_rankings"] for row in model.selection_["candidates"]} == {2}


def test_a_model_with_a_chosen_number_learns_more():
    c = planted(2, 0, n_users=60)
    model = auto(c)
    model.update(Comparisons.from_arrays(["new"], [0], [1], items=np.arange(8)))
    assert model.n_rankings_ == len(model.rankings_)
    assert model.rank("new").height == 8
    assert len(model.fold_in([(0, 1)]).weights) == model.n_rankings_


def test_too_few_comparisons_to_choose_by_give_one_ranking_and_say_so():
    model = auto(Comparisons.from_arrays(["a", "b"], [0, 1], [1, 0]))
    assert model.n_rankings_ == 1
    assert "too few to hold some out" in model.selection_["answer"]
    assert model.selection_["candidates"] == []


def test_orders_are_mixed_by_probability():
    c = planted(2, 0, n_users=60)
    assert MixedRanking(2, "strict", mixing="auto", random_state=0).fit(c).mixing_ == "probability"


def test_a_fit_that_is_resumed_keeps_what_was_chosen(tmp_path, monkeypatch):
    made = planted(2, 0, n_users=60)
    made.to_frame().write_csv(tmp_path / "votes.csv")
    store = ingest(tmp_path / "votes.csv", tmp_path / "votes.store")
    auto_fit = MixedRanking(random_state=None).fit(store, checkpoint=tmp_path / "run")

    def fail(*_):
        raise AssertionError("chosen again")

    monkeypatch.setattr(estimator, "choose_settings", fail)
    again = MixedRanking(random_state=None).fit(store, checkpoint=tmp_path / "run", resume=True)
    assert again.selection_ == auto_fit.selection_
    assert again.mixing_ == auto_fit.mixing_


@pytest.mark.parametrize(
    "parameters", [{"mixing": "probability", "score_scale": 50.0}, {"mixing": "utility", "score_scale": 0.01}]
)
def test_a_given_scale_beyond_what_is_searched_leaves_the_concentration_to_be_chosen(parameters):
    model = MixedRanking(2, random_state=0, **parameters).fit(planted(2, 0, n_users=40))
    assert model.score_scale_ == parameters["score_scale"]
    assert model.concentration_ > 0


def test_more_rankings_than_the_range_of_concentrations_can_be_fitted():
    c = simulate(115, 4, 2, 6, random_state=0).comparisons
    assert MixedRanking(112, mixing="utility", random_state=0).fit(c).n_rankings_ == 112


@pytest.mark.parametrize("concentration", [5.0, 30.0, 100.0])
def test_nothing_is_known_of_somebody_who_said_nothing_whatever_the_concentration(concentration):
    model = auto(planted(2, 0, n_users=60))
    model.concentration_, model.concentration_error_ = concentration, 0.5
    first, second = model.fold_in([]).weight_intervals().select("lower", "upper").rows()
    # the second weight is what the first one leaves
    np.testing.assert_allclose(first, (1 - second[1], 1 - second[0]), atol=0.05)
    assert first[1] - first[0] > 0.8


def test_what_one_user_alone_holds_out_proves_nothing():
    users = ["a"] * 40 + ["b", "c", "d", "e"]
    left = np.random.default_rng(0).integers(2, size=len(users))
    model = auto(Comparisons.from_arrays(users, left, 1 - left))
    assert model.n_rankings_ == 1


@pytest.mark.parametrize("wrong", ["many", 0, 2.5, None])
def test_other_words_are_refused(wrong):
    with pytest.raises(ParameterError, match="n_rankings"):
        MixedRanking(wrong).check_parameters()


@pytest.mark.parametrize(
    "value",
    [3, {}, {"n_rankings": 2, "mixing": "no", "answer": "", "candidates": []},
     {"n_rankings": 2, "mixing": "utility", "answer": "", "candidates": [{}]}],
)  # fmt: skip
def test_a_file_with_another_selection_is_refused(value):
    with pytest.raises(ValueError, match="selection_"):
        check_selection(value)


def test_more_rankings_than_users_are_refused_as_before():
    with pytest.raises(NotIdentifiableError, match="cannot be told apart"):
        MixedRanking(9).fit(Comparisons.from_arrays(["a", "b"], [0, 1], [1, 0]))


def test_a_fitted_model_is_judged_with_what_it_chose():
    c = planted(2, 0, n_users=80)
    model = auto(c)
    same = MixedRanking(2, mixing=model.mixing_, random_state=0)
    assert held_out_quality(model, c) == held_out_quality(same, c)
    assert MixedRanking().chosen_parameters == {}


def test_intervals_of_weights_come_back_from_a_file_and_for_a_new_user(tmp_path):
    model = auto(planted(2, 0, n_users=60))
    assert 0.0 < model.concentration_error_ <= 1.0
    model.save(tmp_path / "model.plurank")
    again = load(tmp_path / "model.plurank")
    assert again.weight_intervals(3).equals(model.weight_intervals(3))
    narrow = model.fold_in([(0, 1), (1, 2)]).weight_intervals()
    model.concentration_error_ = 0.0
    narrower = model.fold_in([(0, 1), (1, 2)]).weight_intervals()
    assert (narrow["upper"] - narrow["lower"] >= narrower["upper"] - narrower["lower"]).all()

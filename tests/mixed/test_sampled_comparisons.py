"""MixedRanking(inference="sampling"): the posterior of comparisons that users made, errors included."""

import pickle
import warnings

import numpy as np
import polars as pl
import pytest

import plurank
from plurank import Comparisons, ConvergenceWarning, MixedRanking, ParameterError
from plurank.kernels.threads import get_num_threads, set_num_threads
from plurank.mixed.rated_fields import COMPARED
from plurank.thurstone.comparisons import Compared, observe_with_errors
from plurank.thurstone.exposure import Exposure
from plurank.thurstone.sampler import Chain, Observations, Shape
from tests.contracts.equality import assert_same_model


def fit(data, n_rankings=2, *, max_iter=6, n_factors=0, **parameters):
    """Fit with chains that are too short to agree, as most tests need no more."""
    model = MixedRanking(
        n_rankings, inference="sampling", max_iter=max_iter, n_factors=n_factors, random_state=0, **parameters
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(data)


def simulate(n_users=60, n_items=8, per_user=20, error=1.0, seed=0):
    """People with two rankings, utilities of their own, and errors that make them contradict themselves."""
    rng = np.random.default_rng(seed)
    scores = 1.5 * rng.standard_normal((n_items, 2))
    weights = rng.dirichlet([0.5, 0.5], n_users)
    own = weights @ scores.T + rng.standard_normal((n_users, n_items))
    users = np.repeat(np.arange(n_users), per_user)
    left = rng.integers(0, n_items, len(users))
    right = (left + rng.integers(1, n_items, len(users))) % n_items
    ahead = own[users, left] - own[users, right] + error * rng.standard_normal(len(users)) > 0.0
    sides = np.where(ahead, left, right), np.where(ahead, right, left)
    return Comparisons.from_arrays(users, *sides), scores, weights


@pytest.fixture(scope="module")
def data():
    return simulate()[0]


@pytest.fixture(scope="module", params=[0, 2], ids=["rankings", "factors"])
def model(request, data):
    return fit(data, n_factors=request.param)


def asked(data):
    return data.to_frame().rename({"winner": "left", "loser": "right"})


def test_the_two_orders_of_a_pair_have_probabilities_that_sum_to_one(model, data):
    frame = asked(data)
    turned = frame.rename({"left": "right", "right": "left"}).select(frame.columns)
    np.testing.assert_allclose(model.predict_proba(frame) + model.predict_proba(turned), 1.0, atol=1e-9)
    strangers = frame.with_columns(user=pl.lit(-1))
    np.testing.assert_allclose(model.predict_proba(strangers) + model.predict_proba(strangers.select(
        "user", left="right", right="left")), 1.0, atol=1e-9)  # fmt: skip


def test_what_users_said_counts_beyond_the_rankings_and_errors_are_expected(model, data):
    """Of the comparisons that it was fitted to, the model is nearly as sure as users were consistent."""
    found = model.evaluate(data)
    assert found["n_known_users"] == 60
    assert 0.75 < found["accuracy"] < 1.0
    assert (model.draw_errors_ > 0.0).all()
    assert (model.draw_errors_ < np.sqrt(2.0)).all()


def test_scores_weights_and_errors_are_recovered():
    data, scores, weights = simulate(400, 10, 40, 1.5, 1)
    model = fit(data, max_iter=60)
    truth = scores - scores.mean(axis=0)
    apart = [np.corrcoef(model.scores_[:, 0], truth[:, k])[0, 1] for k in (0, 1)]
    columns = [0, 1] if apart[0] > apart[1] else [1, 0]
    slope = 1.702 / np.sqrt(2.0 + 1.5**2)  # log odds of a difference of 1
    assert np.corrcoef(model.scores_.ravel(), truth[:, columns].ravel())[0, 1] > 0.97
    assert model.scores_.std() == pytest.approx(slope * truth.std(), rel=0.2)
    assert np.corrcoef(model.user_weights_[:, 0], weights[:, columns[0]])[0, 1] > 0.6
    spread = np.sqrt(1.0 - model.draw_errors_**2 / 2.0)
    assert np.mean(model.draw_errors_ / spread) == pytest.approx(1.5, rel=0.15)


def test_a_user_who_says_both_is_predicted_with_doubt(data):
    rows = data.to_frame().filter(pl.col("user") != 0)
    both = pl.DataFrame({"user": [0] * 8, "winner": [0, 1] * 4, "loser": [1, 0] * 4}, schema=rows.schema)
    model = fit(pl.concat([both, rows]), max_iter=20)
    chance = model.predict_proba(pl.DataFrame({"user": [0], "left": [0], "right": [1]}))[0]
    assert 0.2 < chance < 0.8


def test_new_users_are_folded_in_with_errors(model):
    one, other = model.items_[:2]
    sure = model.fold_in([(one, other)] * 5)
    unsure = model.fold_in([(one, other), (other, one)] * 2)
    assert sure.predict([one], [other])[0] > unsure.predict([one], [other])[0]
    assert sure.weights.sum() == pytest.approx(1.0)
    assert set(sure.rank().columns) == {"item", "score", "rank", "lower", "upper"}
    assert set(model.next_pair([(one, other)])) <= set(model.items_.tolist())


def test_transform_and_scores_of_new_users(model, data):
    weights = model.transform(data)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert weights.shape == (60, 2)
    score = model.score(data, method="left-to-right", n_particles=10)
    assert -0.7 < score < 0.0
    assert score == model.score(data, method="left-to-right", n_particles=10)


def test_a_saved_model_comes_back_whole(model, data, path):
    model.save(path)
    again = plurank.load(path)
    assert_same_model(model, again)
    np.testing.assert_array_equal(model.predict_proba(asked(data)), again.predict_proba(asked(data)))
    assert_same_model(model, pickle.loads(pickle.dumps(model)))


@pytest.mark.parametrize("name", COMPARED)
def test_a_file_without_a_part_of_what_users_compared_is_refused(name, model, path):
    damaged = pickle.loads(pickle.dumps(model))
    setattr(damaged, name, None)
    with pytest.raises(ValueError, match="some of what draws say of items that were compared is missing"):
        damaged.check_consistent()


def test_fits_do_not_depend_on_the_number_of_threads(data):
    before, found = get_num_threads(), []
    try:
        for n in (1, 3):
            set_num_threads(n)
            found.append(fit(data, n_factors=1))
    finally:
        set_num_threads(before)
    assert_same_model(*found)


def test_chains_do_not_depend_on_how_users_are_cut_into_blocks(monkeypatch, data):
    def run():
        source = Compared(data)
        chain = Chain(Observations.of(source), Shape(2, 1), [0, 1], Exposure.none(data.n_items))
        for _ in range(4):
            chain.sweep()
        return chain.population, [state.utilities for state in chain.states]

    one = run()
    monkeypatch.setattr("plurank.thurstone.blocks.BLOCK_SIZE", 100)
    other = run()
    assert len(other[1]) > 1
    np.testing.assert_allclose(one[0].items, other[0].items, rtol=1e-8)
    assert one[0].error == pytest.approx(other[0].error, rel=1e-12)
    np.testing.assert_allclose(np.concatenate(one[1]), np.concatenate(other[1]), rtol=1e-8)


def test_an_update_moves_who_spoke_and_leaves_the_others(data, path):
    rows = data.to_frame()
    model = fit(Comparisons.from_arrays(rows["user"].cast(str), rows["winner"], rows["loser"]))
    frame = pl.DataFrame({"user": ["3"], "left": [5], "right": [7]})
    chance = model.predict_proba(frame)[0]
    more = Comparisons.from_arrays(["new"] * 4 + ["3"] * 6, [0, 0, 1, 2, *[5] * 6], [1, 2, 3, 3, *[7] * 5, 8])
    before = model.user_weights_.copy()
    others = model.users_ != "3"
    model.update(more)
    assert model.users_[-1] == "new"
    assert model.items_.tolist() == [*range(9)]
    np.testing.assert_array_equal(model.user_weights_[:-1][others], before[others])
    assert model.predict_proba(frame)[0] > min(chance + 0.02, 0.9)
    assert np.isfinite(model.predict_proba(pl.DataFrame({"user": ["new"], "left": [0], "right": [8]}))).all()
    model.save(path)
    assert_same_model(model, plurank.load(path))


def test_covariates_and_features_are_part_of_the_posterior(data):
    people = pl.DataFrame({"user": data.users, "age": np.linspace(20.0, 60.0, 60)})
    features = pl.DataFrame({"item": data.items, "size": np.arange(8.0) ** 2})
    model = MixedRanking(2, inference="sampling", max_iter=6, n_factors=0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data, people=people, items=features)
    assert {"attribute", "share", "lower", "upper"} <= set(model.effects().columns)
    assert {"lower", "upper"} <= set(model.item_effects().columns)
    model.add_items(pl.DataFrame({"item": [99], "size": [3.0]}))
    assert model.items_[-1] == 99
    assert len(model.rank()) == 9
    frame = pl.DataFrame({"user": [data.users[0]], "left": [99], "right": [data.items[0]]})
    assert 0.0 < model.predict_proba(frame)[0] < 1.0


def test_the_summary_says_that_comparisons_were_sampled(model):
    summary = model.summary()
    assert summary["method"] == "rankings and weights by sampling the posterior"
    assert summary["observed"] == "comparisons"
    assert not summary["rated"]
    assert "each comparison has an error of its own" in model._details()["errors"]
    assert model.explained_by_user().columns == ["user", "variance", "share"]


def test_ratings_are_compared_where_comparisons_were_fitted(model, data):
    frame = pl.DataFrame({"user": [0, 0, 0, 1, 1], "item": [0, 1, 2, 0, 3], "rating": [1, 2, 3, 5, 1]})
    found = model.evaluate(plurank.Ratings.from_frame(frame))
    assert found["n_comparisons"] == 4
    assert "rmse" not in found


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"mixing": "probability"}, "mixes utilities of scores; expected mixing='utility'"),
        ({"component": "strict"}, "mixes utilities of scores"),
        ({"concentration": 1.0}, "concentration is for fits of comparisons by optimisation"),
        ({"inference": "guessing"}, "inference must be"),
    ],
)
def test_parameters_that_do_not_go_with_sampling_are_refused(parameters, sentence, data):
    model = MixedRanking(**{"n_rankings": 2, "inference": "sampling", **parameters})
    with pytest.raises(ParameterError, match=sentence):
        model.fit(data)


def test_comparisons_with_weights_ties_or_made_from_ratings_and_stores_are_refused(data, tmp_path):
    weighted = Comparisons.from_arrays([1, 1, 2], list("aab"), list("bcc"), [2.0, 1.0, 1.0])
    ties = Comparisons.from_frame(pl.DataFrame({"user": [1, 1], "left": list("ab"), "right": list("bc"),
                                                "winner": ["tie", "left"]}))  # fmt: skip
    rated = plurank.Comparisons.from_ratings(
        pl.DataFrame({"user": [1, 1, 1, 2, 2], "item": list("abcab"), "rating": [1, 2, 3, 2, 1]})
    )
    data.to_frame().write_csv(tmp_path / "votes.csv")
    store = plurank.ingest(tmp_path / "votes.csv", tmp_path / "votes.store")
    for bad, sentence in (
        (weighted, "count once each, got weights"), (ties, "got ties"), (rated, "made from ratings or rankings"),
        (store, "takes comparisons in memory, got a store"),
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=sentence):
            fit(bad)


def test_comparisons_link_both_items_once_for_every_time_they_were_compared():
    observed = observe_with_errors(Comparisons.from_arrays([1, 1, 1, 2], list("aabc"), list("bbaa")))
    assert observed.offsets.tolist() == [0, 2, 4]
    assert observed.codes.tolist() == [0, 1, 0, 2]
    assert observed.link_offsets.tolist() == [0, 3, 6, 7, 8]
    assert observed.links.tolist() == [2, 2, -2, 1, -1, -1, -2, 1]


def test_numbers_of_rankings_are_chosen_by_sampling_where_that_is_asked_for(data):
    found = plurank.select_rankings(data, (1, 2), inference="sampling", max_iter=4, random_state=0)
    assert found.mixing == "utility"
    assert found.n_rankings in (1, 2)
    fitted = fit(data, "auto", max_iter=4)
    assert f"{fitted.n_rankings_} ranking" in fitted.selection_["answer"]
    with pytest.raises(ParameterError, match="mixes utilities of scores"):
        plurank.select_rankings(data, (1, 2), "probability", inference="sampling")


def test_too_few_comparisons_to_hold_some_out_are_counted_as_such():
    three = Comparisons.from_arrays([1, 1, 2], list("aba"), list("bcc"))
    with pytest.raises(plurank.DataError, match=r"^3 comparisons of 2 users are too few"):
        plurank.select_rankings(three, (1, 2), inference="sampling")
    assert "2 users with 3 observations are too few" in fit(three, "auto").selection_["answer"]

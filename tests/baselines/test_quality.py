"""How good a model is, on comparisons held out."""

import numpy as np
import polars as pl
import pytest

import plurank
from plurank import DataError, ParameterError
from plurank.metrics.predictions import calibration_table


@pytest.fixture(scope="module")
def people():
    return plurank.simulate(300, 8, 2, 30, random_state=0, mean_weights=[0.5, 0.5]).comparisons


@pytest.fixture(scope="module")
def model(people):
    return plurank.TopicRanking(2, random_state=0).fit(people)


def test_a_mixture_is_measured_beside_one_ranking(model, people):
    before = model.user_weights_.copy()
    found = plurank.held_out_quality(model, people)
    assert isinstance(found, plurank.Quality)
    assert found.n_train + found.n_test <= len(people)
    # two different camps: some 500 held-out comparisons have standard errors of about 0.02
    assert found.accuracy > found.single_accuracy + 0.1
    assert found.log_likelihood > found.single_log_likelihood + 0.1
    assert found.calibration["n"].sum() == found.n_test
    np.testing.assert_array_equal(model.user_weights_, before)


def test_quality_is_that_of_fits_to_the_training_part(model, people):
    train, test = people.split(random_state=1)
    found = plurank.held_out_quality(model, train, test=test)
    again, single = plurank.TopicRanking(2, random_state=0).fit(train), plurank.SingleRanking().fit(train)
    assert (found.n_train, found.n_test) == (len(train), len(test))
    assert found.log_likelihood == pytest.approx(again.score(test))
    assert found.accuracy == pytest.approx(again.accuracy(test))
    assert found.single_log_likelihood == pytest.approx(single.score(test))
    assert found.single_accuracy == pytest.approx(single.accuracy(test))


def test_the_same_seed_gives_the_same_quality_even_without_a_seed_of_the_model(people):
    fits = [plurank.held_out_quality(plurank.TopicRanking(2), people, random_state=4) for _ in range(2)]
    assert fits[0] == fits[1]
    assert fits[0].to_dict() == fits[1].to_dict()


def test_of_ratings_items_are_held_out():
    rng = np.random.default_rng(0)
    rows = pl.DataFrame({"user": np.repeat(np.arange(40), 8), "item": np.tile(np.arange(8), 40)})
    rated = plurank.Comparisons.from_ratings(rows.with_columns(rating=rng.permutation(len(rows))))
    found = plurank.held_out_quality(plurank.SingleRanking(), rated)
    assert found.n_train + found.n_test < len(rated)  # pairs of an item held out and one that is not are left out


def test_too_little_to_hold_out_is_refused():
    one = plurank.Comparisons.from_arrays([1], ["a"], ["b"])
    with pytest.raises(DataError, match="too few to hold some out"):
        plurank.held_out_quality(plurank.SingleRanking(), one)


@pytest.mark.parametrize("size", [0, 1, -0.5, "half"])
def test_shares_that_make_no_sense_are_refused(size, people):
    with pytest.raises(ParameterError, match="test_size"):
        plurank.held_out_quality(plurank.SingleRanking(), people, size)


def test_calibration_looks_at_each_comparison_from_the_side_predicted_to_win():
    table = calibration_table([0.9, 0.9, 0.1, 0.9])  # three times right, once wrong
    assert table.rows() == [(pytest.approx(0.9), pytest.approx(0.75), 4)]


def test_true_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    chance = rng.uniform(size=200_000)
    happened = np.where(rng.uniform(size=len(chance)) < chance, chance, 1.0 - chance)
    table = calibration_table(happened)
    # about 20,000 in a bin: five standard errors of a share are below 0.018
    np.testing.assert_allclose(table["share"], table["predicted"], atol=0.018)


def test_weights_count_in_calibration():
    table = calibration_table([0.92, 0.08], weights=[3.0, 1.0])
    assert table.rows() == [(pytest.approx(0.92), pytest.approx(0.75), 2)]


def test_one_half_counts_half():
    assert calibration_table([0.5, 0.5]).rows() == [(0.5, 0.5, 2)]

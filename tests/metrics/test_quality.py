"""Quality: what is measured, and that it survives being written down."""

import json

import numpy as np
import pytest

import plurank
from plurank.metrics.predictions import Quality, check_quality

PREDICTED = np.array([0.9, 0.6, 0.4, 0.8])
BY_ONE = np.array([0.5, 0.6, 0.6, 0.4])


def test_quality_holds_a_model_against_one_ranking():
    quality = Quality.of(10, PREDICTED, BY_ONE, [1.0, 1.0, 2.0, 1.0])
    assert (quality.n_train, quality.n_test) == (10, 4)
    assert quality.accuracy == pytest.approx(3 / 5)
    assert quality.single_accuracy == pytest.approx((0.5 + 1 + 2) / 5)
    assert quality.log_likelihood == pytest.approx(np.average(np.log(PREDICTED), weights=[1, 1, 2, 1]))
    assert quality.calibration["n"].sum() == 4


def test_quality_comes_back_from_json_as_it_was():
    quality = Quality.of(10, PREDICTED, BY_ONE)
    again = Quality.from_dict(json.loads(json.dumps(quality.to_dict())))
    assert again == quality
    assert again.calibration.equals(quality.calibration)
    check_quality(quality.to_dict())
    check_quality(None)


@pytest.mark.parametrize("broken", [{}, [], {"n_train": "many"}, {"accuracy": True}, {"calibration": {"n": [1]}}])
def test_what_is_no_quality_is_refused(broken):
    whole = Quality.of(10, PREDICTED, BY_ONE).to_dict()
    with pytest.raises(ValueError, match="quality"):
        check_quality({**whole, **broken} if isinstance(broken, dict) and broken else broken)


def test_a_fit_says_how_well_it_predicted_what_it_had_held_out(tmp_path):
    people = plurank.simulate(300, 8, 2, 30, random_state=0)
    train, test = people.comparisons.split(random_state=0)
    model = plurank.MixedRanking(2, mixing="probability", random_state=0).fit(train)
    measured = Quality.from_dict(model.quality_)
    # people this consistent have items held out, which are harder to predict than single comparisons
    assert measured.accuracy == pytest.approx(model.accuracy(test), abs=0.06)
    assert measured.log_likelihood == pytest.approx(model.score(test), abs=0.12)
    assert measured.single_accuracy < measured.accuracy - 0.1
    model.save(tmp_path / "m.plurank")
    assert plurank.load(tmp_path / "m.plurank").quality_ == model.quality_


def test_where_nothing_was_held_out_nobody_knows_how_well_it_predicts():
    people = plurank.simulate(100, 8, 2, 20, random_state=0).comparisons
    assert (
        plurank.MixedRanking(2, mixing="probability", concentration=1.0, score_scale=1.0, random_state=0)
        .fit(people)
        .quality_
        is None
    )
    assert plurank.MixedRanking(2, "strict", mixing="probability", random_state=0).fit(people).quality_ is None

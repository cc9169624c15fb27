"""TopicRanking keeps the contract, and what it alone has."""

import itertools

import numpy as np
import pytest

import plurank
from plurank import TopicRanking
from plurank.topic import rounding as polish_rankings
from plurank.topic.recover import Recovery, check_distinct
from plurank.topic.rounding import Rounded
from tests.contracts.model_contract import ModelContract

BAD_PARAMETERS = [
    *({"n_rankings": bad} for bad in (0, -1, 1.5, True, "3", None, np.nan)),
    *({"detection": bad} for bad in ("", "fast", None, 1)),
    *({"directions": bad} for bad in ("", "cube", None)),
    *({"n_projections": bad} for bad in (0, -5, 2.5, "many")),
    *({"separation_tol": bad} for bad in (0, -0.1, np.nan)),
    *({"regression_tol": bad} for bad in (0.0, -1e-4, np.nan)),
    *({"prior": bad} for bad in ("", "bound", None, 1)),
    *({"random_state": bad} for bad in (-1, True)),
]


class TestWhitened(ModelContract):
    bad_parameters = BAD_PARAMETERS

    @classmethod
    def make(cls, n_rankings=3, **parameters):
        return TopicRanking(n_rankings, **parameters)


class TestProjections(ModelContract):
    bad_parameters = BAD_PARAMETERS

    @classmethod
    def make(cls, n_rankings=3, **parameters):
        return TopicRanking(n_rankings, **({"detection": "projections"} | parameters))


@pytest.mark.parametrize(
    "parameters",
    [
        {"separation_tol": None},
        {"separation_tol": "small"},
        {"regression_tol": None},
        {"regression_tol": [1e-4]},
        {"random_state": "seed"},
        {"random_state": 1.5},
    ],
    ids=str,
)
def test_parameters_of_a_wrong_type_are_refused_with_a_sentence(parameters, easy):
    with pytest.raises(plurank.ParameterError, match=r"must be .*got .*\.$"):
        TopicRanking(2, **parameters).fit(easy.comparisons)


@pytest.mark.parametrize("detection", ["whitened", "projections", "printed"])
def test_novel_pairs_are_novel_to_their_ranking(detection, easy):
    model = TopicRanking(3, detection, random_state=0).fit(easy.comparisons)
    places = np.argsort(model.rankings_, axis=1)
    for k, (preferred, other) in enumerate(model.novel_pairs_):
        assert (places[:, preferred] < places[:, other]).tolist() == [at == k for at in range(3)]


def test_novel_pairs_are_given_as_labels():
    labels = np.array(list("abcdefghij"), dtype=object)
    s = plurank.simulate(800, 10, 3, 50, random_state=1, items=labels, mean_weights=[0.5, 0.3, 0.2])
    model = TopicRanking(3, random_state=0).fit(s.comparisons)
    assert all(item in labels for pair in model.novel_pairs_ for item in pair)
    assert len(model.novel_pairs_) == 3


def test_the_ranking_matrix_is_the_papers_sigma(easy_model):
    sigma = easy_model.ranking_matrix()
    places = np.argsort(easy_model.rankings_, axis=1)
    assert sigma.shape == (90, 3)
    for row, (i, j) in zip(sigma, itertools.permutations(range(10), 2), strict=True):
        assert row.tolist() == (places[:, i] < places[:, j]).tolist()


def test_what_was_found_on_the_way_is_kept(easy_model):
    assert easy_model.solid_angles_.shape == (3,)
    assert easy_model.solid_angles_.sum() == pytest.approx(1.0)
    assert easy_model.separation_statistic_ == "whitened"
    assert easy_model.intransitive_triples_.tolist() == [0, 0, 0]
    assert 0 < easy_model.flip_probability_ < 0.01
    assert easy_model.converged_
    assert easy_model.n_iter_ >= 1


def test_projections_keep_their_statistic_and_need_no_rounds(easy):
    for detection, statistic in (("projections", "rank K"), ("printed", "entries")):
        model = TopicRanking(3, detection, random_state=0).fit(easy.comparisons)
        assert model.separation_statistic_ == statistic
        assert model.n_iter_ == 0
        assert model.converged_


def test_the_number_and_kind_of_directions_can_be_chosen(easy):
    few = TopicRanking(3, "printed", n_projections=77, directions="sphere", random_state=0).fit(easy.comparisons)
    assert np.allclose(few.solid_angles_ * 77, np.round(few.solid_angles_ * 77))
    assert plurank.ranking_error(few.rankings_, easy.rankings) == 0


def test_many_comparisons_are_sampled_by_whole_users_to_fit_the_flip_probability(easy, monkeypatch):
    monkeypatch.setattr("plurank.topic.estimator.FLIP_SAMPLE", 5000)
    model = TopicRanking(3, random_state=0).fit(easy.comparisons)
    assert model.user_weights_.shape == (800, 3)
    assert plurank.ranking_error(model.rankings_, easy.rankings) == 0
    assert model.flip_probability_ < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_a_novel_pair_holds_for_the_rankings_given_or_is_none_on_noisy_data_too(seed):
    s = plurank.simulate(150, 8, 5, 12, random_state=seed)
    model = TopicRanking(5, random_state=0).fit(s.comparisons)
    places = np.argsort(model.rankings_, axis=1)
    assert None in model.novel_pairs_ or seed > 0  # five rankings of eight items seldom all have one
    for k, pair in enumerate(model.novel_pairs_):
        if pair is not None:
            assert (places[:, pair[0]] < places[:, pair[1]]).tolist() == [at == k for at in range(5)]


def test_rankings_that_come_out_the_same_are_refused_with_the_numbers():
    one = Rounded(np.array([[0, 1], [0, 1], [1, 0]]), np.array([[True, True, False]]), np.zeros(3, dtype=int))
    with pytest.raises(plurank.NotIdentifiableError, match="3 rankings were asked for, but only 2 different ones"):
        check_distinct(Recovery(None, np.zeros((2, 3)), one))


def test_polishing_that_does_not_end_is_a_warning_and_the_estimate_stays(easy, monkeypatch):
    monkeypatch.setattr(polish_rankings, "MAX_ROUNDS", 1)
    with pytest.warns(plurank.ConvergenceWarning, match="still improving after 1 iteration"):
        model = TopicRanking(3, random_state=0).fit(easy.comparisons)
    assert not model.converged_
    assert model.rankings_.shape == (3, 10)

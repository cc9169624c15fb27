"""What scikit-learn expects of a transformer."""

import pickle
import sys

import numpy as np
import polars as pl
import pytest
import sklearn
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import plurank
from plurank.models.sklearn_api import clone


@pytest.fixture(scope="module")
def few():
    return plurank.simulate(40, 6, 2, 20, random_state=0).comparisons


@pytest.fixture(scope="module")
def model(few):
    return plurank.MixedRanking(2, mixing="probability", concentration=1.0, score_scale=1.0, random_state=0).fit(few)


@pytest.fixture
def frame():
    """Rows of three people, who do not appear in the order of their names."""
    rows = [("zoe", 0, 1), ("adam", 1, 0), ("zoe", 2, 3), ("mia", 4, 5), ("adam", 5, 2)]
    return pl.DataFrame(rows, schema=["user", "winner", "loser"], orient="row")


def test_rows_of_a_frame_stay_in_the_order_in_which_people_appear(model, frame):
    weights = model.transform(frame)
    known = dict(zip(["adam", "mia", "zoe"], model.transform(plurank.Comparisons.from_frame(frame)), strict=True))
    for user, row in zip(frame["user"].unique(maintain_order=True), weights, strict=True):
        np.testing.assert_array_equal(row, known[user])
    assert not np.array_equal(known["adam"], known["zoe"])


def test_comparisons_keep_the_order_of_their_users(model, few):
    np.testing.assert_allclose(model.transform(few), model.user_weights_, atol=1e-6)


def test_frames_of_weights_name_the_users(model, frame):
    found = model.weights_frame(frame)
    assert found.columns == ["user", "ranking_1", "ranking_2"]
    assert found["user"].to_list() == ["zoe", "adam", "mia"]
    np.testing.assert_array_equal(found.select("ranking_1", "ranking_2").to_numpy(), model.transform(frame))


def test_columns_have_names(model):
    assert model.get_feature_names_out().tolist() == ["ranking_1", "ranking_2"]


def test_transform_gives_the_frame_that_was_chosen(model, frame):
    pytest.importorskip("pandas")
    weights = model.transform(frame)
    try:
        polars = model.set_output(transform="polars").transform(frame)
        assert polars.equals(model.weights_frame(frame))
        pandas = model.set_output(transform="pandas").transform(frame.to_pandas())
        assert pandas.index.tolist() == ["zoe", "adam", "mia"]
        assert pandas.index.name == "user"
        np.testing.assert_array_equal(pandas.to_numpy(), weights)
        assert sklearn.clone(model)._sklearn_output_config == {"transform": "pandas"}
    finally:
        model.set_output(transform="default")
    with sklearn.config_context(transform_output="polars"):
        assert model.set_output().transform(frame).shape == (3, 2), "what was chosen for the model counts"


def test_the_output_that_scikit_learn_is_set_to_counts_where_nothing_was_chosen(few):
    model = plurank.SingleRanking().fit(few)
    with sklearn.config_context(transform_output="polars"):
        assert model.transform(few).columns == ["user", "ranking_1"]


def test_an_unknown_output_is_refused(model):
    with pytest.raises(plurank.ParameterError, match="transform must be one of 'default', 'pandas', 'polars'"):
        model.set_output(transform="arrow")


def test_written_weights_do_not_depend_on_the_output(model, few, tmp_path):
    try:
        model.set_output(transform="polars").write_weights(few, tmp_path / "w.parquet")
    finally:
        model.set_output(transform="default")
    assert pl.read_parquet(tmp_path / "w.parquet").columns == ["user", "ranking 1", "ranking 2"]


def test_fit_transform_is_fit_and_transform(few):
    model = plurank.SingleRanking()
    np.testing.assert_array_equal(model.fit_transform(few), plurank.SingleRanking().fit(few).transform(few))


def test_predict_gives_the_item_that_is_likelier_to_be_preferred(model):
    pairs = pl.DataFrame({"user": [0, 0, 1], "left": [0, 1, 2], "right": [1, 0, 3]})
    chances, found = model.predict_proba(pairs), model.predict(pairs)
    assert found.tolist() == [
        left if p >= 0.5 else right for p, (_, left, right) in zip(chances, pairs.rows(), strict=True)
    ]
    assert found[0] == found[1]


def test_comparisons_are_selected_by_numbers_marks_and_slices(few):
    numbers = np.array([3, 30, 31])
    rows = few.to_frame().rows()
    assert few[numbers].to_frame().rows() == [rows[n] for n in numbers]
    assert few[np.isin(np.arange(len(few)), numbers)].to_frame().rows() == [rows[n] for n in numbers]
    assert few[:4].to_frame().rows() == rows[:4]
    assert few.shape == (len(few), 3)


@pytest.mark.parametrize("rows", [10**9, "a", [0.5]])
def test_rows_that_are_none_are_refused(few, rows):
    with pytest.raises(IndexError, match="expected an array of numbers of comparisons"):
        few[rows]


def test_comparisons_are_not_gone_through_one_by_one(few):
    with pytest.raises(TypeError):
        iter(few)


@pytest.mark.parametrize("by_user", [False, True])
def test_comparisons_are_cross_validated(few, by_user):
    options = {"groups": few.user_of_each(), "cv": GroupKFold(3)} if by_user else {"cv": KFold(3)}
    scores = cross_val_score(plurank.SingleRanking(), few, **options)
    assert scores.shape == (3,)
    assert (scores < 0).all()


def test_estimators_work_where_scikit_learn_is_not_installed(few, frame, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.setitem(sys.modules, name, None)
    model = plurank.SingleRanking(prior=0.5)
    assert repr(model) == "SingleRanking(prior=0.5)"
    assert model._repr_html_() is None
    with pytest.raises(plurank.NotFittedError, match=r"this SingleRanking is not fitted yet\. Call fit first"):
        model.transform(few)
    assert model.fit(few).transform(frame).shape == (3, 1)
    assert plurank.held_out_quality(model, few).n_test > 0


def test_an_error_before_fit_is_one_of_plurank_and_one_of_scikit_learn(few):
    with pytest.raises(NotFittedError) as caught:
        plurank.SingleRanking().transform(few)
    assert isinstance(caught.value, plurank.NotFittedError)
    copied = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(copied, plurank.NotFittedError)
    assert str(copied) == str(caught.value)


def test_scikit_learn_knows_whether_a_model_is_fitted(model):
    check_is_fitted(model)
    with pytest.raises(NotFittedError):
        check_is_fitted(plurank.SingleRanking())


def test_tags_say_what_a_model_is(model):
    tags = get_tags(model)
    assert tags.transformer_tags is not None
    assert tags.requires_fit
    assert not (tags.target_tags.required)
    assert not (tags.input_tags.two_d_array)
    assert not (is_classifier(model))
    assert not (is_regressor(model))
    assert get_tags(plurank.RatingPredictor(model)).transformer_tags is None


def test_a_clone_has_parameters_of_its_own():
    rng = np.random.default_rng(0)
    model = plurank.MixedRanking(2, mixing="probability", random_state=rng).set_output(transform="polars")
    for copied in (sklearn.clone(model), clone(model)):
        assert copied.random_state is not rng
        assert copied.random_state.bit_generator.state == rng.bit_generator.state
        assert copied.set_output(transform="pandas")._sklearn_output_config == {"transform": "pandas"}
        assert model._sklearn_output_config == {"transform": "polars"}


def test_parameters_of_a_model_within_are_read_and_set(model):
    predictor = plurank.RatingPredictor(sklearn.clone(model))
    assert predictor.get_params()["model__n_rankings"] == 2
    assert "model__n_rankings" not in predictor.get_params(deep=False)
    other = plurank.SingleRanking()
    predictor.set_params(model__prior=3.0, model=other, rule="most-likely")
    assert (predictor.model, other.prior, predictor.rule) == (other, 3.0, "most-likely")
    for wrong in ({"model__no": 1}, {"rule__no": 1}, {"no__prior": 1}):
        with pytest.raises(plurank.ParameterError, match="Invalid parameter"):
            predictor.set_params(**wrong)


def test_models_are_shown_by_what_differs_from_the_defaults(model):
    assert repr(plurank.SingleRanking()) == "SingleRanking()"
    assert repr(plurank.RatingPredictor(plurank.SingleRanking(prior=2.0))) == (
        "RatingPredictor(model=SingleRanking(prior=2.0))"
    )
    drawn = model._repr_html_()
    assert "MixedRanking" in drawn
    assert "<span>Fitted</span>" in drawn
    assert "<span>Not fitted</span>" in plurank.SingleRanking()._repr_html_()


def test_models_are_parts_of_pipelines(few, frame):
    chain = make_pipeline(plurank.SingleRanking(), FunctionTransformer()).set_output(transform="polars").fit(few)
    assert chain.transform(frame).columns == ["user", "ranking_1"]
    assert chain[:-1].get_feature_names_out().tolist() == ["ranking_1"]
    assert "SingleRanking" in chain._repr_html_()
    assert chain.get_params()["singleranking__prior"] == plurank.SingleRanking().prior


@pytest.mark.parametrize("routing", [False, True])
def test_parameters_are_searched(few, routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(plurank.SingleRanking(), {"prior": [0.1, 100.0]}, cv=KFold(3)).fit(few)
    scores = {
        prior: cross_val_score(plurank.SingleRanking(prior=prior), few, cv=KFold(3)).mean() for prior in (0.1, 100.0)
    }
    assert search.best_params_ == {"prior": max(scores, key=scores.get)}
    assert search.best_estimator_.rankings_.shape == (1, 6)

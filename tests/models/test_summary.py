"""What a model is: its summary, in notebooks and as facts for people."""

import numpy as np
import pytest

import plurank
from plurank.models.summary import describe_quality, summary_facts


@pytest.fixture(scope="module")
def comparisons():
    return plurank.simulate(60, 5, 2, 12, random_state=0).comparisons


@pytest.fixture(scope="module")
def model(comparisons):
    return plurank.MixedRanking(2, mixing="probability", random_state=0).fit(comparisons)


def test_a_notebook_shows_the_facts_of_a_fitted_model(model):
    drawn = model._repr_html_()
    for name, value in summary_facts(model.summary()):
        assert f"<th>{name}</th>" in drawn
        assert value.replace("'", "&#x27;") in drawn
    assert "<th>data</th>" not in plurank.MixedRanking(2, mixing="probability")._repr_html_()
    assert repr(model) == "MixedRanking(mixing='probability', n_rankings=2, random_state=0)"


def test_what_a_notebook_shows_cannot_be_markup(model, comparisons):
    model = plurank.MixedRanking(2, mixing="probability", random_state=0).fit(comparisons)
    model.data_ = {**model.data_, "excluded": [{"what": "user", "n": 1, "total": 9, "reason": "<script>"}]}
    assert "<script>" not in model._repr_html_().split("<table>")[-1]
    assert "1 of 9 users: &lt;script&gt;" in model._repr_html_()


def test_a_random_generator_is_no_setting(comparisons):
    fitted = plurank.SingleRanking().fit(comparisons)
    assert "random_state" not in fitted.summary()["settings"] or fitted.summary()["settings"]["random_state"] is None
    fitted = plurank.ClusteredRanking(2, random_state=np.random.default_rng(0)).fit(comparisons)
    assert fitted.summary()["settings"]["random_state"] is None


def test_a_model_of_an_unknown_origin_is_summarised_too():
    summary = plurank.blank_model(["tea", "milk"]).summary(items=True)
    assert (summary["n_users"], summary["n_items"], summary["n_comparisons"]) == (0, 2, None)
    assert dict(summary_facts(summary))["data"] == "0 users, 2 items"


def test_facts_tell_what_is_particular_to_a_method(comparisons):
    found = dict(
        summary_facts(
            plurank.MixedRanking(2, "strict", mixing="probability", random_state=0).fit(comparisons).summary()
        )
    )
    assert found["a ranking is"].endswith("(strict)")
    assert "contradict the user's rankings" in found["flip probability"]
    assert found["data"] == "60 users, 5 items, 720 comparisons"
    found = dict(summary_facts(plurank.TopicRanking(2, random_state=0).fit(comparisons).summary()))
    assert found["detection"].startswith("whitened. ")
    found = dict(summary_facts(plurank.SingleRanking().fit(comparisons).summary()))
    assert "concentration" not in found, "one ranking is not mixed"


def test_a_fit_that_did_not_converge_says_so(comparisons):
    with pytest.warns(plurank.ConvergenceWarning):
        model = plurank.MixedRanking(2, mixing="probability", max_iter=1, random_state=0).fit(comparisons)
    assert dict(summary_facts(model.summary()))["fit"] == "not converged after 1 iteration"


def test_quality_is_told_with_its_sample_size():
    quality = {"accuracy": 0.75, "single_accuracy": 0.5, "n_test": 1200}
    assert describe_quality(quality) == "75% of 1,200 comparisons predicted correctly; 50% with one ranking"


def test_a_selection_and_a_committee_have_summaries(comparisons, model):
    chosen = plurank.select_rankings(comparisons, [1, 2], random_state=0)
    summary = chosen.summary()
    assert (summary["n_rankings"], summary["mixing"], summary["answer"]) == (
        chosen.n_rankings, chosen.mixing, chosen.answer,
    )  # fmt: skip
    assert any(row["chosen"] for row in summary["candidates"])
    assert all(value is None or value == value for row in summary["candidates"] for value in row.values())
    committee = model.committee(2)
    assert committee.summary()["items"] == committee.items
    assert committee.summary()["left_out"] == committee.left_out.to_dicts()

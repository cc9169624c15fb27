"""A model that knows nothing yet."""

import pytest

import plurank
from plurank import DataError

IDEAS = ["more trees", "more benches", "more light", "a fountain"]


def test_a_blank_model_says_that_every_item_may_have_any_place():
    model = plurank.blank_model(IDEAS)
    for board in (model.leaderboard(), model.rank(), model.fold_in([(IDEAS[0], IDEAS[1])]).rank()):
        assert board["item"].sort().to_list() == sorted(IDEAS)
        assert set(board.select("lower", "upper").rows()) == {(1, len(IDEAS))}
    assert set(model.common_ground()["label"]) == {"not enough votes"}
    assert model.camps()["people"].to_list() == [0]
    assert set(model.next_pair()) < set(IDEAS)


def test_a_blank_model_is_saved_and_loaded(tmp_path):
    plurank.blank_model([1, 2, 3], ["one", "two", "three"]).save(tmp_path / "blank.plurank")
    loaded = plurank.load(tmp_path / "blank.plurank")
    assert loaded.items_.tolist() == [1, 2, 3]
    assert loaded.item_texts_ == ["one", "two", "three"]


def test_a_blank_model_learns_one_ranking_by_updates():
    model = plurank.blank_model(IDEAS)
    pairs = [(one, other) for n, one in enumerate(IDEAS) for other in IDEAS[n + 1 :]]
    rows = [(user, *pair) for user in range(30) for pair in pairs]
    model.update(plurank.Comparisons.from_arrays(*zip(*rows, strict=True)))
    assert model.leaderboard()["item"].to_list() == IDEAS
    assert model.leaderboard()["upper"].to_list() == [1, 2, 3, 4]
    assert model.item_votes_.tolist() == [90] * 4


@pytest.mark.parametrize(
    ("items", "texts", "sentence"),
    [
        (["a"], None, "at least two items"),
        (["a", "b", "a"], None, "item 3 is 'a', which came before"),
        (["a", None], None, "text or integers"),
        (["a", ""], None, "text or integers"),
        (["a", "b"], ["one"], "a text for each of 2 items, got 1"),
    ],
)
def test_items_that_make_no_model_are_rejected(items, texts, sentence):
    with pytest.raises(DataError, match=sentence):
        plurank.blank_model(items, texts)

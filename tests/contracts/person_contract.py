"""What every model promises about people it was not fitted to, one at a time."""

import itertools

import numpy as np
import pytest

from plurank import Comparisons, DataError, ParameterError


class PersonContract:
    """Mixed into the contract of models, which gives ``model`` and ``population``."""

    @pytest.fixture(scope="class")
    @classmethod
    def answers(cls, population):
        """What the first person of the population said, as pairs."""
        c = population
        own = slice(c.offsets[0], c.offsets[1])
        return list(zip(c.items[c.winners[own]], c.items[c.losers[own]], strict=True))

    def test_somebody_nobody_asked_has_the_mean_weights(self, model):
        for nothing in (None, [], ()):
            person = model.fold_in(nothing)
            assert person.n_answers == 0
            np.testing.assert_allclose(person.weights, model.mean_weights_, atol=0.05)

    def test_a_person_folded_in_is_near_what_transform_says(self, model, answers):
        person = model.fold_in(answers)
        told = Comparisons.from_arrays([0] * len(answers), *zip(*answers, strict=True))
        assert person.n_answers == len(answers)
        np.testing.assert_allclose(person.weights, model.transform(told)[0], atol=0.2)
        np.testing.assert_array_equal(model.fold_in(told).weights.argmax(), person.weights.argmax())

    def test_weights_of_a_person_lie_on_the_simplex_within_their_bounds(self, model, answers):
        frame = model.fold_in(answers).weight_intervals(0.8)
        lower, weight, upper = (frame[name].to_numpy() for name in ("lower", "weight", "upper"))
        assert frame["ranking"].to_list() == list(range(1, len(model.mean_weights_) + 1))
        assert weight.sum() == pytest.approx(1.0)
        assert ((lower >= 0) & (lower <= weight) & (weight <= upper) & (upper <= 1 + 1e-12)).all()

    def test_a_persons_order_has_every_item_once_within_its_bounds(self, model, answers):
        frame = model.fold_in(answers).rank()
        assert frame.columns == ["item", "score", "rank", "lower", "upper"]
        assert sorted(frame["item"].to_list()) == sorted(model.items_.tolist())
        assert frame["score"].is_sorted(descending=True)
        assert (frame["lower"] <= frame["rank"]).all()
        assert (frame["rank"] <= frame["upper"]).all()

    def test_a_persons_predictions_sum_to_one_both_ways(self, model, answers):
        person = model.fold_in(answers)
        left, right = zip(*itertools.combinations(model.items_.tolist(), 2), strict=True)
        one, other = person.predict(left, right), person.predict(right, left)
        np.testing.assert_allclose(one + other, 1.0, atol=1e-9)

    def test_questions_are_not_asked_twice_nor_when_skipped(self, model):
        items = model.items_.tolist()
        every = {frozenset(pair) for pair in itertools.combinations(items, 2)}
        answers, skipped = [], []
        while True:
            found = model.fold_in(answers).next_pairs(2, skip=skipped)
            if not len(found):
                break
            pairs = [frozenset(row) for row in found.select("left", "right").rows()]
            assert len(set(pairs)) == len(pairs)
            assert not {frozenset(pair) for pair in (*answers, *skipped)} & set(pairs)
            answers.append(found.select("left", "right").row(0))
            if len(found) > 1:
                skipped.append(found.select("right", "left").row(1))
        assert {frozenset(pair) for pair in (*answers, *skipped)} == every
        with pytest.raises(DataError, match="every pair of items was asked"):
            model.next_pair([*answers, *skipped])

    def test_the_same_answers_lead_to_the_same_question(self, model, answers):
        found = [model.fold_in(answers[:3]).next_pairs(5) for _ in range(2)]
        assert found[0].equals(found[1])
        assert model.next_pair(answers[:3]) == found[0].select("left", "right").row(0)
        assert found[0]["gain"].is_sorted(descending=True)
        assert (found[0]["gain"] >= 0).all()

    @pytest.mark.parametrize(
        ("answers", "sentence"),
        [
            ([("item 0", "no such item")], "does not know 1 of the items"),
            ([("item 1", "item 0"), ("item 0", "item 0")], "row 2: an item is compared with itself"),
            (["item 0"], "expected pairs of two items, got 'item 0'"),
            ([("item 0", "item 1", "item 2")], "expected pairs of two items"),
            ([("item 0", None)], "row 1"),
        ],
    )
    def test_answers_that_make_no_sense_are_refused_with_a_sentence(self, model, answers, sentence):
        with pytest.raises(DataError, match=sentence):
            model.fold_in(answers)

    def test_many_people_are_not_one(self, model, population):
        with pytest.raises(DataError, match=r"expected the answers of one person, got 120 users\. Use transform"):
            model.fold_in(population)

    @pytest.mark.parametrize("n", [0, -1, 1.5])
    def test_the_number_of_questions_is_whole_and_positive(self, model, n):
        with pytest.raises(ParameterError, match="n must be"):
            model.fold_in().next_pairs(n)

"""What every model does with difficult data: it works, or says why not."""

import numpy as np
import polars as pl
import pytest

from plurank import Comparisons, NotIdentifiableError
from tests.contracts.equality import assert_same_model
from tests.oracles.small_data import draw_comparisons, weighted


class DifficultData:
    """The promises; a subclass gives ``make`` and the fixture ``population``."""

    def test_one_user_has_one_ranking(self):
        c = Comparisons.from_arrays(["me"] * 6, list("aabaab"), list("bccbcc"))
        model = self.make(1, random_state=0).fit(c)
        assert model.items_[model.rankings_].tolist() == [["a", "b", "c"]]
        assert model.user_weights_.tolist() == [[pytest.approx(1.0)]]
        assert -0.2 < model.score(c) < 0

    def test_one_pair_of_items_has_one_ranking(self):
        c = Comparisons.from_arrays([1, 1, 2, 2], list("baaa"), list("abbb"))
        model = self.make(1, random_state=0).fit(c)
        assert model.items_[model.rankings_].tolist() == [["a", "b"]]
        assert model.rank()["item"].to_list() == ["a", "b"]

    def test_more_rankings_than_the_data_can_carry_are_refused_with_the_numbers(self):
        c = Comparisons.from_arrays([1, 1, 2, 2], list("baaa"), list("abbb"))
        with pytest.raises(NotIdentifiableError, match=r"^3 rankings were asked for, but .*\b[12]\b.*\. Try fewer"):
            self.make(3, random_state=0).fit(c)

    def test_an_item_nobody_beats_comes_first(self):
        rng = np.random.default_rng(0)
        c = draw_comparisons(rng, n_users=60, n_items=5)
        winners, losers = (np.where(c.losers == 3, b, a) for a, b in ((c.winners, c.losers), (c.losers, c.winners)))
        c = Comparisons(winners, losers, c.offsets, c.items, c.users)
        model = self.make(1, random_state=0).fit(c)
        assert model.rankings_[0, 0] == 3
        assert np.isfinite(model.score(c))

    def test_groups_of_items_never_compared_with_each_other_are_each_in_order(self):
        users = np.repeat(np.arange(20), 6)
        c = Comparisons.from_arrays(users, list("aabxxy") * 20, list("bccyzz") * 20)
        model = self.make(1, random_state=0).fit(c)
        order = model.rank()["item"].to_list()
        assert [item for item in order if item in "abc"] == list("abc")
        assert [item for item in order if item in "xyz"] == list("xyz")

    def test_items_nobody_compared_are_ranked_too(self):
        c = Comparisons.from_arrays([1, 1, 1], list("aab"), list("bcc"), items=list("abcxyz"))
        assert sorted(self.make(1, random_state=0).fit(c).rank()["item"]) == list("abcxyz")

    def test_users_of_one_comparison_get_weights_like_everybody(self, population):
        single = Comparisons.from_arrays(["lonely"], ["item 0"], ["item 1"], items=population.items)
        c = Comparisons.from_frame(pl.concat([population.to_frame(), single.to_frame()]))
        model = self.make(2, random_state=0).fit(c)
        assert "lonely" in model.users_
        np.testing.assert_allclose(model.user_weights_.sum(axis=1), 1.0)

    def test_weighted_comparisons_can_be_fitted(self, population):
        weights = np.tile([0.5, 1.0, 2.0], len(population) // 3)
        model = self.make(2, random_state=0).fit(weighted(population, weights))
        assert np.isfinite(model.score(population))

    @pytest.mark.parametrize("convert", [lambda f: f, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
    def test_a_frame_will_do_for_comparisons(self, convert, population):
        frame = population.block(0, 40).to_frame()
        model = self.make(2, random_state=0).fit(convert(frame))
        assert_same_model(model, self.make(2, random_state=0).fit(Comparisons.from_frame(frame)))

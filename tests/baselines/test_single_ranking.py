"""SingleRanking keeps the contract, and finds what a general optimiser and dense linear algebra find."""

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import plurank
from plurank import Comparisons, ParameterError
from plurank.baselines.single_ranking import SingleRanking, count_wins
from plurank.baselines.strengths import minorise_maximise
from tests.contracts.model_contract import ModelContract
from tests.oracles.small_data import draw_comparisons, relabelled, repeated, reversed_all, weighted

METHODS = ["mm", "spectral"]


class SingleContract(ModelContract):
    """There is one ranking whatever is asked for, and nothing random: ``make`` leaves both parameters out."""

    method = "mm"
    bad_parameters = (
        *({"method": bad} for bad in ("", "newton", None, 1)),
        *({"prior": bad} for bad in (0, -1, np.nan, "much")),
        *({"max_iter": bad} for bad in (0, 2.5, None)),
    )

    @classmethod
    def make(cls, n_rankings=1, random_state=None, **parameters):
        return SingleRanking(**({"method": cls.method} | parameters))

    def test_init_stores_its_arguments_and_does_nothing_else(self):
        # n_rankings is no parameter here, so that another one has to be wrong
        with pytest.raises(ParameterError):
            self.make(max_iter=-1).fit(Comparisons.from_arrays([0, 0], ["a", "b"], ["b", "a"]))
        assert self.make(max_iter=-1).max_iter == -1

    def test_parameters_can_be_read_and_set(self):
        # neither n_rankings nor random_state is one of them
        model = self.make()
        assert model.set_params(prior=0.5) is model
        assert model.get_params() == {"method": self.method, "prior": 0.5, "max_iter": 10_000}
        with pytest.raises(ValueError, match="Invalid parameter"):
            model.set_params(n_rankings=2)

    def test_attributes_have_their_shapes(self, model, population):
        # one ranking, though the population has two
        assert model.rankings_.shape == (1, 6)
        assert model.scores_.shape == (6, 1)
        assert model.user_weights_.tolist() == [[1.0]] * 120
        assert model.mean_weights_.tolist() == [1.0]
        assert model.concentration_ > 0
        assert model.items_.tolist() == population.items.tolist()
        assert model.users_.tolist() == population.users.tolist()
        assert isinstance(model.converged_, bool)
        assert isinstance(model.n_iter_, int)

    def test_rankings_are_permutations(self, model):
        assert np.sort(model.rankings_, axis=1).tolist() == [list(range(6))]

    def test_unknown_items_that_nobody_compared_do_no_harm(self, model):
        c = Comparisons.from_arrays(["x"], ["item 0"], ["item 1"], items=["item 0", "item 1", "item 77"])
        assert model.transform(c).tolist() == [[1.0]]
        assert np.isfinite(model.score(c))

    def test_weights_may_take_the_place_of_a_user(self, model):
        # all weights are [1.0]
        assert model.rank(weights=[1.0]).equals(model.rank(model.users_[3]))
        for bad in ([0.7], [0.5, 0.5], [np.nan]):
            with pytest.raises(ParameterError, match=r"weights must be (1|finite) numbers"):
                model.rank(weights=bad)

    def test_what_new_users_said_tells_on_what_they_say_next(self, model, population):
        # it does not where all follow one ranking
        assert model.score(population, method="left-to-right") == pytest.approx(model.score(population))

    def test_known_users_count_as_new_ones_and_a_seed_gives_the_same_score_twice(self, model, population):
        # any seed gives the same, because there is nothing to draw
        scores = [model.score(population, method="left-to-right", random_state=seed) for seed in (1, 2)]
        assert scores[0] == scores[1]

    def test_more_rankings_than_the_data_can_carry_are_refused_with_the_numbers(self):
        # one ranking can be fitted to anything
        c = Comparisons.from_arrays([1], ["a"], ["b"])
        assert self.make().fit(c).rank()["item"].to_list() == ["a", "b"]


class TestMM(SingleContract):
    method = "mm"


class TestSpectral(SingleContract):
    method = "spectral"


@pytest.mark.parametrize("seed", range(3))
def test_mm_finds_the_maximum_that_a_general_optimiser_finds(seed):
    c = draw_comparisons(np.random.default_rng(seed), n_users=30, n_items=7, weighted=True)
    table = count_wins(c, 0.1)
    best = minimize(lambda scores: -table.log_posterior(scores), np.zeros(7), tol=1e-12)
    model = SingleRanking("mm").fit(c)
    assert table.log_posterior(model.scores_[:, 0]) >= -best.fun - 1e-9
    np.testing.assert_allclose(model.scores_[:, 0], best.x, atol=1e-4)


def test_hunters_step_raises_the_posterior_until_it_stands_still(rng):
    # a strong prior, because with a weak one all scores together settle very slowly, which is why Newton helps
    table = count_wins(draw_comparisons(rng, n_users=30, n_items=7), 2.0)
    scores, values = np.zeros(7), []
    for _ in range(1000):
        scores = minorise_maximise(table, scores)
        values.append(table.log_posterior(scores))
    assert (np.diff(values) >= -1e-10).all()
    assert values[-1] > values[0]
    np.testing.assert_allclose(minorise_maximise(table, scores), scores, atol=1e-8)


def test_the_walk_rests_where_its_generator_says(rng):
    c = draw_comparisons(rng, n_users=40, n_items=6)
    wins = np.zeros((6, 6))
    np.add.at(wins, (c.winners, c.losers), 1.0)
    played = wins + wins.T
    rates = np.where(played > 0, (wins.T + 0.1) / (played + 0.2), 0.0)  # from i to j as often as j beats i
    generator = rates - np.diag(rates.sum(axis=1))
    time = np.linalg.svd(generator.T)[2][-1]
    expected = np.log(np.abs(time)) - np.log(np.abs(time)).mean()
    np.testing.assert_allclose(SingleRanking("spectral").fit(c).scores_[:, 0], expected, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_bradley_terry_choices_give_back_their_scores(method):
    # 200,000 comparisons of 10 items tell each of them 40,000 times: a score strays by about 2 / sqrt(40,000) = 0.01
    # where choices are even, and by a few times that where they are lopsided
    rng = np.random.default_rng(0)
    truth = np.linspace(1.5, -1.5, 10)
    left = rng.integers(0, 10, 200_000)
    right = (left + rng.integers(1, 10, left.size)) % 10
    won = rng.random(left.size) < 1.0 / (1.0 + np.exp(truth[right] - truth[left]))
    c = Comparisons.from_arrays(np.zeros(left.size), np.where(won, left, right), np.where(won, right, left))
    model = SingleRanking(method).fit(c)
    found = model.scores_[np.argsort(model.items_), 0]
    np.testing.assert_allclose(found - found.mean(), truth, atol=0.06)


@pytest.mark.parametrize("method", METHODS)
def test_laws_hold(method, rng):
    c = draw_comparisons(rng, n_users=40, n_items=6)
    scores = SingleRanking(method).fit(c).scores_
    order = rng.permutation(6)
    np.testing.assert_allclose(SingleRanking(method).fit(relabelled(c, order)).scores_[order], scores, atol=1e-6)
    times = rng.integers(1, 4, len(c))
    twice = [SingleRanking(method).fit(other).scores_ for other in (weighted(c, times), repeated(c, times))]
    np.testing.assert_allclose(*twice, atol=1e-9)
    if method == "mm":  # time at an item is not one over the time at it when all is reversed
        np.testing.assert_allclose(SingleRanking(method).fit(reversed_all(c)).scores_, -scores, atol=1e-5)


def test_groups_never_compared_with_each_other_are_found_as_if_alone(rng):
    one, other = draw_comparisons(rng, n_items=5), draw_comparisons(rng, n_items=4)
    shifted = other.to_frame().with_columns(pl.col("winner") + 5, pl.col("loser") + 5)
    both = SingleRanking("spectral").fit(Comparisons.from_frame(pl.concat([one.to_frame(), shifted])))
    alone = [SingleRanking("spectral").fit(c).scores_[:, 0] for c in (one, other)]
    found = both.scores_[np.argsort(both.items_), 0]
    np.testing.assert_allclose(found, np.concatenate(alone), atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_stopping_early_is_a_warning(method, easy):
    with pytest.warns(plurank.ConvergenceWarning, match=r"after 1 iteration; .* Try a larger max_iter\."):
        model = SingleRanking(method, max_iter=1).fit(easy.comparisons)
    assert not model.converged_


def test_a_file_whose_ranking_contradicts_its_scores_is_refused(easy, tmp_path):
    model = SingleRanking().fit(easy.comparisons)
    model.rankings_ = model.rankings_[:, ::-1]
    model.save(tmp_path / "model.plurank")
    with pytest.raises(plurank.DataError, match="not in the order of scores_"):
        plurank.load(tmp_path / "model.plurank")

"""How many rankings, and which way to mix them."""

from types import SimpleNamespace

import numpy as np
import pytest

from plurank import (
    Comparisons,
    DataError,
    MixedRanking,
    ParameterError,
    select_rankings,
    simulate,
)
from plurank.mixed import candidates
from plurank.mixed.candidates import Candidates, Predictions, mean_and_error
from plurank.mixed.fit import fit_to_predict
from plurank.mixed.members import predict
from plurank.mixed.priors import Priors
from plurank.mixed.users import Users
from tests.oracles.simulated_scores import simulate_scores

# choosing the priors takes many passes for every candidate; these are near those of the simulations
NEAR = {"concentration": 0.5, "score_scale": 1.5}
COLUMNS = ["mixing", "n_rankings", "by_comparison", "by_comparison_se", "by_user", "by_user_se"]
COLUMNS += ["held_out", "held_out_se", "behind", "behind_se", "personal", "personal_se"]


@pytest.fixture(scope="module")
def three():
    return simulate_scores(300, 10, 3, 60, "probability", 0, score_scale=2.0, shared=0.0, concentration=0.5).comparisons


@pytest.fixture(scope="module")
def selection(three):
    return select_rankings(three, range(1, 6), "probability", random_state=0, **NEAR)


def test_three_rankings_are_found_to_be_three(selection):
    assert selection.n_rankings == 3
    assert selection.mixing == "probability"


def test_the_table_has_a_row_for_every_candidate(selection):
    table = selection.table
    assert table.columns == COLUMNS
    assert table["n_rankings"].to_list() == [1, 2, 3, 4, 5]
    assert table["mixing"].unique().to_list() == ["probability"]
    logs = table.select("by_comparison", "by_user", "held_out").to_numpy()
    assert (logs < 0).all()
    # what both kinds of users say lies between what each says
    assert (logs[:, :2].min(axis=1) <= logs[:, 2]).all()
    assert (logs[:, 2] <= logs[:, :2].max(axis=1)).all()
    assert (table.select("by_comparison_se", "by_user_se", "held_out_se").to_numpy() > 0).all()


def test_the_table_says_how_far_behind_the_best_each_is(selection):
    table = selection.table
    best = table["held_out"].max()
    np.testing.assert_allclose(table["behind"], best - table["held_out"], atol=1e-12)
    at = int(table["held_out"].arg_max())
    assert table["behind_se"][at] == 0
    # the same users are compared with themselves, so a difference is surer than its two ends
    assert (table["behind_se"] <= 2 * table["held_out_se"]).all()


def tables_of(figures):
    """Candidates whose users predict by chance around these log-likelihoods, all with one mixing and 400 users."""
    made = Candidates.__new__(Candidates)
    made.sample = SimpleNamespace(users=np.arange(400))
    made.found = {}
    for (number, mean), noise in zip(figures.items(), np.random.default_rng(0).standard_normal((9, 400)), strict=False):
        own = np.zeros((400, 2, 2))
        own[:, 0, 0], own[:, 0, 1] = mean + 0.02 * (noise - noise.mean()) * (number > 1), 1.0
        made.found["utility", number] = Predictions(own, np.full(400, figures[1] - 0.01 * (number > 1)))
    return made


@pytest.mark.parametrize(
    ("figures", "chosen"),
    [  # differences have standard errors of 0.0014
        ({1: -0.60, 2: -0.50, 3: -0.4999, 4: -0.4999}, 2),  # two are as good, surely: 2 % of the gain is 0.002
        ({1: -0.60, 2: -0.52, 3: -0.50, 4: -0.499, 10: -0.50}, 3),  # three lose at most 0.002, surely
        ({1: -0.52, 2: -0.503, 4: -0.5, 10: -0.5002}, 10),  # four may be worse than ten, which are not clearly worse
        ({1: -0.60, 2: -0.52, 4: -0.50, 10: -0.51}, 4),  # ten are clearly worse
        ({1: -0.5, 2: -0.5004}, 1),
    ],
)
def test_the_fewest_rankings_that_are_surely_at_most_slightly_worse_are_chosen(figures, chosen):
    assert tables_of(figures).choose().n_rankings == chosen


def test_several_rankings_that_gain_nothing_from_knowing_the_user_are_one():
    made = tables_of({1: -0.6, 2: -0.5})
    made.found["utility", 2] = made.found["utility", 2]._replace(by_mean=np.full(400, -0.5))
    assert made.choose().n_rankings == 1


def test_standard_errors_are_those_of_means_over_users(rng):
    logs = rng.standard_normal(30)
    mean, error = mean_and_error(np.column_stack([4.0 * logs, np.full(30, 4.0)]))
    assert mean == pytest.approx(logs.mean())
    assert error == pytest.approx(logs.std(ddof=1) / np.sqrt(30))
    # with unequal users, those of drawing users again
    sums = np.column_stack([rng.standard_normal(200), rng.integers(1, 9, 200)])
    drawn = sums[rng.integers(200, size=(4000, 200))].sum(axis=1)
    assert mean_and_error(sums)[1] == pytest.approx((drawn[:, 0] / drawn[:, 1]).std(), rel=0.1)


def test_the_answer_is_a_sentence_with_the_figures(selection):
    figure = selection.table.filter(selection.table["n_rankings"] == 3)["held_out"][0]
    assert selection.answer.startswith("3 rankings, mixed by probability: held-out log-likelihood ")
    assert f"{figure:.4f}" in selection.answer
    assert f"{selection.table['held_out'][0]:.4f} with one ranking" in selection.answer
    assert selection.answer.endswith("More rankings do not predict better, or only slightly.")


def test_the_last_candidate_comes_with_the_advice_to_try_more(three):
    answer = select_rankings(three, [1, 2], "probability", random_state=0, **NEAR).answer
    assert answer.endswith("More rankings may predict better still: try larger numbers.")


def test_a_seed_gives_the_same_answer_twice(three):
    first, second = (select_rankings(three, [1, 2], random_state=3, **NEAR) for _ in range(2))
    assert first.table.equals(second.table)
    assert (first.n_rankings, first.mixing, first.answer) == (second.n_rankings, second.mixing, second.answer)


def test_a_seed_gives_the_same_answer_twice_when_priors_are_chosen_too():
    c = simulate_scores(40, 5, 2, 15, "probability", 0).comparisons
    first, second = (select_rankings(c, [1, 2], "probability", random_state=3) for _ in range(2))
    assert first.table.equals(second.table)


def test_priors_are_chosen_once_for_one_ranking_and_once_for_several_of_each_mixing(monkeypatch):
    asked = []

    def choose(settings, users):
        asked.append((settings.n_rankings, settings.mixing, len(users.source)))
        return Priors.vague(settings.n_rankings)

    monkeypatch.setattr(candidates, "choose_priors_of", choose)
    c = simulate_scores(40, 5, 2, 15, "probability", 0).comparisons
    select_rankings(c, [1, 2, 3, 4], random_state=0)
    assert [each[:2] for each in asked] == [(1, "probability"), (3, "probability"), (3, "utility")]
    assert all(n == len(c) for *_, n in asked), "as a fit would choose them: fewer comparisons ask for narrower scores"


def test_a_fit_to_predict_predicts_as_a_fit_with_the_same_priors_does():
    c = simulate_scores(60, 6, 2, 20, "utility", 0).comparisons
    full = MixedRanking(2, mixing="utility", random_state=0, **NEAR)
    lean = fit_to_predict(full.settings, Users(c), Priors.vague(2, *NEAR.values()))
    full.fit(c)
    order = np.argsort(-lean.mean_weights)
    np.testing.assert_array_equal(lean.scores[:, order], full.scores_)
    members = lean.members()
    chances = predict(members, [member.users for member in members], c.user_of_each(), c.winners, c.losers)
    np.testing.assert_allclose(chances, full.predict_held_out(c)[0], rtol=1e-12)
    assert lean.score_errors is None


def test_people_who_agree_have_one_ranking_as_a_rule():
    # One Bradley-Terry ranking, followed with its own noise by everybody. One standard error of a difference is
    # exceeded by chance in one of six cases, and in more where the best of several candidates sets the mark, so a
    # single answer may be too large; measured for these seeds: 3, 1, 1, 3, 1.
    people = [simulate_scores(200, 8, 1, 40, "probability", seed).comparisons for seed in range(5)]
    found = [select_rankings(c, range(1, 4), "probability", random_state=0, **NEAR).n_rankings for c in people]
    assert np.median(found) == 1


def test_strict_rankings_are_mixed_by_probability():
    c = simulate(300, 10, 3, 60, random_state=1, mean_weights=[0.4, 0.35, 0.25]).comparisons
    selection = select_rankings(c, [1, 2, 3], random_state=0, concentration=0.1, score_scale=1.0)
    assert (selection.n_rankings, selection.mixing) == (3, "probability")
    # one ranking is the same in both ways and stands in the table once
    rows = selection.table.select("mixing", "n_rankings").rows()
    assert rows == [("probability", 1), ("probability", 2), ("probability", 3), ("utility", 2), ("utility", 3)]
    best = selection.table.filter(selection.table["mixing"] == "utility")["held_out"].max()
    assert f"{best:.4f} at best when mixed by utility" in selection.answer


def test_candidates_may_come_in_any_order_and_more_than_once():
    c = simulate_scores(40, 5, 2, 15, "probability", 0).comparisons
    table = select_rankings(c, (3, 1, 3), "utility", random_state=0, **NEAR).table
    assert table.select("mixing", "n_rankings").rows() == [("utility", 1), ("utility", 3)]


def test_few_users_are_judged_by_their_own_comparisons_alone():
    c = simulate_scores(4, 5, 2, 40, "probability", 0).comparisons
    table = select_rankings(c, [1, 2], "probability", random_state=0, **NEAR).table
    assert table["by_user"].is_nan().all()
    np.testing.assert_allclose(table["held_out"], table["by_comparison"])


def test_weights_of_comparisons_count():
    c = simulate_scores(40, 5, 2, 15, "probability", 0).comparisons
    double = Comparisons(c.winners, c.losers, c.offsets, c.items, c.users, np.full(len(c), 2.0))
    table = select_rankings(double, [1, 2], "probability", random_state=0, **NEAR).table
    assert table["held_out"].is_finite().all()


def test_progress_is_told_for_every_candidate():
    told = []
    c = simulate_scores(40, 5, 2, 15, "probability", 0).comparisons
    select_rankings(c, [1, 2], random_state=0, on_progress=lambda *told_now: told.append(told_now), **NEAR)
    assert len(told) >= 3
    assert all(isinstance(stage, str) and 0 <= done <= 1 for stage, done in told)


def test_a_frame_will_do_for_comparisons():
    c = simulate_scores(40, 5, 2, 15, "probability", 0).comparisons
    one, other = (select_rankings(X, [1], random_state=0, **NEAR) for X in (c, c.to_frame()))
    assert one.table["held_out"].to_list() == pytest.approx(other.table["held_out"].to_list(), abs=0.05)


@pytest.mark.parametrize("candidates", [[], (), range(3, 3)], ids=str)
def test_no_candidates_are_refused(candidates, three):
    with pytest.raises(ParameterError, match=r"candidates must be at least one number of rankings, got none\."):
        select_rankings(three, candidates)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_candidates_that_are_no_whole_numbers_are_refused(bad, three):
    with pytest.raises(ParameterError, match=rf"candidates must be an integer >= 1, got {bad}\."):
        select_rankings(three, [bad, 2])


@pytest.mark.parametrize("bad", [["2", 3], 3, None, [None]], ids=str)
def test_candidates_that_are_no_numbers_are_refused_with_a_sentence(bad, three):
    with pytest.raises(ParameterError, match=r"candidates must be .*got .*\.$"):
        select_rankings(three, bad)


@pytest.mark.parametrize(("bad", "said"), [("both", "got 'both'"), (["utility", "sum"], "got 'sum'"), ([], "got none")])
def test_unknown_ways_to_mix_are_refused(bad, said, three):
    with pytest.raises(ParameterError, match=rf"mixing must be .*{said}\."):
        select_rankings(three, [1], bad)


def test_parameters_go_to_the_model_and_are_refused_by_it(three):
    with pytest.raises(ParameterError, match="score_scale must be a positive number"):
        select_rankings(three, [1], score_scale=-1.0)
    with pytest.raises(TypeError, match="speed"):
        select_rankings(three, [1], speed=11)


@pytest.mark.parametrize(
    "c",
    [
        Comparisons.from_arrays(["u"], ["a"], ["b"]),
        Comparisons.from_arrays(range(10), ["a"] * 10, ["b"] * 10),
        Comparisons.from_arrays([1, 1, 2, 2], list("abab"), list("baba")),
    ],
    ids=["one comparison", "one comparison each", "one pair"],
)
def test_too_little_data_are_refused_with_the_numbers(c):
    said = (
        rf"^{len(c)} comparisons? of {c.n_users} users? (is|are) too few to hold some out\. Expected users with several"
    )
    with pytest.raises(DataError, match=said):
        select_rankings(c, [1, 2], random_state=0, **NEAR)

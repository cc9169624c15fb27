"""Refinement raises the posterior and ends at its maximum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from plurank import Comparisons, simulate
from plurank.mixed import refine as refine_by_likelihood
from plurank.mixed.bradley_terry import BradleyTerry, ScoreSums
from plurank.mixed.components import Mallows
from plurank.mixed.priors import ScorePrior
from plurank.mixed.refine import (
    QuasiNewton,
    preconditioner,
    promises_little,
    refine_orders,
    refine_scores,
)
from plurank.mixed.users import Users
from plurank.topic.orders import Strict
from tests.oracles.log_posterior import log_posterior
from tests.oracles.small_data import draw_comparisons

ROUNDING = 1e-9  # relative
both_mixings = pytest.mark.parametrize("mixing", ["probability", "utility"])


@st.composite
def cases(draw):
    """Comparisons, start weights, a prior of the weights and a generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rankings = draw(st.integers(1, 3))
    c = draw_comparisons(
        rng, n_users=draw(st.integers(2, 15)), n_items=draw(st.integers(2, 6)), weighted=draw(st.booleans())
    )
    theta = rng.dirichlet(np.full(n_rankings, 3.0), c.n_users)
    prior = rng.uniform(0.2, 3.0, (draw(st.sampled_from([1, c.n_users])), n_rankings))
    return c, theta, prior, rng


def never_falls(history):
    return (np.diff(history) >= -ROUNDING * np.abs(history[:-1])).all()


@both_mixings
@settings(max_examples=25)
@given(case=cases(), score_scale=st.sampled_from([0.3, 3.0, 20.0]), known=st.booleans(), max_iter=st.integers(1, 20))
def test_refining_scores_never_lowers_the_posterior_and_tells_it_rightly(mixing, case, score_scale, known, max_iter):
    c, theta, prior, rng = case
    shape = (c.n_items, theta.shape[1])
    told = (rng.standard_normal(shape), rng.uniform(0.0, 3.0, shape)) if known else None
    score_prior = ScorePrior(score_scale, max(score_scale, 1.0), told)
    init = BradleyTerry(score_scale * rng.standard_normal(shape), mixing)
    users = Users(c, theta)
    end = refine_scores(users, init, prior, score_prior, max_iter=max_iter, tol=1e-7)
    assert never_falls(end.history)
    assert 1 <= len(end.history) <= max_iter
    np.testing.assert_allclose(users.weights.sum(axis=1), 1.0, atol=1e-9)
    assert (users.weights > 0).all()
    scores = end.component.scores
    value = end.component.update_memberships(c, users.weights, prior, 0).sums.log_posterior
    assert end.history[-1] == pytest.approx(value + score_prior.evaluate(scores)[0], rel=1e-8)


@both_mixings
def test_scores_too_far_apart_for_strengths_are_numbers_still(mixing):
    n_items = 300  # each beats the next: e^score of the first would be more than a double holds
    items = np.repeat(np.arange(n_items - 1), 100)
    c = Comparisons.from_arrays(np.tile(np.arange(20), len(items) // 20), items, items + 1)
    init = BradleyTerry(np.linspace(750.0, -750.0, n_items)[:, None], mixing)
    users = Users(c, np.ones((20, 1)))
    end = refine_scores(users, init, np.ones((1, 1)), ScorePrior(33.0, 33.0), max_iter=10, tol=1e-7)
    assert np.isfinite(end.component.scores).all()
    assert np.isfinite(end.history).all()
    assert end.history[-1] > end.history[0]
    assert (end.component.rankings == np.arange(n_items)).all()


def test_a_step_to_where_the_posterior_is_no_number_is_not_taken(rng):
    class Cliff(Users):
        def update_memberships(self, component, prior, n_rounds, *, informed=False):
            found = super().update_memberships(component, prior, n_rounds, informed=informed)
            return found._replace(log_posterior=np.nan) if np.abs(component.scores).max() > 0.5 else found

    users = Cliff(draw_comparisons(rng, n_users=10, n_items=4), np.ones((10, 1)))
    end = refine_scores(
        users, BradleyTerry(np.zeros((4, 1))), np.ones((1, 1)), ScorePrior(3.0, 3.0), max_iter=50, tol=1e-7
    )
    assert np.isfinite(end.history).all()
    assert 0.0 < np.abs(end.component.scores).max() <= 0.5


@pytest.mark.parametrize(("tol", "n_passes"), [(1e-9, 8), (10.0, 3)])
def test_steps_that_fail_are_passes_too_and_end_a_climb_where_they_promise_little(tol, n_passes, rng, monkeypatch):
    monkeypatch.setattr(refine_by_likelihood, "ARMIJO", 10.0)  # ten times what the slope promises: no step gains that
    monkeypatch.setattr(refine_by_likelihood, "MIN_GAIN_PER_SCORE", 0.0)
    c = draw_comparisons(rng, n_users=20, n_items=5)
    users = Users(c, np.full((20, 2), 0.5))
    init = BradleyTerry(rng.standard_normal((5, 2)))
    end = refine_scores(users, init, np.ones((1, 2)), ScorePrior(1.0, 1.0), max_iter=8, tol=tol)
    assert end.history == [end.history[0]] * n_passes
    np.testing.assert_array_equal(end.component.scores, init.scores)
    assert end.converged == (n_passes < 8)


@pytest.mark.parametrize("kind", ["strict", "mallows"])
@settings(max_examples=25)
@given(case=cases(), max_iter=st.integers(1, 12))
def test_refining_orders_never_lowers_the_posterior(kind, case, max_iter):
    c, theta, prior, rng = case
    rankings = np.stack([rng.permutation(c.n_items) for _ in range(theta.shape[1])])
    init = Strict(rankings, 0.25) if kind == "strict" else Mallows(rankings, np.full(len(rankings), 0.7))
    end, weights = refine_orders(c, theta, init, prior, max_iter=max_iter, tol=1e-7)
    assert never_falls(end.history)
    assert 1 <= len(end.history) <= max_iter
    _, value, _ = end.component.update_memberships(c, weights, prior, 0)
    assert never_falls([end.history[-1], value])
    assert (np.sort(end.component.rankings, axis=1) == np.arange(c.n_items)).all()


def test_orders_are_refined_as_long_as_that_gains():
    s = simulate(200, 12, 2, 30, 0.5, random_state=0)
    init = Strict(np.array([np.arange(12), np.arange(12)[::-1]]), 0.25)

    def refine(max_iter, tol):
        weights = np.full((200, 2), 0.5)
        return refine_orders(s.comparisons, weights, init, np.ones((1, 2)), max_iter=max_iter, tol=tol)[0]

    stopped, done = refine(4, 1e-6), refine(100, 1e-6)
    assert not stopped.converged
    assert done.converged
    gains = np.diff(done.history)
    assert (gains[:3] > 1.0).all()
    assert refine(100, 1e9).history == done.history[:3]  # two passes in a row that hardly gain are enough


def best_scores(c, score_prior):
    """The maximum of the Bradley-Terry posterior of a single ranking, by a solver that knows nothing about it."""
    ones = np.ones((c.n_users, 1))

    def loss(flat):
        scores = flat[:, None]
        return -log_posterior("utility", c, scores, ones, 0.0 * ones) - score_prior.evaluate(scores)[0]

    return minimize(
        loss, np.zeros(c.n_items), method="Powell", options={"xtol": 1e-10, "ftol": 1e-16, "maxiter": 10_000}
    ).x


@both_mixings
@pytest.mark.parametrize("weighted", [False, True])
def test_a_single_ranking_ends_at_the_maximum_of_the_bradley_terry_posterior(mixing, weighted):
    c, prior = draw_comparisons(np.random.default_rng(3), n_users=30, weighted=weighted), ScorePrior(1.0, 1.0)
    init, ones = BradleyTerry(np.zeros((c.n_items, 1)), mixing), np.ones((c.n_users, 1))
    end = refine_scores(Users(c, ones), init, np.ones((1, 1)), prior, max_iter=200, tol=1e-14)
    assert end.converged
    np.testing.assert_allclose(end.component.scores[:, 0], best_scores(c, prior), atol=1e-6)


@both_mixings
@pytest.mark.parametrize("size", [1.0, 30.0])
def test_a_single_ranking_ends_at_the_same_scores_from_anywhere(mixing, size):
    # far from the maximum the curvature hardly tells how long a step should be
    rng = np.random.default_rng(0)
    c = draw_comparisons(rng, n_users=200, n_items=6, most=30)
    ones = np.ones((c.n_users, 1))
    ends = [
        refine_scores(
            Users(c, ones),
            BradleyTerry(init, mixing),
            np.ones((1, 1)),
            ScorePrior(1.0, 1.0),
            max_iter=200,
            tol=1e-12,
        )
        for init in (np.zeros((6, 1)), size * rng.standard_normal((6, 1)))
    ]
    np.testing.assert_allclose(ends[1].component.scores, ends[0].component.scores, atol=1e-5)


def test_the_directions_learn_a_quadratic_and_find_its_maximum(rng):
    root = rng.standard_normal((6, 6))
    matrix, target = root @ root.T + 0.1 * np.eye(6), rng.standard_normal(6)
    x, memory = np.zeros(6), QuasiNewton()
    gradient = target.copy()
    for _ in range(7):  # six directions are all there are
        ascent = memory.direction(gradient, lambda g: g / np.diag(matrix))
        assert ascent @ gradient >= 0
        step = ascent * (ascent @ gradient) / max(ascent @ matrix @ ascent, 1e-300)
        new_slope = target - matrix @ (x + step)
        memory.remember(step, gradient, new_slope)
        x, gradient = x + step, new_slope
    np.testing.assert_allclose(x, np.linalg.solve(matrix, target), rtol=1e-6, atol=1e-8)


def test_directions_do_not_learn_where_the_function_curves_the_wrong_way(rng):
    gradient, memory = rng.standard_normal(4), QuasiNewton()
    memory.remember(gradient, gradient, 3.0 * gradient)
    np.testing.assert_array_equal(memory.direction(gradient, lambda g: g / 2.0), gradient / 2.0)


def test_a_copy_of_a_memory_learns_on_its_own(rng):
    gradient, memory = rng.standard_normal(4), QuasiNewton()
    memory.copy().remember(gradient, gradient, 0.5 * gradient)
    assert memory.is_empty
    memory.remember(gradient, gradient, 0.5 * gradient)
    assert not memory.copy().is_empty


@both_mixings
def test_the_preconditioner_solves_one_system_for_every_item(mixing, rng):
    c, prior = draw_comparisons(rng, n_users=30, n_items=5), ScorePrior(0.7, 1.3)
    component, users = BradleyTerry(rng.standard_normal((5, 3)), mixing), Users(c, np.full((30, 3), 1 / 3))
    here = users.update_memberships(component, np.ones((1, 3)), 3, informed=True)
    gradient = rng.standard_normal((5, 3))
    covariance = 0.7**2 * np.eye(3) + 1.3**2  # of an item's scores, before the data speak
    for solved, row, products, hessian in zip(
        preconditioner(here, prior)(gradient), gradient, here.information, here.hessian, strict=True
    ):
        block = 0.5 * products + 0.5 * np.diag(hessian) + np.linalg.inv(covariance)
        np.testing.assert_allclose(block @ solved, row, rtol=1e-9, atol=1e-12)


def test_a_memory_that_is_given_goes_on_learning(rng):
    c, memory = draw_comparisons(rng, n_users=20, n_items=5), QuasiNewton()
    refine_scores(
        Users(c, np.full((20, 2), 0.5)), BradleyTerry(rng.standard_normal((5, 2))), np.ones((1, 2)),
        ScorePrior(1.0, 1.0), max_iter=4, tol=1e-9, memory=memory,
    )  # fmt: skip
    assert not memory.is_empty


def test_progress_is_told_while_refining(rng):
    c = draw_comparisons(rng)
    told = []
    theta, prior = np.full((c.n_users, 2), 0.5), np.ones((1, 2))
    options = {"max_iter": 5, "tol": 0.0, "on_progress": lambda stage, done: told.append((stage, done))}
    users = Users(c, theta)
    refine_scores(users, BradleyTerry(rng.standard_normal((5, 2))), prior, ScorePrior(1.0, 1.0), **options)
    refine_orders(c, theta, Strict(np.array([np.arange(5), np.arange(5)[::-1]]), 0.2), prior, **options)
    assert told
    assert all(stage and 0 <= done <= 1 for stage, done in told)


@pytest.mark.parametrize(("promised", "is_little"), [([4.0, 0.4], True), ([4.0, 0.6], False), ([6.0, 0.0], False)])
def test_a_ranking_that_few_follow_must_promise_little_for_its_own_share_of_comparisons(promised, is_little):
    step = np.array([[2.0, 2.0]])
    hessian = np.array([[9.0, 1.0]])  # a tenth of what is known is about the second ranking
    here = ScoreSums(0.0, np.array([promised]), hessian, np.empty(0))
    assert promises_little(step, here, enough=5.0) == is_little


def test_what_does_not_matter_beside_the_errors_of_scores_is_little_however_few_follow():
    here = ScoreSums(0.0, np.full((10, 1), 0.04), np.ones((10, 1)), np.empty(0))
    assert promises_little(np.full((10, 1), 2.0), here, enough=0.0)
    assert not promises_little(np.full((10, 1), 3.0), here, enough=0.0)

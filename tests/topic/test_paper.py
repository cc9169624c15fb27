"""What the paper states, on cases small enough to check."""

import itertools

import numpy as np
import pytest
from scipy import stats

from plurank import NotIdentifiableError, simulate
from plurank.data.simulate import novel_pairs
from plurank.topic.moments import pair_moments
from plurank.topic.orders import ranking_matrix
from plurank.topic.printed import detect_printed, project
from plurank.topic.rounding import round_to_rankings
from tests.oracles.exact_moments import ExactMoments, dirichlet_correlation, draw_mu, draw_separable

TINY = 1e-9  # how probable it is that a sound program fails a test of frequencies


def draw_model(seed, n_items=5, n_rankings=3, concentration=1.0, uniform=False):
    rng = np.random.default_rng(seed)
    a = rng.dirichlet(np.full(n_rankings, 3.0))
    rankings = draw_separable(n_items, n_rankings, rng)
    return ExactMoments(rankings, draw_mu(n_items, rng, uniform), a, dirichlet_correlation(a, concentration))


def table_of(model):
    """mu as a symmetric table."""
    table = np.zeros((model.n_items, model.n_items))
    table[model.lower, model.higher] = table[model.higher, model.lower] = model.mu[0::2]
    return table


def rows_of(c, n_items):
    """The ordered pair of every comparison, numbered like the rows of ExactMoments."""
    place = {pair: p for p, pair in enumerate(itertools.combinations(range(n_items), 2))}
    pairs = zip(c.winners.tolist(), c.losers.tolist(), strict=True)
    return np.array([2 * place[min(i, j), max(i, j)] + (i > j) for i, j in pairs])


def assert_frequencies(observed, probabilities):
    """Chi-square test of counts, where cells of probability 0 must be empty."""
    assert observed[probabilities == 0].sum() == 0
    seen = probabilities > 0
    expected = observed.sum() * probabilities[seen]
    assert expected.min() > 5  # or the law of the statistic would not be chi-square
    assert stats.chisquare(observed[seen], expected).pvalue > TINY


@pytest.mark.parametrize("seed", range(5))
def test_b_is_column_stochastic(seed):
    model = draw_model(seed, n_items=3 + seed)
    B = model.mu[:, None] * ranking_matrix(model.rankings, model.lower, model.higher)
    np.testing.assert_array_equal(B, model.B)
    np.testing.assert_allclose(B.sum(axis=0), 1.0)
    np.testing.assert_allclose(model.B_bar[model.p > 0].sum(axis=1), 1.0)
    assert model.p.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(model.F.sum(axis=1), model.p)


@pytest.mark.parametrize("seed", range(3))
def test_sigma_follows_from_b_by_the_ratio_of_opposite_rows(seed):
    model = draw_model(seed)
    opposite = np.arange(len(model.p)) ^ 1
    np.testing.assert_allclose(model.B / (model.B + model.B[opposite]), model.sigma)
    rounded = round_to_rankings(model.B, model.lower, model.higher, model.n_items)
    np.testing.assert_array_equal(rounded.wins, model.sigma[0::2])
    np.testing.assert_array_equal(rounded.rankings, model.rankings)


@pytest.mark.parametrize("seed", range(3))
def test_a_single_comparison_has_the_law_of_a_word_in_the_topic_model(seed):
    model = draw_model(seed)
    s = simulate(40_000, comparisons_per_user=1, concentration=1.0, random_state=seed, mean_weights=model.a,
                 rankings=model.rankings, pair_probabilities=table_of(model))  # fmt: skip
    assert_frequencies(np.bincount(rows_of(s.comparisons, 5), minlength=20), model.p)


@pytest.mark.parametrize("concentration", [0.0, 0.3, 2.0])
def test_two_comparisons_of_a_user_have_the_law_of_two_words_of_a_document(concentration):
    model = draw_model(0, n_items=3, concentration=concentration)
    s = simulate(60_000, comparisons_per_user=2, concentration=concentration, random_state=1, mean_weights=model.a,
                 rankings=model.rankings, pair_probabilities=table_of(model))  # fmt: skip
    first, second = rows_of(s.comparisons, 3).reshape(-1, 2).T
    together = np.bincount(6 * first + second, minlength=36)
    assert_frequencies(together, model.F.ravel())


@pytest.mark.parametrize("directions", ["gaussian", "sphere"])
@pytest.mark.parametrize("seed", range(4))
def test_a_solid_angle_is_positive_exactly_for_novel_pairs(seed, directions):
    model = draw_model(seed, n_items=4 + seed % 2)
    values = project(model, 4000, directions, rng=np.random.default_rng(seed))
    occurs = model.p > 0
    distances = np.linalg.norm(model.E[:, None] - model.E[None], axis=2)
    above_all = np.zeros(len(occurs))
    for i in np.flatnonzero(occurs):
        others = occurs & (distances[i] > 1e-9)
        above_all[i] = (values[i] > values[others].max(axis=0)).mean()
    assert ((above_all > 0) == (model.novel_to >= 0))[occurs].all()
    # along every direction one ranking's novel pairs are highest
    angles = [above_all[model.novel_to == k].max() for k in range(3)]
    assert sum(angles) == pytest.approx(1.0)


def test_novel_pairs_of_known_rankings_are_the_rows_with_a_single_one_in_sigma():
    model = draw_model(7)
    for k, pairs in enumerate(novel_pairs(model.rankings)):
        rows = [r for r in range(20) if model.novel_to[r] == k]
        expected = {(model.lower[r // 2], model.higher[r // 2])[:: -1 if r % 2 else 1] for r in rows}
        assert {tuple(pair) for pair in pairs.tolist()} == expected


@pytest.mark.parametrize("concentration", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("seed", range(4))
def test_rows_of_one_ranking_coincide_and_rows_of_different_rankings_keep_their_distance(seed, concentration):
    model = draw_model(seed, n_items=6, n_rankings=4, concentration=concentration)
    least, most = model.eigenvalues
    d_2 = (1 - model.b) * least
    d = d_2**2 / most
    diagonal = np.diagonal(model.E)
    for i in np.flatnonzero(model.novel_to >= 0):
        same = model.novel_to == model.novel_to[i]
        other = (model.p > 0) & ~same
        lengths = np.linalg.norm(model.E - model.E[i], axis=1)
        entries = diagonal + diagonal[i] - 2 * model.E[i]
        np.testing.assert_allclose(lengths[same], 0.0, atol=1e-9)
        np.testing.assert_allclose(entries[same], 0.0, atol=1e-9)
        assert (lengths[other] >= d_2 - 1e-12).all()
        assert (entries[other] >= d - 1e-12).all()


def test_the_empirical_e_approaches_e_like_one_over_the_root_of_the_number_of_users():
    # a ranking, its reverse and a third one, so that no ordered pair has probability 0
    rankings, a = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]]), np.array([0.4, 0.35, 0.25])
    model = ExactMoments(rankings, np.full(6, 1 / 6), a, dirichlet_correlation(a, 1.0))
    n_half, sizes = 10, np.array([200, 2000, 20_000])
    errors = []
    for n_users in sizes:
        s = simulate(int(n_users), comparisons_per_user=2 * n_half, concentration=1.0, random_state=5, mean_weights=a,
                     rankings=rankings)  # fmt: skip
        errors.append(np.abs(pair_moments(s.comparisons, 0).product(np.eye(12)) - model.E).max())
    # Lemma 4: P(error >= eps) <= 8 W^2 exp(-eps^2 eta^4 M N / 20)
    allowed = np.sqrt(20 * np.log(8 * 12**2 / TINY) / (model.p.min() ** 4 * sizes * n_half))
    assert (errors < allowed).all()
    # the lemma is generous; that the errors times sqrt(M) stay level says more
    level = errors * np.sqrt(sizes)
    assert level.max() < 3 * level.min()
    assert errors[0] > errors[1] > errors[2]


def test_halves_of_users_with_unequal_numbers_of_comparisons_estimate_the_same_e():
    rankings, a = np.array([[0, 1, 2], [2, 1, 0]]), np.array([0.6, 0.4])
    model = ExactMoments(rankings, np.full(3, 1 / 3), a, dirichlet_correlation(a, 1.0))
    per_user = np.random.default_rng(0).integers(2, 40, 20_000)
    s = simulate(20_000, comparisons_per_user=per_user, concentration=1.0, random_state=0, mean_weights=a,
                 rankings=rankings)  # fmt: skip
    # one user's weight varies by 0.35; an entry of E is a mean over 20,000 users, of size 0.5 to 2: 0.05 is many sigmas
    np.testing.assert_allclose(pair_moments(s.comparisons, 0).product(np.eye(6)), model.E, atol=0.05)


def test_detection_refuses_more_rankings_than_there_are_separated_pairs():
    model = draw_model(0)
    with pytest.raises(NotIdentifiableError, match="4 rankings were asked for, but only 3 pairs"):
        detect_printed(model, 4, 600, 1e-3, "gaussian", rng=np.random.default_rng(0))

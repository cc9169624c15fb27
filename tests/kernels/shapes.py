"""Call every native function with data of random shapes, and check that nothing but numbers comes back.

    python -m tests.kernels.shapes [HOW_MANY]

Meant for sanitizers, see ``sanitize.py``: what is computed is compared with the twins elsewhere.
"""

import itertools
import sys

import numpy as np

from plurank import kernels
from plurank.data.encoding import index_pairs
from plurank.engine.blocks import cut_users
from plurank.topic.pair_blocks import lay_out_by_row
from tests.kernels.sweeps import simulate_sweep

NOTHING = np.empty(0)


def call_all(rng: np.random.Generator) -> set[str]:
    """Draw one shape and call every function with it; return the names of those called."""
    n_items, n_rankings = int(rng.integers(2, 40)), int(rng.integers(1, 22))
    sizes = rng.integers(0, rng.integers(1, 60), rng.integers(1, 30))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n, n_users = int(offsets[-1]), len(sizes)
    winners = rng.integers(0, n_items, n).astype(np.int32)
    losers = ((winners + rng.integers(1, n_items, n)) % n_items).astype(np.int32)
    weights = rng.uniform(0.1, 3.0, n) if rng.random() < 0.5 else NOTHING
    users = np.repeat(np.arange(n_users, dtype=np.int32), sizes)
    theta = rng.dirichlet(np.ones(n_rankings), n_users)
    scores = rng.choice([0.1, 3.0, 900.0]) * rng.standard_normal((n_items, n_rankings))
    places = np.stack([rng.permutation(n_items) for _ in range(n_rankings)], axis=1).astype(np.int32)
    laws = rng.uniform(0.05, 0.95, (n_rankings, 2 * n_items - 1))
    prior = rng.uniform(0.1, 2.0, (n_users if rng.random() < 0.5 else 1, n_rankings))
    concentration, likelihoods = 50.0 * rng.random(n_users), rng.uniform(0.01, 0.99, (n, n_rankings))
    called: set[str] = set()

    def call(name, *arguments):
        called.add(name)
        return getattr(kernels, name)(*arguments)

    columns = (offsets, winners, losers, weights)
    blocks = (cut_users(offsets, 0), *columns)
    n_rounds, informed = int(rng.integers(0, 5)), bool(rng.integers(2))
    for name in ("probability_pass", "utility_pass"):
        found = call(name, *blocks, scores, theta, prior, n_rounds, informed)
        assert all(np.isfinite(part).all() for part in found), name
    call("places_pass", *blocks, places, laws, theta, prior, n_rounds)
    pairs = (users, winners, losers)
    call("mix_probabilities", *pairs, scores, theta)
    call("mix_utilities", *pairs, scores, theta, concentration)
    call("mix_places", *pairs, places, laws, theta)
    call("mean_wins", scores, scores)
    call("encode_keys", rng.integers(0, 1 << int(rng.integers(1, 64)), n, dtype=np.uint64))
    call("find_duplicates", offsets, winners, losers, n_items)
    call("find_consistent", offsets, winners, losers, n_items)
    call("count_meetings", *columns, n_items)
    call("signed_item_counts", *columns, n_items)
    chosen = call("choose_half", offsets, rng.random(n))
    rows, lower, higher = index_pairs(winners, losers, n_items)
    call("find_rows", winners, losers, np.searchsorted(lower, np.arange(n_items + 1)), higher)
    halves = np.array([int(chosen[a:b].sum()) for a, b in itertools.pairwise(offsets)], np.int64)
    by_row = lay_out_by_row(offsets, offsets[:-1] + halves, rows, weights, 2 * len(lower))
    user_of, row_weights, begins, middles, ends = by_row
    call("count_shared_users", begins, middles, middles, ends, user_of, row_weights)
    call("sum_gathered", begins, ends, user_of, row_weights, rng.standard_normal((n_users, 3)))
    singles = rng.standard_normal((n_users, 5)).astype(np.float32)
    call("add_gathered", begins, ends, user_of, row_weights, singles, np.zeros((len(begins), 5), np.float32))
    points = rng.standard_normal((7, 9)).astype(np.float32)
    apart = call("are_apart", points, points, int(rng.integers(0, 10)), 4.0)
    call("stay_above", points, points, apart, rng.random((7, 9)) < 0.8)
    call("map_user_weights", *columns, places, 0.03, prior[0], theta, 5, 1e-6)
    vertices = rng.standard_normal((n_rankings, n_rankings + 1))
    call("regress_on_simplex", vertices @ vertices.T, rng.standard_normal((6, n_rankings)), 1e-9, 200)
    order, pair_begins = call("group", rows, 2 * len(lower))
    chances = rng.uniform(0.05, 0.95, (2 * len(lower), n_rankings))
    ordered = weights[order] if len(weights) else NOTHING
    wins = call("expected_wins", pair_begins, users[order], ordered, chances, theta, concentration)
    items = np.stack([lower, higher], axis=1).ravel()
    by_item, item_begins = kernels.group(items, n_items)
    partners = np.stack([higher, lower], axis=1).ravel()[by_item]
    meetings = (item_begins, partners, wins[by_item], wins[by_item ^ 1])
    rankings = np.ascontiguousarray(np.argsort(places, axis=0).T)
    found = call("improve_orders", rankings, *meetings, np.log(laws), 4, 2)
    call("place_errors", found, *meetings, np.log(laws), 4)
    n_draws, mixing = 4 * int(rng.integers(1, 6)), str(rng.choice(["utility", "probability"]))
    eta = 3.0 * rng.standard_normal((n_users, n_rankings, n_draws))
    priors = rng.uniform(0.1, 2.0, (n_users, 5, n_rankings))
    found = call("weigh_draws", *columns, scores, mixing, eta, rng.standard_normal((n_users, n_draws)), priors)
    assert all(np.isfinite(part).all() for part in found), "weigh_draws"
    seeds = rng.integers(0, 2**64, n_users, dtype=np.uint64)
    call("read_left_to_right", offsets, likelihoods, prior[0], seeds, int(rng.integers(1, 6)), int(rng.integers(0, 4)))
    call("infer_dirichlets", offsets, likelihoods, weights, prior[0], theta + 0.5, 4, 1e-6)
    keys, places_of = np.unique(
        np.concatenate([users * n_items + winners, users * n_items + losers]), return_inverse=True
    )
    edges = np.searchsorted(keys, np.arange(n_users + 1) * n_items)
    sides = places_of[:n], places_of[n:]
    counts = weights if len(weights) else np.ones(n)
    call("solve_user_effects", offsets, edges, *sides, counts, rng.standard_normal(n), np.ones(len(keys)))
    n_rated = rng.integers(0, 12, n_users)
    rated = np.concatenate([[0], np.cumsum(n_rated)]).astype(np.int64)
    values, ties = rng.integers(1, 4, rated[-1]).astype(float), int(rng.integers(0, 3))
    codes = rng.integers(0, n_items, rated[-1]).astype(np.int32)
    all_pairs = n_rated * (n_rated - 1) // 2
    call("decided_pairs", rated, codes, values, ties, rng.random(int(all_pairs.sum())))
    wanted = np.floor(rng.random() * all_pairs).astype(np.int64)
    sampled = call("sample_pairs", n_rated, wanted, rng.random(int(wanted.sum())))
    call("expand_pairs", rated, codes, values, wanted, sampled, ties, rng.random(len(sampled)))
    for kind in ("rated", "ranked", "compared", "compared ratings"):
        n_factors, n_cuts = int(rng.integers(0, 6)), int(rng.integers(0, 7))
        sweep = simulate_sweep(rng, kind, n_rated, n_rankings, n_factors, n_cuts, n_items)
        assert np.isfinite(call("draw_users", *sweep)).all(), kind
        observed, users, w, size = sweep.observed, sweep.users, sweep.w, 1 + n_rankings + n_factors
        by_item, item_begins = kernels.group(observed.codes, n_items)
        owners = np.repeat(np.arange(n_users, dtype=np.int32), n_rated)[by_item]
        products, sums = call("sum_by_item", item_begins, by_item.astype(np.int32), owners, users, w, size)
        drawn, _ = call("draw_items", products, sums, np.eye(size), np.zeros(size), sweep.key)
        assert all(np.isfinite(part).all() for part in (users, w, sweep.cuts, drawn)), kind
    return called


def main() -> None:
    n_shapes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    called = {name for seed in range(n_shapes) for name in call_all(np.random.default_rng(seed))}
    assert called == set(kernels.__all__), set(kernels.__all__) - called
    print(f"{n_shapes:,} shapes, {len(called)} functions, {kernels.library.ACTIVE}")


if __name__ == "__main__":
    main()

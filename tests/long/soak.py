"""Fits of random data with random settings, to see what breaks.

    python -m tests.long.soak [--fits 200] [--seed 0]

Data have 1 to 300 users, 2 to 40 items and 1 to 6 rankings behind them; they may be sparse, in groups never compared
with each other, repeated, weighted, or made from ratings. Every fit is checked: no NaN and no infinity in anything it
made, predictions, orders, intervals and questions that make sense, a file that loads to the same model. Errors of
plurank's own (a sentence) are counted; any other error, or a check that fails, ends in a list and exit code 1. Memory
(RSS) after a quarter of the fits and at the end must not differ by more than ``GROWTH``.
"""

import gc
import re
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import plurank
from benchmarks.common import memory_kib, parser_of, write_results
from tests.long import RESULTS

GROWTH = 30.0  # MiB: caches fill, and memory is handed back in lumps
MOST_RATED = 12  # items a user rates


def draw_data(rng: np.random.Generator) -> tuple[plurank.Comparisons, str]:
    """Draw comparisons, and say what they are like."""
    n_users, n_items = int(np.exp(rng.uniform(0, np.log(301)))), int(rng.integers(2, 41))
    n_rankings, per_user = int(rng.integers(1, 7)), int(rng.integers(1, 41))
    words = [f"{n_users} users, {n_items} items, {n_rankings} true rankings, up to {per_user} each"]
    scores = rng.choice([0.5, 2.0, 20.0]) * rng.standard_normal((n_items, n_rankings))
    weights = rng.dirichlet(np.full(n_rankings, rng.choice([0.1, 1.0, 10.0])), n_users)
    if rng.random() < 0.25:
        words.append("from_ratings")
        return draw_rated(scores, weights, rng), ", ".join(words)
    users = np.repeat(np.arange(n_users), rng.integers(1, per_user + 1, n_users))
    first = rng.integers(n_items, size=len(users))
    if rng.random() < 0.3 and n_items >= 4:
        words.append("in two groups")  # even items meet even ones alone
        second = (first + 2 * rng.integers(1, n_items // 2, size=len(users))) % (n_items // 2 * 2)
        first, second = np.where(first == second, (first + 2) % (n_items // 2 * 2), first), second
        keep = first != second
        users, first, second = users[keep], first[keep], second[keep]
    else:
        second = (first + rng.integers(1, n_items, size=len(users))) % n_items
    taken = (weights[users].cumsum(axis=1) < rng.random((len(users), 1))).sum(axis=1).clip(max=n_rankings - 1)
    wins = scores[first, taken] - scores[second, taken] + rng.logistic(size=len(users)) > 0
    frame = {"user": users, "winner": np.where(wins, first, second), "loser": np.where(wins, second, first)}
    if rng.random() < 0.3:
        words.append("weighted")
        frame["weight"] = rng.choice([0.5, 1.0, 2.0, 1e-3, 50.0], len(users))
    table = pl.DataFrame(frame)
    if rng.random() < 0.3:
        words.append("repeated")
        table = pl.concat([table] * 3)
    if rng.random() < 0.3:
        words.append("named")
        table = table.with_columns(pl.col("winner", "loser").cast(pl.String))
    return plurank.Comparisons.from_frame(table), ", ".join(words)


def draw_rated(scores: Any, weights: Any, rng: np.random.Generator) -> plurank.Comparisons:
    """Let everybody rate some items with one to five stars, and compare these."""
    n_items, rows = len(scores), []
    for user, own in enumerate(weights):
        rated = rng.choice(n_items, min(int(rng.integers(2, MOST_RATED + 1)), n_items), replace=False)
        liking = scores[rated] @ own + rng.standard_normal(len(rated))
        stars = np.clip(np.round(3 + liking / max(liking.std(), 1e-9)), 1, 5)
        rows += [(user, int(item), float(star)) for item, star in zip(rated, stars, strict=True)]
    frame = pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row")
    ties = str(rng.choice(["ignore", "both", "random"]))
    if not (frame.group_by("user").agg(pl.col("rating").n_unique())["rating"] > 1).any():
        ties = "both"  # otherwise there is nothing to compare
    return plurank.Comparisons.from_ratings(frame, ties=ties, random_state=0)


def draw_model(rng: np.random.Generator) -> Any:
    """Draw a model with settings."""
    n_rankings, seed = int(rng.integers(1, 7)), int(rng.integers(1000))
    given = (
        {}
        if rng.random() < 0.5
        else {"concentration": 10 ** rng.uniform(-2, 2), "score_scale": 10 ** rng.uniform(-1, 1)}
    )
    mixed = {**given, "max_iter": int(rng.choice([1, 5, 200])), "random_state": seed}
    makers = (
        lambda: plurank.MixedRanking(n_rankings, **mixed),
        lambda: plurank.MixedRanking("auto", **mixed),
        lambda: plurank.MixedRanking(n_rankings, mixing="probability", **mixed),
        lambda: plurank.MixedRanking(n_rankings, mixing="utility", **mixed),
        lambda: plurank.MixedRanking(n_rankings, init=str(rng.choice(["items", "pairs", "random"])), **mixed),
        lambda: plurank.MixedRanking(
            n_rankings, ensemble=2, mixing=str(rng.choice(["probability", "utility"])), **mixed
        ),
        lambda: plurank.MixedRanking(n_rankings, "mallows", **mixed),
        lambda: plurank.MixedRanking(n_rankings, "strict", **mixed),
        lambda: plurank.MixedRanking(n_rankings, from_ratings=True, **mixed),
        lambda: plurank.TopicRanking(n_rankings, random_state=seed),
        lambda: plurank.TopicRanking(n_rankings, "projections", random_state=seed),
        lambda: plurank.TopicRanking(n_rankings, "printed", random_state=seed),
        lambda: plurank.TopicRanking(n_rankings, prior="likelihood", random_state=seed),
        lambda: plurank.ClusteredRanking(n_rankings, random_state=seed),
        lambda: plurank.SingleRanking(str(rng.choice(["mm", "spectral"]))),
        lambda: plurank.FJS(n_rankings),
        lambda: plurank.PairTopics(n_rankings, random_state=seed),
    )
    return makers[int(rng.integers(len(makers)))]()


def check(model: Any, comparisons: plurank.Comparisons, folder: Path) -> None:
    """Raise an AssertionError where anything that a fit gives makes no sense."""
    c = comparisons
    for name in [name for name in vars(model) if name.endswith("_")]:
        value = getattr(model, name)
        if isinstance(value, (float, np.ndarray)) and np.asarray(value).dtype.kind == "f":
            assert np.isfinite(value).all(), f"{name} is not finite"
    assert model.user_weights_.shape == (c.n_users, len(model.rankings_)), "shape of user_weights_"
    chances = model.predict_held_out(c)[0]
    assert ((chances >= 0) & (chances <= 1)).all(), "predictions are no probabilities"
    assert np.isfinite(model.score(c)), "the score is not finite"
    assert np.isfinite(model.score(c, method="left-to-right", n_particles=5)), "left-to-right is not finite"
    for weights in (model.transform(c), model.user_weights_):
        assert (weights >= 0).all(), "weights below 0"
        np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-6)
    check_order(model.rank(c.users[0]), c.n_items)
    check_order(model.rank(), c.n_items)
    if isinstance(model, plurank.MixedRanking):
        check_order(model.leaderboard(), c.n_items)
        bounds = model.weight_intervals(c.users[0])
        assert (bounds["lower"] <= bounds["weight"]).all(), "weight below its bounds"
        assert (bounds["weight"] <= bounds["upper"]).all(), "weight above its bounds"
    check_person(model, c)
    path = folder / "model.plurank"
    model.save(path)
    again = plurank.load(path)
    np.testing.assert_array_equal(again.rankings_, model.rankings_)
    np.testing.assert_array_equal(again.predict_held_out(c)[0], chances)


def check_person(model: Any, comparisons: plurank.Comparisons) -> None:
    """Fold somebody in, and ask them something."""
    c = comparisons
    own = slice(c.offsets[0], c.offsets[1])
    person = model.fold_in(list(zip(c.items[c.winners[own]], c.items[c.losers[own]], strict=True)))
    check_order(person.rank(), c.n_items)
    frame = person.weight_intervals()
    assert np.isfinite(frame.to_numpy()).all(), "a person's weights are not finite"
    assert np.isclose(frame["weight"].sum(), 1.0), "a person's weights do not sum to 1"
    asked = person.next_pairs(3)
    assert np.isfinite(asked["gain"].to_numpy()).all(), "a gain is not finite"
    assert asked["probability"].is_between(0, 1).all(), "a question's probability is none"


def check_order(frame: pl.DataFrame, n_items: int) -> None:
    """Raise where an order does not have every item once, within its bounds."""
    assert frame["item"].n_unique() == len(frame) == n_items, "an order lacks items"
    assert np.isfinite(frame["score"].to_numpy()).all(), "a score in an order is not finite"
    if "lower" in frame.columns:
        inside = (frame["lower"] >= 1) & (frame["lower"] <= frame["rank"]) & (frame["rank"] <= frame["upper"])
        assert (inside & (frame["upper"] <= n_items)).all(), "a place lies outside its bounds"


def rss() -> float:
    """Give the memory this process holds, in MiB."""
    gc.collect()
    return memory_kib("VmRSS") / 1024


def run(n_fits: int, seed: int, folder: Path) -> tuple[Counter[str], Counter[str], list[str], list[float]]:
    """Fit; give how models ended, which sentences came, what broke, and the memory at a quarter and at the end."""
    ends: Counter[str] = Counter()
    sentences: Counter[str] = Counter()
    broken, memory = [], []
    for n in range(n_fits):
        rng = np.random.default_rng([seed, n])
        (comparisons, words), model = draw_data(rng), draw_model(rng)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", plurank.ConvergenceWarning)
                warnings.filterwarnings("ignore", ".* is deprecated and will be removed in", DeprecationWarning)
                check(model.fit(comparisons), comparisons, folder)
            end = "good"
        except plurank.PlurankError as error:
            end = "sentence"
            sentences[re.sub(r"[\d,.]*\d", "N", str(error)).split(". ")[0]] += 1
        except Exception:  # whatever it is, it is what we are looking for
            end = "broken"
            broken.append(f"fit {n} ({words}): {model}\n{traceback.format_exc(limit=-3)}")
            print(broken[-1], flush=True)
        ends[f"{type(model).__name__}: {end}"] += 1
        if n + 1 in (max(n_fits // 4, 1), n_fits):
            memory.append(rss())
        if (n + 1) % 10 == 0:
            print(f"{n + 1} fits, {len(broken)} broken, {rss():.0f} MiB", flush=True)
    return ends, sentences, broken, memory


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--fits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ends, sentences, broken, memory = run(given.fits, given.seed, Path(folder))
    for what, n in sorted(ends.items()):
        print(f"{n:5} {what}")
    for sentence, n in sentences.most_common():
        print(f"{n:5} times: {sentence}")
    grown = memory[-1] - memory[0]
    print(f"memory {memory[0]:.0f} MiB after a quarter, {memory[-1]:.0f} MiB at the end")
    rows = [{"what": what, "value": n} for what, n in sorted(ends.items())]
    rows += [{"what": "MiB after a quarter", "value": round(memory[0], 1)}]
    rows += [{"what": "MiB at the end", "value": round(memory[-1], 1)}]
    write_results("soak", [{"fits": given.fits, "seed": given.seed, **row} for row in rows], folder=RESULTS)
    if broken or grown > GROWTH:
        sys.exit(f"{len(broken)} fits broke; memory grew by {grown:.0f} MiB.")


if __name__ == "__main__":
    main()

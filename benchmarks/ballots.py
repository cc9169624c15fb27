"""Ballots: held-out log-likelihood of whole ballots, of new voters, by four models of the same training ballots.

    python -m benchmarks.ballots --data FOLDER [--seeds 3] [--voters 2000]

Every model says how probable a ballot of somebody unknown is: the items ranked, in this order, from those offered.
``MixedRanking`` fitted to rankings, by its latent utilities; fitted to pairs made from the ballots, by choosing one
item after the other with the odds of its scores (weights drawn from its prior); one Plackett-Luce ranking; and clusters
of voters, each with a Plackett-Luce ranking, fitted by EM, the number of clusters chosen on validation ballots.
Writes results/ballots.csv.
"""

import argparse
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import logsumexp

import plurank
from benchmarks.common import parser_of, write_results
from plurank.thurstone.ballots import log_likelihoods

N_PARTICLES = 100
CLUSTERS = (2, 3, 5, 8)
TEST, VALIDATION = 0.25, 0.2
Floats = NDArray[np.float64]


def birds(folder: Path) -> tuple[pl.DataFrame, bool]:
    frame = pl.read_csv(folder / "birds/ballots.csv.gz", infer_schema_length=None)
    votes = [name for name in frame.columns if name.startswith("vote_")]
    long = (
        frame.select(votes).with_row_index("user").unpivot(votes, index="user", variable_name="rank", value_name="item")
    )
    return long.drop_nulls("item").with_columns(pl.col("rank").str.strip_prefix("vote_").cast(pl.Int64)), True


def krakow(folder: Path) -> tuple[pl.DataFrame, bool]:
    text = gzip.decompress((folder / "krakow/Debniki_2024.pb.gz").read_bytes()).decode().split("VOTES")[1]
    lines = [line.split(";") for line in text.strip().splitlines()]
    column = lines[0].index("vote")
    rows = [
        (line[0], item, place)
        for line in lines[1:]
        for place, item in enumerate(line[column].split(","), start=1)
        if item
    ]
    return pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row"), True


def plain(file: str) -> Any:
    return lambda folder: (pl.read_csv(folder / file).select("user", "item", "rank"), False)


SETS: dict[str, Any] = {
    "birds": birds,
    "krakow": krakow,
    "star-wars films": plain("star-wars/film_rankings.csv.gz"),
    "sushi A": plain("sushi/setA_rankings.csv.gz"),
    "sushi B": plain("sushi/setB_rankings.csv.gz"),
}


def choice_logs(scores: Floats, ballots: plurank.Rankings) -> Floats:
    """Log-likelihood (M, S) of ballots by successive choices with scores (S, Q), in log odds."""
    out = np.zeros((ballots.n_users, len(scores)))
    for user in range(ballots.n_users):
        own = slice(ballots.offsets[user], ballots.offsets[user + 1])
        mine, levels = scores[:, ballots.codes[own]], ballots.levels[own]
        order = np.argsort(-levels, kind="stable")
        mine, n_ranked = mine[:, order], int((levels > 0).sum()) if ballots.n_unranked else len(levels)
        rest = np.logaddexp.accumulate(mine[:, ::-1], axis=1)[:, ::-1]
        out[user] = (mine - rest)[:, :n_ranked].sum(axis=1)
    return out


def fit_plackett_luce(ballots: plurank.Rankings, shares: Floats, scores: Floats, n_rounds: int) -> Floats:
    """Scores (Q,) of one Plackett-Luce ranking of weighted ballots (M,), by minorisation and maximisation."""
    strengths = np.exp(scores)
    for _ in range(n_rounds):
        wins, mass = np.full(len(scores), 0.1), np.full(len(scores), 0.1 / strengths.mean())
        for user in np.flatnonzero(shares > 1e-6):
            own = slice(ballots.offsets[user], ballots.offsets[user + 1])
            codes, levels = ballots.codes[own][::-1], ballots.levels[own][::-1]
            n_ranked = int((levels > 0).sum()) if ballots.n_unranked else len(levels)
            chosen = min(n_ranked, len(codes) - 1) if not ballots.n_unranked else n_ranked
            rest = np.cumsum(strengths[codes][::-1])[::-1][:chosen]
            wins[codes[:chosen]] += shares[user]
            inverse = np.cumsum(1.0 / rest)
            own_mass = np.full(len(codes), inverse[-1])
            own_mass[:chosen] = inverse
            mass[codes] += shares[user] * own_mass
        strengths = wins / mass
        strengths /= strengths.mean()
    return np.log(strengths)


def cluster(ballots: plurank.Rankings, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Fit a mixture of n Plackett-Luce rankings by EM: scores (n, Q) and the logarithms of shares (n,)."""
    shares = rng.dirichlet(np.ones(n), ballots.n_users)
    scores = np.zeros((n, ballots.n_items))
    for _ in range(15):
        scores = np.array([fit_plackett_luce(ballots, shares[:, k], scores[k], 2) for k in range(n)])
        sizes = np.log((shares.sum(axis=0) + 1.0) / (shares.sum() + n))
        logs = choice_logs(scores, ballots) + sizes
        shares = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    return scores, sizes


def mean_of(logs: Floats) -> float:
    return float(logs.mean())


def compare(name: str, folder: Path, seed: int, most: int) -> list[dict[str, Any]]:
    frame, is_offered = SETS[name](folder)
    rng = np.random.default_rng(seed)
    everybody = plurank.Rankings.from_frame(frame, offered="all" if is_offered else None)
    drawn = np.zeros(everybody.n_users, dtype=bool)
    drawn[rng.permutation(everybody.n_users)[:most]] = True
    train, test = everybody.take_users(drawn).split(TEST, by="user", random_state=seed)
    part, validation = train.split(VALIDATION, by="user", random_state=seed)
    found: dict[str, Floats] = {}
    model = plurank.MixedRanking(random_state=seed).fit(train)
    assert model.posterior is not None
    found["MixedRanking, ballots"] = log_likelihoods(model.posterior.draws, test, N_PARTICLES, rng)
    pairs = plurank.MixedRanking(model.n_rankings_, mixing="utility", random_state=seed).fit(train.to_comparisons())
    codes = (
        np.searchsorted(train.items, pairs.items_) if len(pairs.items_) < train.n_items else np.arange(train.n_items)
    )
    utilities = np.zeros((2000, train.n_items))
    utilities[:, codes] = rng.dirichlet(pairs.concentration_ * pairs.mean_weights_, 2000) @ pairs.scores_.T
    found["MixedRanking, pairs"] = logsumexp(choice_logs(utilities, test), axis=1) - np.log(2000)
    one = fit_plackett_luce(train, np.ones(train.n_users), np.zeros(train.n_items), 30)
    found["one Plackett-Luce ranking"] = choice_logs(one[None], test)[:, 0]
    tried = [(n, *cluster(part, n, np.random.default_rng(seed))) for n in CLUSTERS]
    best = max(tried, key=lambda each: mean_of(logsumexp(choice_logs(each[1], validation) + each[2], axis=1)))[0]
    scores, sizes = cluster(train, best, np.random.default_rng(seed))
    found[f"Plackett-Luce clusters ({best})"] = logsumexp(choice_logs(scores, test) + sizes, axis=1)
    ours = found["MixedRanking, ballots"]
    rows = []
    for method, logs in found.items():
        gap = ours - logs
        error = float(gap.std(ddof=1) / np.sqrt(len(gap)))
        rows.append(
            {
                "set": name, "seed": seed, "method": method, "n_train": train.n_users, "n_test": test.n_users,
                "n_items": train.n_items, "n_rankings": model.n_rankings_, "log_likelihood": mean_of(logs),
                "behind": mean_of(gap), "behind_se": error,
            }
        )  # fmt: skip
        print(*rows[-1].values(), flush=True)
    return rows


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--voters", type=int, default=2000)
    parser.add_argument("--sets", nargs="+", default=[*SETS], choices=SETS)
    given: argparse.Namespace = parser.parse_args()
    for name in given.sets:
        rows = [row for seed in range(given.seeds) for row in compare(name, given.data, seed, given.voters)]
        write_results("ballots", rows, replacing="set")


if __name__ == "__main__":
    main()

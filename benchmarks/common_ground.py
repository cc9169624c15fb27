"""Is what is listed as common ground true? And do committees serve people, and does the influence check work?

    python -m benchmarks.common_ground [--data FOLDER] [--seeds 10] [--only polls judges committees conversations]

``polls``: simulated agree/disagree votes of camps, with a statement of one vote planted; right by the shares that votes
were drawn with. ``judges``: simulated judges, with and without two who have the ranking upside down. ``committees``:
simulated rankings, and with --data sushi, half of each ranking hidden; rivals see the same halves. ``conversations``
(with --data): votes of real pol.is conversations, half of them held out; an item is right if the held-out votes of
every opinion group, as pol.is found them, have the sign that is claimed. A group counts where it has at least five
held-out votes for or against the item; with fewer the sign is a coin. Beside it, as many items by group-informed
consensus, the product over groups of (agree + 1) / (n + 2).
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

import plurank
from benchmarks.common import parser_of, write_results

Row = dict[str, object]
LEAST_HELD_OUT = 5  # votes of a group, for its sign to count
FITS = ((2, "probability"), (3, "probability"), (2, "utility"), (3, "utility"))
SIGNS = {"liked by all camps": 1, "disliked by all camps": -1}


def listed(model: plurank.MixedRanking) -> dict[object, int]:
    """The items that the model calls common ground, with the sign it claims."""
    rows = model.common_ground().select("item", "label").rows()
    return {item: SIGNS[label] for item, label in rows if label in SIGNS}


def polls(seeds: int) -> Iterator[Row]:
    """Votes of 300 people in camps on 60 statements, each person votes on a third of them."""
    for n_camps in (2, 3, 4):
        for seed in range(seeds):
            rng = np.random.default_rng([seed, n_camps])
            shares = 1.0 / (
                1.0 + np.exp(-(1.5 * rng.standard_normal((60, 1)) + 1.5 * rng.standard_normal((60, n_camps))))
            )
            camps = rng.choice(n_camps, 300, p=rng.dirichlet(np.full(n_camps, 5.0)))
            voted = rng.random((300, 60)) < 1 / 3
            voted[:, 0] = np.arange(300) == 0  # one vote
            users, items = np.nonzero(voted)
            votes = np.where(rng.random(len(users)) < shares[items, camps[users]], 1.0, -1.0)
            votes[(rng.random(len(users)) < 0.1) & (items > 0)] = 0.0
            votes[items == 0] = 1.0
            made = plurank.Comparisons.from_ratings(pl.DataFrame({"user": users, "item": items, "rating": votes}))
            for mixing in ("probability", "utility"):
                model = plurank.MixedRanking(n_camps, mixing=mixing, random_state=seed).fit(made)
                found = listed(model)
                right = [bool((sign * (shares[item] - 0.5) > 0).all()) for item, sign in found.items()]
                clear = (shares > 0.6).all(axis=1) | (shares < 0.4).all(axis=1)
                yield {
                    "what": "polls", "set": f"{n_camps} camps, {mixing}", "seed": seed, "listed": len(found),
                    "right": sum(right), "possible": int(clear[1:].sum()),
                    "one_vote_listed": int(0 in found),
                }  # fmt: skip


def judges(seeds: int) -> Iterator[Row]:
    """60 judges of 20 items, 40 answers each; two of them have the ranking upside down, or nobody has."""
    for n_odd in (2, 0):
        for seed in range(2 * seeds):
            rng = np.random.default_rng([seed, n_odd])
            scores = np.tile(1.2 * rng.standard_normal(20), (60, 1))
            scores[:n_odd] *= -1.0
            users = np.repeat(np.arange(60), 40)
            left = rng.integers(0, 20, len(users))
            right = (left + rng.integers(1, 20, len(users))) % 20
            ahead = scores[users, left] - scores[users, right]
            wins = rng.random(len(users)) < 1.0 / (1.0 + np.exp(-ahead))
            made = plurank.Comparisons.from_arrays(users, np.where(wins, left, right), np.where(wins, right, left))
            for mixing in ("probability", "utility"):
                influence = plurank.MixedRanking(2, mixing=mixing, random_state=seed).fit(made).influence
                assert influence is not None
                yield {
                    "what": "judges", "set": f"{n_odd} odd, {mixing}", "seed": seed, "flagged": int(influence.flagged),
                    "gain": round(influence.gain, 4), "gain_without": round(influence.gain_without, 4),
                }  # fmt: skip


def simulated_ballots(seed: int) -> tuple[np.ndarray, int]:
    """Full rankings of 20 items by 400 people: three shared score vectors, blended, with noise."""
    rng = np.random.default_rng([seed, 7])
    scores, weights = 2.0 * rng.standard_normal((20, 3)), rng.dirichlet(np.full(3, 0.5), 400)
    liking = weights @ scores.T + rng.gumbel(size=(400, 20))
    return np.argsort(-liking, axis=1), 20


def sushi(folder: Path, seed: int) -> tuple[np.ndarray, int]:
    """Full rankings of ten kinds of sushi by 5,000 people; half of them are drawn."""
    frame = pl.read_csv(folder / "sushi" / "setA_rankings.csv.gz").sort("user", "rank")
    orders = frame["item"].to_numpy().reshape(-1, 10)
    return orders[np.random.default_rng([seed, 8]).choice(len(orders), len(orders) // 2, replace=False)], 10


def committees(seeds: int, folder: Path | None) -> Iterator[Row]:
    sources: dict[str, Callable[[int], tuple[np.ndarray, int]]] = {"simulated": simulated_ballots}
    if folder is not None:
        sources["sushi A"] = lambda seed: sushi(folder, seed)
    for name, make in sources.items():
        for seed in range(seeds):
            orders, n_items = make(seed)
            rng = np.random.default_rng([seed, 9])
            seen = rng.permuted(np.tile(np.arange(n_items) < n_items // 2, (len(orders), 1)), axis=1)
            users, places = np.nonzero(seen)
            visible = pl.DataFrame({"user": users, "item": orders[users, places], "rank": places + 1})
            halves = plurank.Comparisons.from_rankings(visible)
            model = plurank.MixedRanking(10, mixing="utility", random_state=seed).fit(halves)
            single = plurank.MixedRanking(1, random_state=seed).fit(halves)
            best = single.items_[single.rankings_[0]].tolist()
            for size in (1, 2, 3, 4):
                committee = model.committee(size)
                chosen = {
                    "committee": committee.items, "single_ranking": best[:size],
                    "greedy_count": greedy_count(orders, seen, size, committee.top),
                }  # fmt: skip
                served = {rival: share_served(orders, items, committee.top) for rival, items in chosen.items()}
                yield {
                    "what": "committees", "set": f"{name}, {size} items", "seed": seed, "top": committee.top, **served,
                    "promised": round(committee.share_served, 4), "promised_lower": round(committee.lower, 4),
                    "promised_upper": round(committee.upper, 4),
                }  # fmt: skip


def share_served(orders: np.ndarray, items: list[int], top: int) -> float:
    return round(float(np.isin(orders[:, :top], items).any(axis=1).mean()), 4)


def greedy_count(orders: np.ndarray, seen: np.ndarray, size: int, top: int) -> list[int]:
    """Take the item that most people, who have none of the others, have among the first they were seen to rank."""
    first = [row[mask][:top] for row, mask in zip(orders, seen, strict=True)]
    marks = np.zeros((len(orders), orders.max() + 1), dtype=bool)
    for user, items in enumerate(first):
        marks[user, items] = True
    chosen: list[int] = []
    for _ in range(size):
        left = marks[~marks[:, chosen].any(axis=1)] if chosen else marks
        gains = left.sum(axis=0)
        gains[chosen] = -1
        chosen.append(int(gains.argmax()))
    return chosen


def read_conversation(folder: Path, name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The votes (user, item, rating), and the opinion group of every user that pol.is put into one."""
    if name in ("ubi", "brexit"):
        votes = pl.read_csv(folder / "polis" / name / "votes.csv.gz").sort("timestamp")
        votes = votes.select(user="voter-id", item="comment-id", rating="vote")
        groups = pl.read_csv(folder / "polis" / name / "participants-votes.csv.gz").select(
            user="participant", group="group-id"
        )
    else:
        votes = pl.read_csv(folder / name / "ratings.csv.gz")
        groups = pl.read_csv(folder / name / "groups.csv").select("user", group="polis_group")
    votes = votes.unique(["user", "item"], keep="last", maintain_order=True)
    return votes.with_columns(pl.col("rating").cast(pl.Float64)), groups.drop_nulls()


def conversations(seeds: int, folder: Path) -> Iterator[Row]:
    for name in ("ubi", "brexit", "vtaiwan", "bowling-green"):
        votes, groups = read_conversation(folder, name)
        for seed in range(100, 100 + seeds):  # thresholds were set while looking at other splits
            test = np.random.default_rng(seed).random(len(votes)) < 0.5
            train, held_out = votes.filter(~test), votes.filter(test).join(groups, on="user")
            signs = held_out.group_by("item", "group").agg(
                net=pl.col("rating").sum(), n=(pl.col("rating") != 0).sum()
            )  # fmt: skip
            consensus = group_informed_consensus(train.join(groups, on="user"), groups["group"].n_unique())
            made = plurank.Comparisons.from_ratings(train)
            for n_rankings, mixing in FITS:
                found = listed(plurank.MixedRanking(n_rankings, mixing=mixing, random_state=0).fit(made))
                n_agreed = sum(sign > 0 for sign in found.values())
                by_polis = dict.fromkeys(consensus["agree"][:n_agreed], 1)
                by_polis |= dict.fromkeys(consensus["disagree"][: len(found) - n_agreed], -1)
                row: Row = {
                    "what": "conversations",
                    "set": name,
                    "seed": seed,
                    "n_rankings": n_rankings,
                    "mixing": mixing,
                }
                for who, items in (("", found), ("polis_", by_polis)):
                    for least, how in ((LEAST_HELD_OUT, ""), (1, "_by_any_vote")):
                        right, judged = judge(items, signs.filter(pl.col("n") >= least))
                        row |= {f"{who}judged{how}": judged, f"{who}right{how}": right}
                yield row | {"listed": len(found)}


def judge(items: dict[object, int], signs: pl.DataFrame) -> tuple[int, int]:
    """Count the items with the sign claimed in every group, and those that any group has votes on."""
    nets = dict(signs.group_by("item").agg("net").iter_rows())
    judged = [item for item in items if item in nets]
    return sum(all(items[item] * net > 0 for net in nets[item]) for item in judged), len(judged)


def group_informed_consensus(votes: pl.DataFrame, n_groups: int) -> dict[str, list[object]]:
    counts = votes.group_by("item", "group").agg(
        n=pl.len(), agree=(pl.col("rating") > 0).sum(), disagree=(pl.col("rating") < 0).sum()
    )
    found = {}
    for side in ("agree", "disagree"):
        shares = counts.with_columns(share=(pl.col(side) + 1) / (pl.col("n") + 2))
        # a group without votes has a share of 1 / 2
        items = shares.group_by("item").agg(value=pl.col("share").product() * 0.5 ** (n_groups - pl.len()))
        found[side] = items.sort("value", "item", descending=[True, False])["item"].to_list()
    return found


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, help="the folder of real data")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="+", default=["polls", "judges", "committees", "conversations"])
    given = parser.parse_args()
    parts = {
        "polls": lambda: polls(given.seeds),
        "judges": lambda: judges(given.seeds),
        "committees": lambda: committees(given.seeds, given.data),
        "conversations": lambda: iter(()) if given.data is None else conversations(given.seeds, given.data),
    }
    for part in given.only:
        rows = []
        for row in parts[part]():
            print(row, flush=True)
            rows.append(row)
        if rows:
            write_results(f"common_ground_{part}", rows)
            summarise(rows)


def summarise(rows: list[Row]) -> None:
    frame = pl.DataFrame(rows, infer_schema_length=None)
    numbers = [
        name for name, dtype in frame.schema.items() if dtype.is_numeric() and name not in ("seed", "n_rankings")
    ]
    with pl.Config(tbl_rows=100, tbl_cols=30, tbl_width_chars=200):
        if "judged" in numbers or "right" in numbers:
            print(frame.group_by("what", "set", maintain_order=True).agg(pl.col(numbers).sum()))
        else:
            print(frame.group_by("what", "set", maintain_order=True).agg(pl.col(numbers).mean()))


if __name__ == "__main__":
    main()

"""New people and more data: how long folding somebody in takes, and how close an update comes to a fresh fit.

    python -m benchmarks.new_people [--seeds 5]

People simulated from Bradley-Terry mixtures. A model of the first half of the people's first half of comparisons is
updated with all other comparisons (old people and new) and held against a fit of everything; test comparisons are of
all people. ``update`` and ``before`` are held-out log-likelihoods per comparison minus that of the fresh fit.
"""

import time

import numpy as np

import plurank
from benchmarks.common import parser_of, seconds, write_results
from benchmarks.coverage import draw

SETTINGS = {"probability": (1000, 40, 4, 60, 1.0), "utility": (1000, 40, 4, 60, 1.0)}


def fold_in(mixing: str) -> dict[str, object]:
    """Time transform of 10,000 new people with 30 comparisons each, 10 rankings."""
    train, _, _ = draw((2000, 100, 10, 60, 1.0), mixing, 0)
    people, _, _ = draw((10_000, 100, 10, 30, 1.0), mixing, 1)
    model = plurank.MixedRanking(10, mixing=mixing, concentration=1.0, score_scale=1.0, random_state=0).fit(train)
    model.transform(people)
    took = seconds(lambda: model.transform(people), repeats=5)
    return {
        "what": "transform, microseconds a person",
        "mixing": mixing,
        "value": round(1e6 * took / people.n_users, 1),
    }


def update(mixing: str, seed: int) -> dict[str, object]:
    """Give how far an update, and the model before it, fall behind a fresh fit."""
    comparisons, _, _ = draw(SETTINGS[mixing], mixing, seed)
    known, test = comparisons.split(0.2, random_state=seed)
    users, rng = known.user_of_each(), np.random.default_rng(seed)
    first = (users < known.n_users // 2) & (rng.random(len(known)) < 0.5)
    begin = time.perf_counter()
    fresh = plurank.MixedRanking(4, mixing=mixing, random_state=seed).fit(known)
    took_fresh = time.perf_counter() - begin
    model = plurank.MixedRanking(4, mixing=mixing, random_state=seed).fit(known.select(first))
    best, before = fresh.score(test), model.score(test)
    begin = time.perf_counter()
    model.update(known.select(~first))
    took = time.perf_counter() - begin
    return {
        "what": "update against a fresh fit", "mixing": mixing, "seed": seed, "fresh": round(best, 5),
        "update": round(model.score(test) - best, 5), "before": round(before - best, 5),
        "value": round(took / took_fresh, 3),
    }  # fmt: skip


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    empty = {"what": "", "mixing": "", "seed": "", "fresh": "", "update": "", "before": "", "value": ""}
    rows = []
    for mixing in SETTINGS:
        for row in (fold_in(mixing), *(update(mixing, seed) for seed in seeds)):
            rows.append({**empty, **row})
            print(row, flush=True)
    write_results("new_people", rows)


if __name__ == "__main__":
    main()

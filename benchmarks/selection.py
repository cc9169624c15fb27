"""Does "auto" find the number of rankings that is there? Simulated people, and comparisons dealt to users at random.

    python -m benchmarks.selection [--seeds 10] [--only NAME ...]

noise-free: users follow one of K rankings each, without error. noisy: Bradley-Terry users who mix K rankings
(Dirichlet of concentration 1), by probability or by utility. shuffled: the comparisons of two noise-free groups, or of
users who mix two rankings, dealt to users at random, so that nobody differs from anybody but by chance: one ranking is
right. Seeds were not used to choose the rule (``plurank/mixed/candidates.py``).
"""

from collections import Counter
from collections.abc import Callable

import numpy as np

import plurank
from benchmarks.common import parser_of, write_results
from benchmarks.coverage import draw

N_ITEMS = 8
Draw = Callable[[int], plurank.Comparisons]


def noise_free(n_rankings: int, n_users: int = 200, per_user: int = 20) -> Draw:
    def draw_people(seed: int) -> plurank.Comparisons:
        rng = np.random.default_rng(seed)
        places = np.argsort([rng.permutation(N_ITEMS) for _ in range(n_rankings)], axis=1)
        users = np.repeat(np.arange(n_users), per_user)
        own = rng.integers(n_rankings, size=n_users)[users]
        first = rng.integers(N_ITEMS, size=len(users))
        second = (first + 1 + rng.integers(N_ITEMS - 1, size=len(users))) % N_ITEMS
        wins = places[own, first] < places[own, second]
        sides = np.where(wins, first, second), np.where(wins, second, first)
        return plurank.Comparisons.from_arrays(users, *sides, items=np.arange(N_ITEMS))

    return draw_people


def noisy(n_rankings: int, mixing: str, n_users: int, per_user: int) -> Draw:
    return lambda seed: draw((n_users, 12, n_rankings, per_user, 1.0), mixing, seed)[0]


def shuffled(people: Draw) -> Draw:
    def deal(seed: int) -> plurank.Comparisons:
        c = people(seed)
        rows = np.random.default_rng(seed).permutation(len(c))
        return plurank.Comparisons.from_arrays(
            c.user_of_each(), c.winners[rows], c.losers[rows], items=np.arange(c.n_items)
        )

    return deal


# what is drawn, how many rankings are right, and in how many seeds of all they have to be found, at least
CASES: dict[str, tuple[Draw, int, float]] = {
    "2 rankings, noise-free": (noise_free(2), 2, 0.9),
    "3 rankings, noise-free": (noise_free(3), 3, 0.0),
    "1 ranking, noise-free": (noise_free(1), 1, 0.95),
    "1 ranking, noisy": (noisy(1, "probability", 150, 20), 1, 0.95),
    "2 noise-free rankings, shuffled": (shuffled(noise_free(2)), 1, 0.95),
    "2 noisy rankings, shuffled": (shuffled(noisy(2, "utility", 150, 20)), 1, 0.95),
    "2 rankings by probability": (noisy(2, "probability", 200, 20), 2, 0.0),
    "3 rankings by probability": (noisy(3, "probability", 1000, 20), 3, 0.0),
    "3 rankings by utility": (noisy(3, "utility", 300, 30), 3, 0.0),
    "5 rankings by utility": (noisy(5, "utility", 500, 60), 5, 0.0),
}


def measure(name: str, people: Draw, right: int, seed: int) -> dict[str, object]:
    model = plurank.MixedRanking(random_state=seed).fit(people(1_000_000 + seed))
    assert model.selection_ is not None
    return {
        "case": name, "seed": seed, "right": right, "n_rankings": model.n_rankings_, "mixing": model.mixing_,
        "n_tried": len(model.selection_["candidates"]),
    }  # fmt: skip


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="twice as many where one ranking is right")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    given = parser.parse_args()
    failed = []
    for name in given.only:
        people, right, least = CASES[name]
        rows = [measure(name, people, right, seed) for seed in range(given.seeds * (2 if right == 1 else 1))]
        write_results("selection", rows, replacing="case")
        found = Counter(row["n_rankings"] for row in rows)
        print(f"{name}: {', '.join(f'{number} in {found[number]}' for number in sorted(found))}", flush=True)
        failed += [name] if found[right] < least * len(rows) else []
    if failed:
        raise SystemExit(f"the right number was found too rarely: {failed}")


if __name__ == "__main__":
    main()

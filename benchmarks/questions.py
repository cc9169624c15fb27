"""How many questions choosing them well saves, and how long choosing takes.

    python -m benchmarks.questions [--people 100] [--fits 3]

A model of 1,000 simulated people (50 items, 5 rankings, 40 comparisons each) gets to know new ones, whom it asks 20
questions each: pairs drawn at random, or those of ``next_pairs``. The error is the mean distance of the weights found
to the true ones (half the sum of absolute differences), and that of the predictions the mean absolute error of P(left
over right) over 100 pairs. The value is the number of chosen questions from which on the error is at most what random
ones reach with 20. Time is of one person with ten answers, 500 items and 10 rankings, in milliseconds.
"""

import numpy as np
from scipy.special import expit

import plurank
from benchmarks.common import parser_of, seconds, write_results
from benchmarks.coverage import draw

N_ITEMS, N_RANKINGS, N_QUESTIONS = 50, 5, 20
SETTING = (1000, N_ITEMS, N_RANKINGS, 40, 1.0)
PAIRS = np.triu_indices(N_ITEMS, 1)
JUDGED = np.random.default_rng(0).choice(len(PAIRS[0]), 100, replace=False)


class Visitor:
    """Somebody with true weights, who answers as the population does."""

    def __init__(self, mixing, scores, weights, rng):
        self.rng, self.weights = rng, weights
        leads = scores[PAIRS[0]] - scores[PAIRS[1]]
        self.chances = expit(leads @ weights) if mixing == "utility" else expit(leads) @ weights
        self._number = {pair: n for n, pair in enumerate(zip(*(side.tolist() for side in PAIRS), strict=True))}

    def answer(self, left: int, right: int) -> tuple[int, int]:
        low, high = sorted((left, right))
        low_wins = self.rng.random() < self.chances[self._number[low, high]]
        return (low, high) if low_wins else (high, low)


def interview(model, order, visitor, chosen: bool, questions) -> np.ndarray:
    """Ask 20 questions; give the errors of weights and of predictions after each, and before the first, (21, 2)."""
    answers, errors = [], []
    for n in range(N_QUESTIONS + 1):
        person = model.fold_in(answers)
        wrong = np.abs(person.predict(PAIRS[0][JUDGED], PAIRS[1][JUDGED]) - visitor.chances[JUDGED]).mean()
        errors.append((0.5 * np.abs(person.weights[order] - visitor.weights).sum(), wrong))
        pair = person.next_pairs().select("left", "right").row(0) if chosen else questions[n]
        answers.append(visitor.answer(*pair))
    return np.array(errors)


def compare(mixing: str, seed: int, n_people: int) -> dict[bool, np.ndarray]:
    """Give the mean errors (21, 2) of random and of chosen questions."""
    comparisons, scores, _ = draw(SETTING, mixing, seed)
    model = plurank.MixedRanking(N_RANKINGS, mixing=mixing, random_state=seed).fit(comparisons)
    order = plurank.align(model.rankings_, np.argsort(-scores.T, axis=1))
    rng = np.random.default_rng([seed, 1])
    errors = {False: 0.0, True: 0.0}
    for weights in rng.dirichlet(np.full(N_RANKINGS, SETTING[-1] / N_RANKINGS), n_people):
        drawn = rng.permutation(len(PAIRS[0]))[: N_QUESTIONS + 1]
        questions = [(int(PAIRS[0][n]), int(PAIRS[1][n])) for n in drawn]
        for chosen in errors:
            errors[chosen] = errors[chosen] + interview(
                model, order, Visitor(mixing, scores, weights, rng), chosen, questions
            )
    return {chosen: total / n_people for chosen, total in errors.items()}


def needed(random: np.ndarray, chosen: np.ndarray) -> int:
    """The number of chosen questions from which on they do as well as 20 random ones; 21: never."""
    return int(np.flatnonzero(chosen > random[N_QUESTIONS]).max(initial=-1)) + 1


def time_choice(mixing: str) -> dict[str, object]:
    comparisons, _, _ = draw((1000, 500, 10, 100, 1.0), mixing, 0)
    model = plurank.MixedRanking(10, mixing=mixing, concentration=10.0, score_scale=1.0, random_state=0).fit(
        comparisons
    )
    rng = np.random.default_rng(0)
    answers = [tuple(rng.choice(500, 2, replace=False).tolist()) for _ in range(10)]
    model.next_pair(answers)
    took = seconds(lambda: model.next_pair(answers), repeats=20)
    return {"what": "milliseconds for next_pair, 500 items", "mixing": mixing, "value": round(1e3 * took, 1)}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--fits", type=int, default=3)
    given = parser.parse_args()
    rows = []
    for mixing in ("probability", "utility"):
        curves = [compare(mixing, seed, given.people) for seed in range(given.fits)]
        random, chosen = (np.mean([curve[kind] for curve in curves], axis=0) for kind in (False, True))
        for e, what in enumerate(("weights", "predictions")):
            row = {
                "what": f"questions for the error of {what} that 20 random ones reach", "mixing": mixing,
                "value": needed(random[:, e], chosen[:, e]), "before": round(float(random[0, e]), 4),
                "random_20": round(float(random[-1, e]), 4), "chosen_10": round(float(chosen[10, e]), 4),
                "chosen_15": round(float(chosen[15, e]), 4), "chosen_20": round(float(chosen[-1, e]), 4),
            }  # fmt: skip
            rows.append(row)
            print(row, flush=True)
        rows.append({**dict.fromkeys(rows[0], ""), **time_choice(mixing)})
        print(rows[-1], flush=True)
    write_results("questions", rows)


if __name__ == "__main__":
    main()

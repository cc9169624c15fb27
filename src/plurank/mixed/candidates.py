"""Candidates for the number of rankings and the mixing: how well each predicts held-out comparisons, and the choice.

Ours. Every candidate is fitted to the same training comparisons from one initialisation and predicts the same held-out
ones, so that differences have standard errors over users.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from plurank.choices import MIXINGS, Auto, Mixing, MixingChoice, SplitBy
from plurank.data.comparisons import Comparisons, draw_held_out
from plurank.data.encoding import Labels, look_up
from plurank.data.split import say_too_few, some_users
from plurank.metrics.predictions import Influence
from plurank.mixed.fit import Settings, choose_priors_of, fit_to_predict, observe, predict
from plurank.mixed.priors import Priors
from plurank.mixed.users import Users
from plurank.random import as_generator, draw_seed, spawn
from plurank.store.store import Store
from plurank.text import count
from plurank.types import Floats, Progress

# comparisons to choose by: more where those of a user are many, as ratings make them, for the sake of the users
SELECTION_SAMPLE, LARGEST_SAMPLE, ENOUGH_USERS = 1_000_000, 10_000_000, 2_000
SHARE_OF_USERS, SHARE = 0.2, 0.2
FEWEST_USERS = 5  # of whom some can be held out
LEAST_HELD_OUT = 10  # comparisons, or nothing can be said
ENOUGH_HELD_OUT, MOST_REPEATS = 10_000, 4  # where fewer comparisons are held out, data are split several times
# So little is no reason for another ranking: of the log-likelihood per comparison, or of the gain over one ranking.
SLIGHT, SLIGHT_SHARE = 1e-3, 0.02
CLEAR, PERSONAL = 2.0, 1.5  # standard errors, by which probability mixing, and knowing the user, have to gain
AUTO_NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10)  # of rankings, among which "auto" chooses
COARSE = (1, 2, 4, 10)  # those that are tried first, with each mixing; then neighbours of what would be chosen
AS_MANY = " More rankings may predict better still: try larger numbers."
FEWER = " More rankings do not predict better, or only slightly."
ONE = " Several rankings do not predict better for knowing who answers."
Candidate = tuple[Mixing, int]


class CandidateRow(NamedTuple):
    """How well a candidate predicts: held-out log-likelihood per comparison of known users, of new users after they
    answered some questions, and of both; how much worse that is than the best; and how much it gains from knowing the
    user, instead of the mean weights. Each with its standard error over users."""

    mixing: Mixing
    n_rankings: int
    by_comparison: float
    by_comparison_se: float
    by_user: float
    by_user_se: float
    held_out: float
    held_out_se: float
    behind: float
    behind_se: float
    personal: float
    personal_se: float


class Choice(NamedTuple):
    """A chosen candidate, in words, with the rows of all candidates that were tried."""

    n_rankings: int
    mixing: Mixing
    answer: str
    rows: list[CandidateRow]
    influence: Influence | None

    def to_dict(self) -> dict[str, Any]:
        """Return the choice in plain values, None for NaN; every candidate says whether it was chosen."""
        return {
            "n_rankings": self.n_rankings,
            "mixing": self.mixing,
            "answer": self.answer,
            "candidates": [
                {name: None if value != value else value for name, value in row._asdict().items()}
                | {"chosen": self._is_of(row)}
                for row in self.rows
            ],
        }

    def _is_of(self, row: CandidateRow) -> bool:
        # one ranking is the same however it is mixed
        return row.n_rankings == self.n_rankings and (row.mixing == self.mixing or self.n_rankings == 1)


@dataclass(frozen=True)
class HeldOut:
    """Comparisons to fit, comparisons of the same users to predict, and new users' to fold in and to predict."""

    train: Comparisons
    known: Comparisons
    asked: Comparisons | None
    new: Comparisons | None

    @classmethod
    def of(cls, comparisons: Comparisons, by: SplitBy, rng: np.random.Generator) -> "HeldOut | None":
        """Hold out users, and of the others comparisons; new users are asked most of their comparisons first."""
        most, few = comparisons, None
        if comparisons.n_users >= FEWEST_USERS:
            most, few = comparisons.split(SHARE_OF_USERS, by="user", random_state=rng)
        known = _hold_out(most, by, rng)
        new = None if few is None else _hold_out(few, by, rng)
        return None if known is None else cls(*known, *(new or (None, None)))


def _hold_out(
    comparisons: Comparisons, by: SplitBy, rng: np.random.Generator
) -> tuple[Comparisons, Comparisons] | None:
    """Hold out comparisons or items of users with something left to train on; None where nothing can be."""
    kept, held_out = draw_held_out(comparisons, SHARE, by, rng)
    users = comparisons.user_of_each()
    held_out &= (np.bincount(users[kept], minlength=comparisons.n_users) > 0)[users]
    return (comparisons.select(kept), comparisons.select(held_out)) if kept.any() and held_out.any() else None


class Predictions(NamedTuple):
    """Sums by user: log-likelihood and weight of held-out comparisons, as a known user and as a new one, (M, 2, 2), and
    the log-likelihood by mean weights, (M,)."""

    own: Floats
    by_mean: Floats

    @property
    def both(self) -> Floats:
        """Log-likelihood and weight of all held-out comparisons of a user, (M, 2)."""
        return self.own.sum(axis=1)

    @property
    def personal(self) -> Floats:
        """The gain over predictions by mean weights, and the weight, (M, 2)."""
        return np.column_stack([self.both[:, 0] - self.by_mean, self.both[:, 1]])

    def gain_over(self, other: "Predictions") -> Floats:
        """The gain over another candidate, and the weight, (M, 2)."""
        return np.column_stack([self.both[:, 0] - other.both[:, 0], self.both[:, 1]])


class Candidates:
    """Candidates of one data set; each is fitted when it is asked for, once.

    Priors are chosen once for one ranking and once for ``typical`` ones, with each mixing.
    """

    def __init__(self, source: Comparisons | Store, settings: Settings, typical: int) -> None:
        rng = as_generator(settings.random_state)
        n = np.clip(ENOUGH_USERS * len(source) / source.n_users, SELECTION_SAMPLE, LARGEST_SAMPLE)
        self.sample = some_users(source, int(n), rng)
        self.typical = typical
        # the error of a rating is in all comparisons of its item
        self.repeats = _split_again(self.sample, "item" if settings.is_rated(source) else "comparison", rng)
        # candidates only have to be compared: the fit of the chosen one begins at the best of several
        init = "items" if settings.init == "best" else settings.init
        # an integer seed stays, so that priors are those that a fit of ``typical`` rankings would choose
        seed = settings.random_state
        seed = draw_seed(rng) if seed is None or isinstance(seed, np.random.Generator) else seed
        self.settings = replace(settings, init=init, ensemble=1, random_state=seed)
        self.found: dict[Candidate, Predictions] = {}
        self._priors: dict[Candidate, Priors] = {}

    @property
    def unit(self) -> str:
        """What predictions are counted by."""
        return "comparison"

    @cached_property
    def enough(self) -> bool:
        """Whether anything can be said."""
        return sum(len(parts.known) for parts in self.repeats) >= LEAST_HELD_OUT

    @cached_property
    def most_rankings(self) -> int:
        """The largest number of rankings that there are users for, and items: of more, weights are not determined."""
        if not self.repeats:
            return 1
        return min(self.sample.n_items, *(parts.train.n_users for parts in self.repeats))

    def evaluate(self, mixing: Mixing, n_rankings: int) -> Predictions:
        """Fit a candidate to every repeat, and predict what is held out there."""
        if (mixing, n_rankings) not in self.found:
            found = Predictions(np.zeros((self.sample.n_users, 2, 2)), np.zeros(self.sample.n_users))
            priors = self._priors_of(mixing, n_rankings).with_rankings(n_rankings)
            settings = replace(self.settings, mixing=mixing, n_rankings=n_rankings)
            for parts in self.repeats:
                _add_predictions(found, settings, priors, parts, self.sample.users)
            self.found[mixing, n_rankings] = found
        return self.found[mixing, n_rankings]

    def _priors_of(self, mixing: Mixing, n_rankings: int) -> Priors:
        key = mixing, 1 if n_rankings == 1 else self.typical
        if key not in self._priors:
            settings = replace(self.settings, mixing=mixing, n_rankings=key[1])
            self._priors[key] = choose_priors_of(settings, Users(self.sample))
        return self._priors[key]

    def choose(self) -> Choice:
        """Choose a mixing and, with it, the fewest rankings that predict at most slightly worse than the reference.

        The reference is the largest number that predicts as well as the best but for one standard error; fewer rankings
        have to lose no more than slightly even if they are one standard error worse than measured. Several rankings
        have to predict better for knowing the user: else they only describe what all users share.
        """
        mixing = self._choose_mixing()
        way = sorted((each for each in self.found if each[0] == mixing or each[1] == 1), key=lambda each: each[1])
        rows = {each: self._row(each, self.found[self._best(self.found)]) for each in self.found}
        best = self._best(way)
        loss = {each: self.gain(best, over=each) for each in way}
        reference = next(each for each in reversed(way) if loss[each][0] <= loss[each][1])
        slight = max(SLIGHT, SLIGHT_SHARE * loss[way[0]][0])
        chosen = next(each for each in way if each == reference or sum(self.gain(reference, over=each)) <= slight)
        reason = "" if len(way) == 1 else AS_MANY if chosen == way[-1] else FEWER
        gain, error = rows[chosen].personal, rows[chosen].personal_se
        if chosen[1] > 1 and way[0][1] == 1 and not (gain > PERSONAL * error and gain > SLIGHT / 2):
            chosen, reason = way[0], ONE
        listed = sorted(rows.values(), key=lambda row: (row.n_rankings > 1, row.mixing, row.n_rankings))
        answer = _answer(listed, rows[chosen], self.unit) + reason
        return Choice(*chosen[::-1], answer, listed, self._influence(chosen, way[0]))

    def _choose_mixing(self) -> Mixing:
        """Choose utility mixing, which predicts better on most real data, unless probability is clearly better."""
        several = [each for each in self.found if each[1] > 1]
        best = {
            mixing: self._best(way) for mixing in MIXINGS if (way := [each for each in several if each[0] == mixing])
        }
        if len(best) < len(MIXINGS):
            return next(iter(best), next(iter(self.found))[0])
        gain, error = self.gain(best["probability"], over=best["utility"])
        return "probability" if gain > max(CLEAR * error, SLIGHT) else "utility"

    def _best(self, candidates: Iterable[Candidate]) -> Candidate:
        return max(candidates, key=lambda each: mean_and_error(self.found[each].both)[0])

    def gain(self, candidate: Candidate, over: Candidate) -> tuple[float, float]:
        """The gain of a candidate over another per comparison, and its standard error: infinite for a single user."""
        gain, error = mean_and_error(self.found[candidate].gain_over(self.found[over]))
        return gain, float("inf") if np.isnan(error) else error

    def _row(self, candidate: Candidate, best: Predictions) -> CandidateRow:
        own = self.found[candidate]
        parts = own.own[:, 0], own.own[:, 1], own.both, best.gain_over(own), own.personal
        return CandidateRow(*candidate, *(figure for part in parts for figure in mean_and_error(part)))

    def _influence(self, chosen: Candidate, fewest: Candidate) -> Influence | None:
        """Judge whether the gain of the chosen number of rankings over one rests on a handful."""
        if chosen[1] == 1 or fewest[1] > 1:
            return None
        gained = self.found[chosen].gain_over(self.found[fewest])
        return Influence.of(gained[:, 0], gained[:, 1], self.sample.users)


def choose_settings(
    settings: Settings,
    n_rankings: int | Auto,
    mixing: MixingChoice,
    source: Comparisons | Store,
    on_progress: Progress,
) -> tuple[Settings, dict[str, Any] | None]:
    """Choose what is "auto"; return the settings with it, and the choice as plain values, None where nothing was."""
    numbers = AUTO_NUMBERS if n_rankings == "auto" else (n_rankings,)
    mixings = MIXINGS if mixing == "auto" else (mixing,)
    if settings.component != "bradley-terry":
        mixings = MIXINGS[:1]
    if numbers == (1,) or len(numbers) == len(mixings) == 1:
        return replace(settings, n_rankings=numbers[0], mixing=mixings[0]), None
    candidates = Candidates(source, settings, numbers[-1])
    if not candidates.enough:
        way = mixings[0] if numbers[0] == 1 else mixings[-1]
        how = "" if numbers[0] == 1 else f", mixed by {way}"
        answer = f"{say_too_few(candidates.sample)}, so that nothing was chosen: {count(numbers[0], 'ranking')}{how}."
        choice = Choice(numbers[0], way, answer, [], None)
    else:
        choice = search(candidates, numbers, mixings, on_progress)
    return replace(settings, n_rankings=choice.n_rankings, mixing=choice.mixing), choice.to_dict()


def search(candidates: Candidates, numbers: Sequence[int], mixings: Sequence[Mixing], on_progress: Progress) -> Choice:
    """Try some numbers of rankings with each mixing, then neighbours of what would be chosen until it stays chosen."""
    numbers = [number for number in numbers if number <= max(candidates.most_rankings, numbers[0])]

    def attempt(mixing: Mixing, number: int) -> None:
        on_progress(f"trying {count(number, 'ranking')}, mixed by {mixing}", 1.0 - 0.8 ** len(candidates.found))
        candidates.evaluate(mixing, number)

    for number in [number for number in numbers if number in COARSE] or numbers:
        for mixing in mixings[:1] if number == 1 else mixings:
            attempt(mixing, number)
    while True:
        choice = candidates.choose()
        at = numbers.index(choice.n_rankings)
        tried = {number for mixing, number in candidates.found if mixing == choice.mixing or number == 1}
        near = [number for number in numbers[max(at - 1, 0) : at + 2] if number not in tried]
        if not near:
            return choice
        for number in near:
            attempt(choice.mixing, number)


def _split_again(sample: Comparisons, by: SplitBy, rng: np.random.Generator) -> list[HeldOut]:
    """Split the sample, several times where few comparisons can be held out."""
    children = spawn(rng, MOST_REPEATS)
    first = HeldOut.of(sample, by, children[0])
    if first is None:
        return []
    n_repeats = int(np.clip(ENOUGH_HELD_OUT // len(first.known), 1, MOST_REPEATS))
    others = (HeldOut.of(sample, by, child) for child in children[1:n_repeats])
    return [first, *(parts for parts in others if parts is not None)]


def _add_predictions(found: Predictions, settings: Settings, priors: Priors, parts: HeldOut, users: Labels) -> None:
    """Fit, and add the log-likelihoods of what is held out to the sums by user."""
    fit = fit_to_predict(settings, Users(parts.train), priors)
    members = fit.members()
    known = [member.users for member in members]
    tests = [(parts.known, parts.train.users, known)]
    if parts.asked is not None and parts.new is not None:
        asked = observe(parts.asked, settings.from_ratings, fit.from_ratings, fit.rating_weight)
        tests.append((parts.new, parts.asked.users, [member.fold_in(asked) for member in members]))
    for kind, (test, of, own) in enumerate(tests):
        rows = look_up(test.users, of, "user")[test.user_of_each()]
        counts = np.ones(len(test)) if test.weights is None else test.weights
        codes = look_up(test.users, users, "user")
        begins = test.offsets[:-1]
        for_all = np.full(len(rows), -1, dtype=rows.dtype)
        logs, by_mean = (
            np.log(np.maximum(predict(members, own, who, test.winners, test.losers), 1e-300)) * counts
            for who in (rows, for_all)
        )
        found.own[codes, kind, 0] += np.add.reduceat(logs, begins)
        found.own[codes, kind, 1] += np.add.reduceat(counts, begins)
        found.by_mean[codes] += np.add.reduceat(by_mean, begins)


def mean_and_error(sums: Floats) -> tuple[float, float]:
    """Mean per comparison and its standard error, from sums by user (users, 2): of logs and of comparisons."""
    sums = sums[sums[:, 1] > 0]
    if not len(sums):
        return float("nan"), float("nan")
    mean = sums[:, 0].sum() / sums[:, 1].sum()
    if len(sums) == 1:
        return float(mean), float("nan")
    rest = sums[:, 0] - mean * sums[:, 1]
    error = np.sqrt((rest**2).sum() * len(rest) / (len(rest) - 1)) / sums[:, 1].sum()
    return float(mean), float(error)


def _answer(rows: list[CandidateRow], chosen: CandidateRow, unit: str) -> str:
    how = f", mixed by {chosen.mixing}" if chosen.n_rankings > 1 else ""
    text = f"{count(chosen.n_rankings, 'ranking')}{how}: held-out log-likelihood {chosen.held_out:.4f} a {unit}"
    rivals = [f"{row.held_out:.4f} with one ranking" for row in rows if row.n_rankings == 1]
    others = [row for row in rows if row.mixing != chosen.mixing and row.n_rankings > 1]
    if others:
        best = max(others, key=lambda row: row.held_out)
        rivals.append(f"{best.held_out:.4f} at best when mixed by {best.mixing}")
    return f"{text}, against {' and '.join(rivals)}." if rivals and chosen.n_rankings > 1 else f"{text}."


def check_selection(value: Any) -> None:
    """Raise a ValueError where a value, read from a file, is not what ``choose_settings`` returns."""
    if value is None:
        return
    names = {"n_rankings": int, "mixing": str, "answer": str, "candidates": list}
    sound = isinstance(value, dict) and value.keys() == names.keys()
    sound = sound and all(type(value[name]) is kind for name, kind in names.items()) and value["mixing"] in MIXINGS
    if not sound or not all(_is_row(row) for row in value["candidates"]):
        raise ValueError("selection_ is not a choice among candidates")


def _is_row(row: Any) -> bool:
    if not isinstance(row, dict) or row.keys() != {*CandidateRow._fields, "chosen"} or type(row["chosen"]) is not bool:
        return False
    is_candidate = row["mixing"] in MIXINGS and type(row["n_rankings"]) is int and row["n_rankings"] >= 1
    # without new users, or with one user alone, some are not known
    figures = {name: value for name, value in row.items() if name not in ("mixing", "n_rankings", "chosen")}
    return is_candidate and all(
        type(value) is float or (value is None and name not in ("held_out", "behind", "personal"))
        for name, value in figures.items()
    )

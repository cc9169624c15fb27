"""One person a model has not been fitted to: what their answers say about them, and what to ask them next."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from plurank.data.build import refuse_missing, refuse_rows
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import (
    Labels,
    as_series,
    look_up,
    object_array,
)
from plurank.engine.blocks import as_comparisons
from plurank.exceptions import DataError
from plurank.inference.likelihood import UserLikelihood, user_seeds, with_prior
from plurank.inference.posterior import LEVEL, N_DRAWS, Draws, WeightPrior
from plurank.inference.questions import choose_questions
from plurank.inference.user_effects import UserEffects, find_user_effects
from plurank.models.base import RankingModel, weight_table
from plurank.models.prediction import refuse_unknown
from plurank.types import Codes, Floats
from plurank.validation import check_share, check_whole

N_POSTERIOR_DRAWS = 1000


class Person:
    """One person with a few answers, by a fitted model that stays as it is; made by ``model.fold_in``.

    Parameters
    ----------
    model : RankingModel
        The fitted model.
    answers : Comparisons
        The answers, of the model's own items.
    prior : WeightPrior or None, default=None
        The prior of the person's weights, if it is not that of everybody.

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(200, 4, 2, 40, rankings=[[0, 1, 2, 3], [3, 2, 1, 0]], random_state=0)
    >>> model = plurank.MixedRanking(2, random_state=0).fit(made.comparisons)
    >>> person = model.fold_in([(3, 0), (3, 1), (2, 0)])
    >>> person.n_answers, person.weights.shape
    (3, (2,))
    """

    def __init__(self, model: RankingModel, answers: Comparisons, prior: WeightPrior | None = None) -> None:
        self._model = model
        self._answers = answers
        self._prior = prior

    def __repr__(self) -> str:
        shares = ", ".join(f"{weight:.2f}" for weight in self.weights)
        return f"<Person: {self.n_answers:,} answers, weights {shares}>"

    @property
    def n_answers(self) -> int:
        """Number of answers."""
        return len(self._answers)

    @cached_property
    def _draws(self) -> list[Draws]:
        """What the weights may be, for every fit that the model averages over."""
        return [self._draw(likelihood) for likelihood in self._likelihoods]

    @cached_property
    def _likelihoods(self) -> list[UserLikelihood]:
        """How the person decides, for every fit that the model averages over."""
        found = list(self._model.likelihoods())
        return found if self._prior is None else [with_prior(each, self._prior.counts) for each in found]

    def _draw(self, likelihood: UserLikelihood) -> Draws:
        weighed = self._model.as_observed(self._answers)
        return likelihood.draw_posterior(weighed, N_POSTERIOR_DRAWS, int(user_seeds(weighed, 0)[0]))

    @property
    def weights(self) -> Floats:
        """Posterior mean of the weights on the rankings, ndarray of shape (K,)."""
        return self._draws[0].mean

    def weight_intervals(self, level: float = LEVEL) -> pl.DataFrame:
        """Return the weights with credible intervals.

        Parameters
        ----------
        level : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        polars.DataFrame
            Columns ranking (from 1), weight, lower, upper.

        Raises
        ------
        ParameterError
            If ``level`` is not between 0 and 1.
        """
        check_share("level", level)
        prior, draws, weights = self._prior or self._model.membership_prior, self._draws[0], self.weights
        if prior.surplus:
            draws = self._draw(with_prior(self._likelihoods[0], prior.trusted))
        lower, upper = draws.bounds(level)
        lower, upper = np.minimum(lower, weights), np.maximum(upper, weights)
        return weight_table(weights, *prior.widen(weights, lower, upper, level))

    def rank(self) -> pl.DataFrame:
        """Rank all items for the person, best first, with intervals of the ranks.

        Returns
        -------
        polars.DataFrame
            Columns item, score, rank, lower, upper. The score is the probability to be preferred to another item drawn
            at random; lower and upper bound the rank with 90% probability.
        """
        return self._model.rank_person(self.weights, self._draws[0].resample(N_DRAWS), self._own)

    def predict(self, left: Sequence[Any], right: Sequence[Any]) -> Floats:
        """Predict the probability that the person prefers one item to another.

        Parameters
        ----------
        left, right : sequence of labels, of length n
            Items to compare.

        Returns
        -------
        ndarray of shape (n,)
            Probability that the left item is preferred.

        Raises
        ------
        DataError
            If the sides differ in length, or the model does not know an item.

        Examples
        --------
        >>> import plurank
        >>> plurank.blank_model(["tea", "milk"]).fold_in().predict(["tea"], ["milk"]).round(6).tolist()
        [0.5]
        """
        sides = (self._codes(left, "left"), self._codes(right, "right"))
        if len(sides[0]) != len(sides[1]):
            raise DataError(f"expected {len(sides[0]):,} items on the right, as on the left, got {len(sides[1]):,}.")
        chances = self._by_rankings(*sides)
        return chances if self._own is None else self._own.shift(chances, np.zeros_like(sides[0]), *sides)

    def _by_rankings(self, left: Codes, right: Codes) -> Floats:
        """P(left preferred), (n,), by the rankings that the person follows."""
        each = [law.chances(draws.weights, left, right) @ draws.shares for law, draws in self._fits()]
        mean: Floats = np.mean(each, axis=0)
        return mean

    @cached_property
    def _own(self) -> UserEffects | None:
        """How the person deviates from the rankings they follow, by their answers."""
        if self._model.user_effect_scale_ is None or not self.n_answers:
            return None
        chances = self._by_rankings(self._answers.winners, self._answers.losers)
        return find_user_effects(self._answers, chances, self._model.user_effect_scale_)

    def _codes(self, items: Iterable[Any], name: str) -> Codes:
        return self._model.find_items(as_series(items, name), name)

    def next_pairs(self, n: int = 1, *, skip: Iterable[tuple[Any, Any]] = ()) -> pl.DataFrame:
        """Return the pairs of items to ask next: those with the largest expected information gain about the weights.

        Parameters
        ----------
        n : int, default=1
            The most pairs to return.
        skip : iterable of pairs of labels, default=()
            Pairs not to ask, in either order; pairs that were answered are never asked again.

        Returns
        -------
        polars.DataFrame
            Columns left, right, gain (in bits), probability (that left is preferred); the largest gain first.

        Raises
        ------
        DataError
            If ``skip`` does not consist of pairs.
        ParameterError
            If ``n`` is not an integer >= 1.

        Examples
        --------
        >>> import plurank
        >>> person = plurank.blank_model(["tea", "milk", "juice"]).fold_in([("tea", "milk")])
        >>> person.next_pairs(5).height
        2
        """
        check_whole("n", n, 1)
        law, draws = next(self._fits())
        items = self._model.items_
        found = choose_questions(law, draws, len(items), n, self._asked(skip))
        sides = [as_series(items[codes], name) for name, codes in (("left", found.left), ("right", found.right))]
        return pl.DataFrame([*sides, pl.Series("gain", found.gain), pl.Series("probability", found.probability)])

    def _fits(self) -> Iterator[tuple[UserLikelihood, Draws]]:
        return zip(self._likelihoods, self._draws, strict=True)

    def _asked(self, skip: Iterable[tuple[Any, Any]]) -> list[tuple[int, int]]:
        """Return the numbers of items of pairs that must not be asked; those of items unknown do not matter."""
        answered = self._answered()
        if not isinstance(skip, Iterable):
            raise DataError(f"expected pairs of two items to skip, got {skip!r:.60}.")
        skipped = [_as_pair(pair) for pair in skip]
        if not skipped:
            return answered
        left, right = (look_up(object_array(side), self._model.items_, "item") for side in zip(*skipped, strict=True))
        return [*answered, *zip(left.tolist(), right.tolist(), strict=True)]

    def _answered(self) -> list[tuple[int, int]]:
        """Return the numbers of items of pairs that were answered."""
        return list(zip(self._answers.winners.tolist(), self._answers.losers.tolist(), strict=True))


def first_pair(person: Person) -> tuple[Any, Any]:
    """Return the pair to ask a person next; raise where every pair was asked."""
    pairs = person.next_pairs(1)
    if not len(pairs):
        raise DataError("every pair of items was asked already; there is no next one.")
    return pairs.select("left", "right").row(0)


def as_answers(answers: Any, items: Labels) -> Comparisons:
    """Take the answers of one person: pairs (winner, loser), comparisons, or None.

    Pairs were answered one by one: whatever the model was fitted to, they were not made from ratings.
    """
    if answers is not None and not isinstance(answers, Sequence):
        return _of_one_user(as_comparisons(answers))
    pairs = [_as_pair(pair) for pair in answers or ()]
    winners, losers = _find_answers([label for pair in pairs for label in pair], items).reshape(-1, 2).T.copy()
    refuse_rows(winners == losers, "an item is compared with itself", "Drop such answers")
    ends = np.array([0, len(pairs)], np.int64)
    return Comparisons(winners, losers, ends, items, np.zeros(1, np.int64), rated=False)


def _find_answers(labels: list[Any], items: Labels) -> Codes:
    """Return the numbers of items in pairs; refuse those that are missing or that the model does not know."""
    column = as_series(object_array(labels), "item")
    refuse_missing(column, np.arange(len(labels)) // 2 + 1)
    codes = look_up(column, items, "item")
    refuse_unknown([label for label, code in zip(labels, codes, strict=True) if code < 0])
    return codes


def _of_one_user(comparisons: Comparisons) -> Comparisons:
    if comparisons.n_users != 1:
        raise DataError(
            f"expected the answers of one person, got {comparisons.n_users:,} users. Use transform for many."
        )
    return comparisons


def _as_pair(pair: Any) -> tuple[Any, Any]:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise DataError(f"expected pairs of two items, got {pair!r:.60}.")
    return pair[0], pair[1]

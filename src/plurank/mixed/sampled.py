"""What a MixedRanking does where it was fitted to ratings, votes or rankings: its posterior was sampled.

Ours. ``estimator.py`` has the model itself; each method here leaves models of comparisons to the class below.
"""

import warnings
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from plurank import models
from plurank.choices import Auto
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import as_series, look_up
from plurank.data.rated import RatedItems
from plurank.data.split import look_rated
from plurank.engine.blocks import read_observations
from plurank.engine.local import Engine
from plurank.exceptions import Argument, ConvergenceWarning, DataError, ParameterError, Words
from plurank.inference.posterior import LEVEL
from plurank.mixed import rated_fields
from plurank.mixed.people import PeopleEffects
from plurank.models.base import FitResult
from plurank.models.prediction import ScoreMethod, skip_unknown
from plurank.models.sklearn_api import check_is_fitted
from plurank.random import RandomState
from plurank.regression.shares import Interval
from plurank.store.rated import RatedStore
from plurank.text import count, percent
from plurank.types import Codes, Floats, Progress
from plurank.validation import check_whole

if TYPE_CHECKING:
    from plurank.mixed.rated import RatedSettings
    from plurank.mixed.utilities import UtilityPosterior
    from plurank.models.person import Person
    from plurank.regression.ridge import FeatureMatrix


def as_sampled(source: Any) -> Comparisons | RatedItems | RatedStore:
    """Take data whose posterior can be sampled; raise for comparisons of which it cannot."""
    if isinstance(source, (RatedItems, RatedStore)):
        return source
    sampling: Words = (Argument("inference", "sampling"),)
    hint: Words = ("Leave ", Argument("inference"), " out.")
    if not isinstance(source, Comparisons):
        raise ParameterError(
            (*sampling, " takes comparisons in memory, got a store."),
            parameter="inference",
            hint=(*hint, " Or in Python fit(store.to_comparisons())."),
        )
    if look_rated(source):
        raise ParameterError(
            (*sampling, " takes comparisons that users made; these were made from ratings or rankings."),
            parameter="inference",
            hint="Fit Ratings or Rankings themselves, which are always sampled.",
        )
    if source.weights is not None:
        what = "ties, which count as half a comparison each way" if source.n_ties else "weights"
        raise ParameterError(
            (*sampling, f" takes comparisons that count once each, got {what}."),
            parameter="inference",
            hint=("Leave out ties (`--ties drop`) or weights; or leave out ", Argument("inference"), "."),
        )
    return source


class SampledRankings(PeopleEffects, loadable=False):
    """Rankings whose posterior may have been sampled; ``posterior`` is None where it was not."""

    n_rankings: int | Auto
    n_factors: int | Auto
    ensemble: int
    max_iter: int
    random_state: RandomState
    observed_: str | None = None
    convergence_: dict[str, Any] | None = None
    explained_: dict[str, Any] | None = None
    draw_scores_: Floats | None = None
    draw_score_slopes_: Floats | None = None
    draw_factor_slopes_: Floats | None = None
    draw_score_roots_: Floats | None = None
    draw_factor_roots_: Floats | None = None
    levels_: Floats

    @property
    def posterior(self) -> "UtilityPosterior | None":
        """Draws from the posterior of a model fitted to ratings, votes or rankings; None after a fit to comparisons."""
        if self.draw_scores_ is None:
            return None
        known = self.__dict__.get("_posterior")
        if known is None or known[0] is not self.draw_scores_:
            from plurank.mixed.utilities import UtilityPosterior

            known = self._posterior = (self.draw_scores_, UtilityPosterior.of(self))
        found: UtilityPosterior = known[1]
        return found

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "_posterior"}

    def _fit_rated(
        self,
        source: Comparisons | RatedItems | RatedStore,
        engine: Engine,
        on_progress: Progress,
        checkpoint: str | PathLike[str] | None,
        matrix: Floats | None,
        features: "FeatureMatrix | None",
    ) -> FitResult:
        from plurank.mixed.rated import fit_rated
        from plurank.thurstone.comparisons import Compared

        if checkpoint is not None:
            raise ParameterError(
                (Argument("checkpoint"), " is for fits of comparisons in a store; ratings are sampled without."),
                parameter="checkpoint",
            )
        observed: Any = Compared(source) if isinstance(source, Comparisons) else source
        return fit_rated(observed, self.rated_settings(source), engine, on_progress, matrix, features)

    def rated_settings(self, source: Comparisons | RatedItems | RatedStore) -> "RatedSettings":
        """Return the parameters of a fit to ratings or rankings; raise where one is for comparisons."""
        from plurank.mixed.rated import LEAST_CHAINS, RatedSettings

        for name, default in (("concentration", None), ("score_scale", None), ("from_ratings", None), ("init", "best")):
            if getattr(self, name) != default:
                raise ParameterError(
                    (Argument(name), " is for fits of comparisons by optimisation; here the posterior is sampled."),
                    parameter=name,
                    hint=("Leave ", Argument(name), " out, or in Python fit(ratings.to_comparisons())."),
                )
        if len(source) < 2:
            raise DataError("expected at least two observations to learn from, got fewer.")
        n_chains = max(self.ensemble, LEAST_CHAINS)
        return RatedSettings(self.n_rankings, self.n_factors, n_chains, self.max_iter, self.random_state)

    def _update_draws(self, more: Comparisons | RatedItems, people: Any, on_progress: Progress) -> None:
        from plurank.mixed.rated_update import update_rated

        for name, value in update_rated(self, more, people, on_progress).items():
            setattr(self, name, value)

    def _warn_if_unfinished(self) -> None:
        if self.posterior is None or self.convergence_ is None or self.converged_:
            super()._warn_if_unfinished()
            return
        chains, worst = self.convergence_["n_chains"], self.convergence_["pair_r_hat"]
        message = (
            f"{chains} chains of {self.n_iter_} sweeps do not agree yet (R-hat {worst:.2f} of the probability of a "
            "pair, expected at most 1.1); the fit is kept."
        )
        hint = ("Try a larger ", Argument("max_iter"), ".")
        warnings.warn(ConvergenceWarning(message, hint=hint), stacklevel=4)

    def _rated_details(self, posterior: "UtilityPosterior") -> dict[str, str]:
        n_factors = posterior.draws[0].shape.n_factors
        found = {
            "a ranking is": "a score per item: its expected utility, in log odds of being preferred",
            "mixing": "an item has one utility for a user: the weighted average of the rankings' scores, and an error",
        }
        if self.observed_ == "comparisons":
            found["mixing"] = (
                "an item has one utility for a user: the weighted average of the rankings' scores, and something of "
                "the user's own"
            )
            found["errors"] = "each comparison has an error of its own, so that users may contradict themselves"
        if posterior.scale.n_cuts:
            found["rating scale"] = f"{count(posterior.scale.n_cuts, 'threshold')} of each user between the values"
        if self.explained_ is not None:
            share, n = percent(self.explained_["share"]), count(self.explained_["n_users"], "user")
            found["predictions"] = (
                f"use {count(n_factors, 'factor')} beside the rankings, which explain {share} of how much the expected "
                f"utilities of {n} vary between items"
            )
        if self.convergence_ is not None:
            found["sampling"] = rated_fields.describe_convergence(self.convergence_, len(posterior.draws))
        return found

    def evaluate(self, X: Any) -> dict[str, float]:
        """Predict test comparisons, ratings or rankings once, and measure how well.

        Parameters
        ----------
        X : Comparisons, Ratings, Rankings, Store or data frame
            Test data of known items; of ratings and rankings, any two items of a user are compared.

        Returns
        -------
        dict
            log_likelihood and accuracy, the means over comparisons as returned by ``score`` and ``accuracy``;
            n_comparisons, n_users and n_known_users, those whom the model was fitted to. Where it was fitted to ratings
            and X are ratings: rating_log_likelihood, rmse and mae, the means over ratings. Where it was fitted to
            ratings or rankings and X are rankings: ballot_log_likelihood, the mean over users of the log probability of
            the whole ranking; a model of rankings takes ratings as rankings.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the data are not valid or have unknown items.
        """
        found = super().evaluate(X)
        said = self._rated(X)
        if self.posterior is None or said is None:
            return found
        from plurank.mixed.rated_quality import evaluate_directly

        rows = look_up(said.users, self.users_, "user")
        return {**found, **evaluate_directly(self.posterior, said, rows)}

    def score(
        self,
        X: Any,
        y: None = None,
        *,
        method: ScoreMethod = "predictive",
        n_particles: int = 100,
        random_state: RandomState = 0,
    ) -> float:
        """Return the mean log-likelihood per test comparison; or, from left to right, per rating or ballot.

        Parameters
        ----------
        X : Comparisons, Ratings, Rankings, Store or data frame
            Test data of known items.
        y : None
            Ignored; scikit-learn passes it.
        method : {"predictive", "left-to-right"}, default="predictive"
            "predictive" takes each comparison by itself, also where X are ratings or rankings: known users are
            predicted with their fitted weights, others with the mean weights. "left-to-right" takes all that a user
            said together, as somebody new: comparisons with weights integrated over the prior; ratings one after the
            other, each predicted from those before (the mean per rating); rankings as whole ballots (the mean per
            user). The latter two only where the model was fitted to ratings, votes or rankings; a model of rankings
            takes ratings as rankings.
        n_particles : int, default=100
            Particles of "left-to-right"; of ratings, draws of a user for every rating, at least one for each draw of
            the model.
        random_state : int, numpy.random.Generator or None, default=0
            Seed of "left-to-right".

        Returns
        -------
        float
            Mean over comparisons, by their weights (guessing gives -log 2 = -0.693), ratings, or ballots.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the data are not valid or have unknown items.
        ParameterError
            If ``method`` is unknown, or ``n_particles`` is not an integer >= 1.

        Notes
        -----
        See ``TopicRanking.score`` for "left-to-right" with comparisons. With ratings its cost grows with the square of
        the number of a user's ratings.
        """
        said = self._rated(X) if method == "left-to-right" else None
        if self.posterior is None or said is None:
            return super().score(X, y, method=method, n_particles=n_particles, random_state=random_state)
        check_whole("n_particles", n_particles, 1)
        from plurank.mixed.rated_quality import score_sequences

        return score_sequences(self.posterior, said, n_particles, random_state)

    def _rated(self, X: Any) -> RatedItems | None:
        """Take ratings or rankings as the model numbers them; None for other data, or where none were sampled."""
        check_is_fitted(self)
        said = read_observations(X) if self._takes_ratings else None
        return self.posterior.in_own_items(said) if self.posterior and isinstance(said, RatedItems) else None

    def utilities(self, users: Sequence[Any], rows: Codes, items: Codes) -> Floats:
        """How much users, given by their rows, -1 for unknown ones, like items, in log odds, (n,)."""
        if self.posterior is not None:
            return self.posterior.utilities(users, rows, items)
        return super().utilities(users, rows, items)

    def _rank_by_draws(self, user: Any) -> pl.DataFrame | None:
        if self.posterior is None:
            return None
        self.weights_of(user, None)  # raises for somebody unknown
        return self.posterior.rank(self.posterior.users(), int(look_up([user], self.users_, "user")[0]))

    def _person(self, answers: Any, described: Floats | None = None) -> "Person":
        if self.posterior is None:
            return models.Person(self, self._answers_of(answers), self.prior_of(described))
        from plurank.mixed.utilities import RatedPerson

        as_they_are = answers is None or isinstance(answers, (list, tuple)) or not self._takes_ratings
        said = answers if as_they_are else read_observations(answers)
        if not isinstance(said, RatedItems):
            return RatedPerson(self, self._answers_of(answers), described)
        if said.n_users != 1:
            raise DataError(f"expected the answers of one person, got {said.n_users:,} users. Use transform for many.")
        return RatedPerson(self, self.posterior.in_own_items(said), described)

    def _as_said(self, X: Any) -> Any:
        return read_observations(X) if self._takes_ratings else super()._as_said(X)

    @property
    def _takes_ratings(self) -> bool:
        """Whether ratings and rankings are taken as they are, and not as comparisons."""
        return self.posterior is not None and self.observed_ != "comparisons"

    def _transform_source(self, source: Any, unknown: str, people: Any = None) -> Floats:
        source = source.to_memory() if isinstance(source, RatedStore) else source
        if self.posterior is None or not (self._takes_ratings and isinstance(source, RatedItems)):
            return super()._transform_source(source, unknown, people)
        known = source if unknown == "error" else skip_unknown(source, self.items_)
        weights = np.tile(self.mean_weights_, (source.n_users, 1))
        if len(known):
            rows = look_up(known.users, source.users, "user")
            own = self.posterior.in_own_items(known)
            weights[rows] = self.posterior.weights(own, self.describe_users(known.users, people))
        return weights

    def agreement(self, level: float = LEVEL) -> pl.DataFrame:
        """Return the share of each camp that agrees with each item, where the data are agree/disagree votes.

        A camp is the users who follow the same ranking most. Users who cast a single vote, or the same vote throughout,
        have no camp where counts are concerned.

        Parameters
        ----------
        level : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        polars.DataFrame
            One row for every item and camp; none where the model was not fitted to agree/disagree votes. Columns item,
            text, ranking (from 1); agree, passed, disagree (counts); share, lower, upper: the share that agrees among
            those who agree or disagree, with its interval. A model fitted to the votes themselves adds expected,
            expected_lower, expected_upper: the share expected of everybody in the camp, also of those who did not
            vote on the item, from draws of the posterior.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If ``level`` is not between 0 and 1.
        """
        counted, drawn = super().agreement(level), self.draw_agreement()
        if drawn is None or counted.is_empty():
            return counted
        parts = Interval.of(drawn, level)
        names = ("expected", "expected_lower", "expected_upper")
        columns = zip(names, parts, strict=True)
        return counted.with_columns(pl.Series(name, part.ravel(), nan_to_null=True) for name, part in columns)

    def draw_agreement(self) -> Floats | None:
        """Draw the share of each camp that is expected to agree with each item, (D, Q, K); None of other data."""
        if self.posterior is None or self.observed_ != "votes":
            return None
        return self.posterior.agreement(self.user_weights_.argmax(axis=1), len(self.mean_weights_))

    def rating_scale(self) -> pl.DataFrame:
        """Return how users use the rating scale, where the model was fitted to ratings or votes.

        Returns
        -------
        polars.DataFrame
            One row for every value, ascending: value, ratings (how many), share (of all ratings), threshold (the mean
            over users of the utility above which they give this value or a higher one; null for the lowest), spread
            (its standard deviation over users). Utilities have a standard deviation of 1 around what is expected.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If the model was not fitted to ratings or votes.
        """
        check_is_fitted(self)
        if self.posterior is None or not len(self.levels_):
            raise ParameterError("the model was not fitted to ratings or votes, so that it has no rating scale.")
        return self.posterior.scale_use()

    def explained_by_user(self) -> pl.DataFrame:
        """Return how much of what users are expected to prefer the rankings alone explain, for every user.

        Returns
        -------
        polars.DataFrame
            Columns user; variance, that of the user's expected utilities between items; share, how much of it the
            rankings explain: 1 where predictions use no factors, and below 0 where the rankings mislead.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If the posterior was not sampled.
        """
        check_is_fitted(self)
        if self.posterior is None:
            raise ParameterError(
                "the posterior was not sampled, and the rankings explain predictions alone.",
                hint='Fit Ratings or Rankings, or comparisons with inference="sampling", which use factors.',
            )
        from plurank.mixed.rated import explain_users

        variance, share = explain_users(self.posterior.by_rankings, self.posterior.draws)
        columns = [as_series(self.users_, "user"), pl.Series("variance", variance), pl.Series("share", share)]
        return pl.DataFrame(columns)

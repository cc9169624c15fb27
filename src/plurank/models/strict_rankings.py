"""Models of strict rankings: how they decide, and how users are weighed once the rankings are found."""

from collections.abc import Callable
from typing import Any

import numpy as np

from plurank.components.strict import FIRST_FLIP, Strict
from plurank.data.comparisons import Comparisons
from plurank.data.sampling import every_nth_user
from plurank.data.store import Store
from plurank.engine.local import Engine
from plurank.engine.sources import map_users
from plurank.inference.user_weights import fit_flip, infer_weights
from plurank.models.base import Codes, Floats, RankingModel
from plurank.progress import Progress

N_WEIGHING_ROUNDS = 2
FLIP_SAMPLE = 500_000  # comparisons
STAGE = "weighing rankings for every user"


class StrictRankings(RankingModel):
    """A model whose rankings are strict, but for a share of choices that go against them."""

    flip_probability_: float

    def _component(self) -> Strict:
        return Strict(self.rankings_, self.flip_probability_)

    def _weigh_users(
        self,
        source: Comparisons | Store,
        fit_prior: Callable[[Comparisons], None],
        on_progress: Progress,
        engine: Engine,
    ) -> None:
        """Fit prior and flip probability in turns on some of the users, then the weights of all."""
        sample = every_nth_user(source, FLIP_SAMPLE)
        self.flip_probability_, weights = FIRST_FLIP, None
        for turn in range(N_WEIGHING_ROUNDS):
            on_progress(STAGE, turn / (N_WEIGHING_ROUNDS + 1))
            fit_prior(sample)
            weights = infer_weights(sample, self.rankings_, self.flip_probability_, self._prior(), weights)
            self.flip_probability_ = fit_flip(sample, self.rankings_, weights)
        how = (self.rankings_, self.flip_probability_, self._prior())
        self.user_weights_ = np.concatenate(list(map_users(source, weigh_users, how, engine)))
        on_progress(STAGE, 1.0)

    def _infer_weights(self, comparisons: Comparisons) -> Floats:
        return infer_weights(comparisons, self.rankings_, self.flip_probability_, self._prior())

    def _token_likelihoods(self, winners: Codes, losers: Codes) -> Floats:
        return self._component().chances(winners, losers)

    def _item_scores(self, weights: Floats) -> Floats:
        return self._component().mean_wins() @ weights


def weigh_users(how: tuple[Any, ...], _: int, users: Comparisons) -> Floats:
    """Weigh rankings for users, given rankings, flip probability and prior."""
    return infer_weights(users, *how)

"""What all estimators share: the base class, persistence, and what can be asked of a fitted model.

``MixedRanking`` is a ``ScoredRankings`` (``mixed.leaderboard``: ranks with intervals), this is a ``RankingModel``
(``base``: the fit template and rankings), this is a ``PreferenceModel`` (``prediction``: weights and predictions), and
this is an ``Estimator`` (``sklearn_api``).
"""

import lazy_loader

# the names in __init__.pyi, imported on first use
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""What all estimators share: the base class, persistence, and what can be asked of a fitted model.

``MixedRanking`` is a ``ScoredRankings`` (``mixed.leaderboard``: ranks with intervals), this is a ``RankingModel``
(``base``: the fit template and rankings), this is a ``PreferenceModel`` (``prediction``: weights and predictions), and
this is an ``Estimator`` (``sklearn_api``).
"""

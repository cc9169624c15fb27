"""TopicRanking: the paper, from top to bottom.

``estimator`` is what users call. ``recover`` is Algorithm 1; it needs ``moments`` (Lemma 2), finds novel pairs by
``projections`` (Algorithm 2) or ``whitened`` (ours), and turns them into rankings by ``rounding`` (Algorithms 3 and 4).
``prior`` and ``user_weights`` follow (section 6.3). ``theory`` has Theorem 2, ``orders`` the strict rankings.
"""

"""TopicRanking: the paper, from top to bottom.

``estimator`` is what users call. ``recover`` is Algorithm 1; it needs ``moments`` (Lemma 2; sums over ``pair_blocks``,
and ``item_moments``), finds novel pairs by ``projections`` (Algorithm 2 on the rank-K estimate, ``embedding``),
``printed`` (the same on the raw estimate) or ``whitened`` (ours), and turns them into rankings by ``rounding``
(Algorithms 3 and 4). ``weights`` follow (section 6.3). ``theory`` has Theorem 2, ``orders`` the strict rankings.
"""

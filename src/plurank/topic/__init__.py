"""TopicRanking: the paper, from top to bottom.

``estimator`` is what users call. ``recover`` is Algorithm 1; it needs ``moments`` (Lemma 2; sums over ``pair_blocks``),
finds novel pairs by ``whitened`` (ours, in the rank-K estimate), ``projections`` (Algorithm 2 on that estimate) or
``printed`` (the same on the raw estimate), and turns them into rankings by ``rounding`` (Algorithms 3 and 4).
``weights`` follow (section 6.3). ``theory`` has Theorem 2, ``orders`` the strict rankings.
"""

import lazy_loader

# the names in __init__.pyi, imported on first use
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

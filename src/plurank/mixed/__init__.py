"""MixedRanking: mixed-membership rankings fitted by maximum a posteriori.

``estimator`` is what users call and ``fit`` its fit: choose priors (``prior_search``), initialise (``init``), then
refine the scores (``refine``) over the ``users``. ``bradley_terry`` and ``components`` say what a ranking is,
``priors`` what is assumed, ``leaderboard`` how items stand, ``checkpoint`` how a fit on a store is resumed.
``candidates`` chooses how many rankings there are and how they are mixed, for "auto" and for ``selection``. ``blank``
is a model without data.
"""

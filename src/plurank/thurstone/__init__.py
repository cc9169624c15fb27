"""Ratings, votes and ballots: one latent utility for every item that a user rated or ranked, sampled by Gibbs.

Ours, after L. L. Thurstone (1927), "A Law of Comparative Judgment", and J. H. Albert and S. Chib (1993), "Bayesian
Analysis of Binary and Polychotomous Response Data". The utility of item i for user u is

    w_ui = scores_i . theta_u + factors_i . z_u + e_ui,    e_ui ~ N(0, 1)

with K rankings mixed by weights theta_u on the simplex and, where they predict better, F factors z_u. A rating says
between which of the user's thresholds w_ui lies, a ranking how the w_ui are ordered. ``hyperparameters`` has priors,
``sampler`` one chain and ``chains`` several; ``draws`` predicts from what they drew, ``new_users`` folds users in, and
``diagnostics`` tells whether chains agree. ``mixed/rated.py`` fits a ``MixedRanking`` with them.
"""

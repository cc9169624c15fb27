"""The speed drawer: arrays in, arrays out.

``PLURANK_PLAIN=1`` in the environment replaces every kernel by its plain twin in :mod:`plurank.kernels.reference`.
"""

import os

if os.environ.get("PLURANK_PLAIN") == "1":
    from plurank.kernels.reference import (
        arrange_halves,
        choose_half,
        count_meetings,
        count_shared_users,
        decide_comparisons,
        decided_pairs,
        encode_keys,
        expand_pairs,
        expected_wins,
        find_consistent,
        find_duplicates,
        find_rows,
        group,
        group_pairs,
        improve_orders,
        index_pairs,
        lay_out_by_row,
        map_user_weights,
        mean_wins,
        mix_places,
        mix_probabilities,
        mix_utilities,
        mixture_of_wins,
        place_errors,
        places_pass,
        probability_pass,
        regress_on_simplex,
        sample_pairs,
        signed_item_counts,
        sum_gathered,
        utility_pass,
    )
    from plurank.kernels.reference_inference import infer_dirichlets, read_left_to_right, solve_deviations
    from plurank.kernels.reference_rows import add_gathered, are_apart, stay_above
else:
    from plurank.kernels.deviations import solve_deviations
    from plurank.kernels.grouping import (
        count_meetings,
        encode_keys,
        find_consistent,
        find_duplicates,
        find_rows,
        group,
        group_pairs,
        index_pairs,
    )
    from plurank.kernels.left_to_right import read_left_to_right
    from plurank.kernels.mixing import places_pass, probability_pass
    from plurank.kernels.moments import (
        arrange_halves,
        choose_half,
        count_shared_users,
        lay_out_by_row,
        signed_item_counts,
        sum_gathered,
    )
    from plurank.kernels.orders import expected_wins, improve_orders, place_errors
    from plurank.kernels.predictions import mean_wins, mix_places, mix_probabilities, mix_utilities
    from plurank.kernels.projected_rows import add_gathered, are_apart, stay_above
    from plurank.kernels.ratings import decided_pairs, expand_pairs, sample_pairs
    from plurank.kernels.regression import regress_on_simplex
    from plurank.kernels.simulation import decide_comparisons
    from plurank.kernels.utilities import utility_pass
    from plurank.kernels.variational import infer_dirichlets
    from plurank.kernels.weights import map_user_weights, mixture_of_wins

__all__ = [
    "add_gathered",
    "are_apart",
    "arrange_halves",
    "choose_half",
    "count_meetings",
    "count_shared_users",
    "decide_comparisons",
    "decided_pairs",
    "encode_keys",
    "expand_pairs",
    "expected_wins",
    "find_consistent",
    "find_duplicates",
    "find_rows",
    "group",
    "group_pairs",
    "improve_orders",
    "index_pairs",
    "infer_dirichlets",
    "lay_out_by_row",
    "map_user_weights",
    "mean_wins",
    "mix_places",
    "mix_probabilities",
    "mix_utilities",
    "mixture_of_wins",
    "place_errors",
    "places_pass",
    "probability_pass",
    "read_left_to_right",
    "regress_on_simplex",
    "sample_pairs",
    "signed_item_counts",
    "solve_deviations",
    "stay_above",
    "sum_gathered",
    "utility_pass",
]

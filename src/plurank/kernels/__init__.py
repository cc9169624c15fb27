"""Loops that decide how long a fit takes: arrays in, arrays out.

Each function is native (C++ in ``native/``, a thin wrapper beside this file) and has a plain twin in ``plain/``, which
is the test oracle and, where no native library was built, the fallback.
"""

from plurank.kernels import library
from plurank.kernels.observed import NO_ERRORS as NO_ERRORS
from plurank.kernels.observed import Kind as Kind
from plurank.kernels.observed import Observed as Observed
from plurank.kernels.observed import UserPrior as UserPrior
from plurank.kernels.observed import padded as padded

if library.ACTIVE == "plain":
    from plurank.kernels.plain.drawn_weights import weigh_draws
    from plurank.kernels.plain.gibbs import draw_items, draw_users, sum_by_item
    from plurank.kernels.plain.grouping import (
        count_meetings,
        encode_keys,
        find_consistent,
        find_duplicates,
        find_rows,
        group,
    )
    from plurank.kernels.plain.inference import infer_dirichlets, read_left_to_right, solve_user_effects
    from plurank.kernels.plain.memberships import map_user_weights, regress_on_simplex
    from plurank.kernels.plain.mixing import (
        mean_wins,
        mix_places,
        mix_probabilities,
        mix_utilities,
    )
    from plurank.kernels.plain.order_search import expected_wins, improve_orders, place_errors
    from plurank.kernels.plain.passes import places_pass, probability_pass, utility_pass
    from plurank.kernels.plain.rated_pairs import decided_pairs, expand_pairs, sample_pairs
    from plurank.kernels.plain.solid_angles import are_apart, stay_above
    from plurank.kernels.plain.sums import (
        add_gathered,
        choose_half,
        count_shared_users,
        signed_item_counts,
        sum_gathered,
    )
else:
    from plurank.kernels.drawn_weights import weigh_draws
    from plurank.kernels.gibbs import draw_items, draw_users, sum_by_item
    from plurank.kernels.grouping import (
        count_meetings,
        encode_keys,
        find_consistent,
        find_duplicates,
        find_rows,
        group,
    )
    from plurank.kernels.inference import infer_dirichlets, read_left_to_right, solve_user_effects
    from plurank.kernels.memberships import map_user_weights, regress_on_simplex
    from plurank.kernels.mixing import (
        mean_wins,
        mix_places,
        mix_probabilities,
        mix_utilities,
    )
    from plurank.kernels.order_search import expected_wins, improve_orders, place_errors
    from plurank.kernels.passes import places_pass, probability_pass, utility_pass
    from plurank.kernels.rated_pairs import decided_pairs, expand_pairs, sample_pairs
    from plurank.kernels.solid_angles import are_apart, stay_above
    from plurank.kernels.sums import (
        add_gathered,
        choose_half,
        count_shared_users,
        signed_item_counts,
        sum_gathered,
    )

__all__ = [
    "add_gathered",
    "are_apart",
    "choose_half",
    "count_meetings",
    "count_shared_users",
    "decided_pairs",
    "draw_items",
    "draw_users",
    "encode_keys",
    "expand_pairs",
    "expected_wins",
    "find_consistent",
    "find_duplicates",
    "find_rows",
    "group",
    "improve_orders",
    "infer_dirichlets",
    "map_user_weights",
    "mean_wins",
    "mix_places",
    "mix_probabilities",
    "mix_utilities",
    "place_errors",
    "places_pass",
    "probability_pass",
    "read_left_to_right",
    "regress_on_simplex",
    "sample_pairs",
    "signed_item_counts",
    "solve_user_effects",
    "stay_above",
    "sum_by_item",
    "sum_gathered",
    "utility_pass",
    "weigh_draws",
]

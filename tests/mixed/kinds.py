"""MixedRanking in all its kinds, quick to fit."""

from plurank import MixedRanking

# choosing the priors takes many passes; it is tested where it matters
GIVEN = {"concentration": 1.0, "score_scale": 1.0, "random_state": 0}
KINDS = {
    "probability": {"mixing": "probability"},
    "utility": {"mixing": "utility"},
    "mallows": {"component": "mallows"},
    "strict": {"component": "strict"},
    "ensemble": {"mixing": "probability", "ensemble": 2},
}
SCORED = ["probability", "utility", "ensemble"]


def make(kind="probability", n_rankings=2, **parameters):
    return MixedRanking(n_rankings, **(GIVEN | KINDS[kind] | parameters))

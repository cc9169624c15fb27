"""The words that parameters may have: the library checks them, the command line offers them.

Each list stands here once. Nothing heavy is imported, because ``plurank --help`` needs them.
"""

from typing import Literal, get_args

OrderName = Literal["mallows", "strict"]  # what a ranking is that has places and no scores
ComponentName = Literal["bradley-terry", OrderName]  # what one ranking is
Mixing = Literal["probability", "utility"]  # how a person's rankings make a comparison
Auto = Literal["auto"]  # chosen on held-out comparisons
MixingChoice = Literal[Auto, Mixing]
Detection = Literal["whitened", "projections", "printed"]  # of novel pairs
Directions = Literal["gaussian", "sphere"]  # of projections
Inference = Literal["optimisation", "sampling"]  # of the posterior of comparisons
EngineName = Literal["local", "dask"]  # where work on a store runs
Ties = Literal["half", "drop"]  # what a tie in comparisons counts as
RatingTies = Literal["ignore", "both", "random"]  # what two items rated alike make
Pairs = Literal["full", "partial"]  # of the items somebody rated
SplitBy = Literal["comparison", "item", "user"]  # what is held out

MIXINGS: tuple[Mixing, ...] = get_args(Mixing)

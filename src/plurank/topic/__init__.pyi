# What topic offers to other packages. Type checkers read this file; __init__.py imports the names on first use.

from .estimator import TopicRanking as TopicRanking
from .moments import pair_moments as pair_moments
from .pair_blocks import SignedCounts as SignedCounts
from .pair_blocks import leading_item_directions as leading_item_directions
from .recover import recover_rankings as recover_rankings
from .whitened import successive_projection as successive_projection

__all__: list[str]

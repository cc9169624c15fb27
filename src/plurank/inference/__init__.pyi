# What is inferred of users with answers of their own. Type checkers read this; __init__.py loads on first use.

from .user_effects import Deviations as Deviations
from .user_effects import find_deviations as find_deviations

__all__: list[str]

# What is inferred of users with answers of their own. Type checkers read this; __init__.py loads on first use.

from .user_effects import UserEffects as UserEffects
from .user_effects import find_user_effects as find_user_effects

__all__: list[str]

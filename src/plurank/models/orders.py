"""The kinds of orders that a ranking of a MixedRanking may be, by their words."""

from importlib import import_module
from typing import get_args

from plurank.choices import OrderName
from plurank.components.ordered import OrderKind

ORDERS: dict[str, OrderKind] = {word: import_module(f"plurank.components.{word}").KIND for word in get_args(OrderName)}

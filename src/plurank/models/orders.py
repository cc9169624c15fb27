"""The kinds of orders that a ranking of a MixedRanking may be, a row each: all that a model needs to know of them."""

from typing import Any, NamedTuple

from plurank.components.mallows import Mallows
from plurank.components.ordered import OrderedComponent
from plurank.components.strict import Strict
from plurank.models.fields import Field


class OrderKind(NamedTuple):
    """A class of components, its own number, the attribute and the field that keep this in a model, and what a ranking
    of this kind is, in words."""

    component: type[OrderedComponent]
    number: str
    attribute: str
    field: Field
    about: str

    def read(self, model: Any) -> OrderedComponent:
        """Give the orders of a fitted model."""
        return self.component(model.rankings_, getattr(model, self.attribute))  # type: ignore[call-arg]

    def keep(self, model: Any, orders: OrderedComponent) -> None:
        """Let a model remember what the orders have besides their rankings."""
        setattr(model, self.attribute, getattr(orders, self.number))


ORDERS = {
    "mallows": OrderKind(
        Mallows, "dispersion", "dispersion_", Field("f", ("K",), "between 0 and 1"),
        "an order; items far apart in it are seldom mixed up (mallows)",
    ),
    "strict": OrderKind(
        Strict, "flip", "flip_probability_", Field("f", (), "at most a half"),
        "an order, which comparisons follow but for a share of flips (strict)",
    ),
}  # fmt: skip

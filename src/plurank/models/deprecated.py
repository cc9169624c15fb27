"""Names of version 0.1 that changed: they work for one release, with a warning, and in files for good."""

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

RENAMED = {
    "start": "init",
    "spread": "score_scale",
    "rated": "from_ratings",
    "spread_": "score_scale_",
    "rated_": "from_ratings_",
    "worth_": "rating_weight_",
    "user_evidence_": "user_concentration_",
    "deviation_": "user_effect_scale_",
    "_novel_items": "novel_items_",
}
Init = TypeVar("Init", bound=Callable[..., None])


def translate(names: Mapping[str, Any], *, warn: bool = True) -> dict[str, Any]:
    """Return a mapping with present names instead of old ones."""
    for name in names.keys() & RENAMED.keys():
        if warn:
            warn_about(name)
    return {RENAMED.get(name, name): value for name, value in names.items()}


def warn_about(name: str) -> None:
    """Warn that a name has changed."""
    warnings.warn(
        f"{name} is now {RENAMED[name]}; the old name will be removed in 0.3.", DeprecationWarning, stacklevel=3
    )


def _old_attribute(name: str) -> property:
    def read(self: Any) -> Any:
        warn_about(name)
        return getattr(self, RENAMED[name])

    return property(read)


class OldAttributes:
    """Fitted attributes under their old names."""

    spread_ = _old_attribute("spread_")
    rated_ = _old_attribute("rated_")
    worth_ = _old_attribute("worth_")
    user_evidence_ = _old_attribute("user_evidence_")
    deviation_ = _old_attribute("deviation_")


def accept_old_names(init: Init) -> Init:
    """Let an ``__init__`` take parameters by their old names, too."""

    @functools.wraps(init)
    def translated(self: Any, *arguments: Any, **parameters: Any) -> None:
        init(self, *arguments, **translate(parameters))

    return translated  # type: ignore[return-value]

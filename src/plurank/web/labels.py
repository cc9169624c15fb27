"""Ids in JSON and the numbers of items and users in a model."""

from collections.abc import Sequence

import numpy as np

from plurank.data.encoding import Labels
from plurank.exceptions import DataError
from plurank.types import Codes
from plurank.web.refusals import Refusal

Label = int | float | str


class Vocabulary:
    """Finds ids as JSON has them.

    As everywhere in plurank, the text "7" finds the number 7 and the number 7 the text "7", unless both are ids.
    """

    def __init__(self, labels: Labels, name: str) -> None:
        self.name, self.article = name, "an" if name == "item" else "a"
        self.labels: list[Label] = labels.tolist()
        if not all(isinstance(label, (str, int, float)) for label in self.labels):
            raise DataError(f"only ids that are text or numbers can be served; this model has other ids of {name}s.")
        self.codes: dict[Label, int] = {_other_spelling(label): code for code, label in enumerate(self.labels)}
        self.codes.update((label, code) for code, label in enumerate(self.labels))

    def find(self, labels: Sequence[Label], places: str) -> Codes:
        """Give the numbers of ids, (n,); refuse unknown ones, naming the first by its place, as in pairs[{}].left."""
        try:
            return np.array([self.codes[label] for label in labels], dtype=np.int32)
        except KeyError:
            at = next(n for n, label in enumerate(labels) if label not in self.codes)
            raise self.unknown(labels[at], places.format(at)) from None

    def own(self, labels: Sequence[Label], places: str) -> list[Label]:
        """Give ids as the model spells them."""
        return [self.labels[code] for code in self.find(labels, places)]

    def unknown(self, label: Label, place: str) -> Refusal:
        """Refuse an id."""
        shown = f"{label!r}" if len(f"{label!r}") <= 80 else f"{label!r:.80}..."
        hint = "GET /rankings lists the items." if self.name == "item" else "Leave it out for the population."
        return Refusal(422, f"{place}: expected {self.article} {self.name} of the model, got {shown}. {hint}")


def _other_spelling(label: Label) -> Label:
    if isinstance(label, str):
        is_plain = label.isascii() and label.isdigit() and (label == "0" or label[0] != "0") and len(label) < 20
        return int(label) if is_plain else label
    return str(label) if isinstance(label, int) else label

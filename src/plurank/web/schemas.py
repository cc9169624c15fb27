"""What requests and answers look like; the interface's description is made from these."""

import unicodedata
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, model_validator

from plurank.web.limits import MAX_ANSWERS, MAX_ID, MAX_PAIRS, MAX_USER

Id = StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)] | StrictStr
Top = Annotated[int, Field(strict=True, ge=1)]


def _check_printable(text: str) -> str:
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text):
        raise ValueError("expected text without control characters and halves of characters")
    return text


Printable = AfterValidator(_check_printable)


class Request(BaseModel):
    """A request's body: what is not expected is refused, so that a misspelt name does not go unnoticed."""

    model_config = ConfigDict(extra="forbid")


class AskedPair(Request):
    """Two items, and who would be asked; null, or somebody the model does not know: anybody."""

    user: Id | None = None
    left: Id
    right: Id


class Pair(Request):
    """Two items, in either order."""

    left: Id
    right: Id


class Answer(Request):
    """What somebody said: the winner was preferred to the loser."""

    winner: Id
    loser: Id


Answers = Annotated[list[Answer], Field(max_length=MAX_ANSWERS)]


class PredictRequest(Request):
    """Pairs to predict."""

    pairs: Annotated[list[AskedPair], Field(min_length=1, max_length=MAX_PAIRS)]


class RankRequest(Request):
    """Whose order of the items: a known user's, that of somebody who gave answers, or, with neither, everybody's."""

    user: Id | None = None
    answers: Answers | None = None
    top: Top | None = None

    @model_validator(mode="after")
    def _check_one(self) -> "RankRequest":
        if self.user is not None and self.answers is not None:
            raise ValueError("expected a user or answers, got both")
        return self


class FoldInRequest(Request):
    """Answers of somebody new."""

    answers: Answers


class NextPairRequest(Request):
    """Answers of somebody new, and pairs not to ask."""

    answers: Answers = []
    skip: Annotated[list[Pair], Field(max_length=MAX_ANSWERS)] = []


class FeedbackRequest(Request):
    """An answer to keep. The id is the client's: whoever sends it twice is counted once."""

    id: Annotated[StrictStr, Field(min_length=1, max_length=MAX_ID), Printable]
    user: Annotated[StrictStr, Field(min_length=1, max_length=MAX_USER), Printable]
    winner: Id
    loser: Id


class ModelSize(BaseModel):
    """What the model is."""

    model_config = ConfigDict(populate_by_name=True)
    class_: str = Field(alias="class")
    n_users: int
    n_items: int
    n_rankings: int


class HealthAnswer(BaseModel):
    """The service is there."""

    status: str
    plurank: str
    model: ModelSize
    feedback: bool


class Place(BaseModel):
    """An item's place, with bounds that hold with 90% probability, null where the model has none."""

    item: Id
    score: float
    rank: int
    lower: int | None
    upper: int | None


class Ranking(BaseModel):
    """One of the rankings."""

    ranking: int
    mean_weight: float
    description: str
    items: list[Place]


class RankingsAnswer(BaseModel):
    """All rankings, the most followed first."""

    n_items: int
    rankings: list[Ranking]


class PredictAnswer(BaseModel):
    """P(left preferred) of every pair."""

    probabilities: list[float]


class RankAnswer(BaseModel):
    """Items, best first."""

    items: list[Place]


class Weight(BaseModel):
    """How much somebody follows a ranking, with bounds that hold with 90% probability."""

    ranking: int
    weight: float
    lower: float
    upper: float


class FoldInAnswer(BaseModel):
    """How much somebody follows every ranking."""

    n_answers: int
    weights: list[Weight]


class NextPairAnswer(BaseModel):
    """The pair that says most, with what it says in bits, and P(left preferred); nulls when all were asked."""

    left: Id | None
    right: Id | None
    gain: float | None = None
    probability: float | None = None


class FeedbackAnswer(BaseModel):
    """Whether the answer was stored now, or had been before."""

    id: str
    stored: bool


class ErrorAnswer(BaseModel):
    """One sentence: what was expected, what came, what to do."""

    error: str


Figure = dict[str, Any]

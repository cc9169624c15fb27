"""What requests and answers look like; the interface's description is made from these."""

import unicodedata
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    model_validator,
)  # fmt: skip

from plurank.web.limits import (
    MAX_ANSWERS,
    MAX_ID,
    MAX_PAIRS,
    MAX_USER,
)

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
    """Answers of somebody new, and pairs not to ask. In a survey people with different names are asked differently."""

    answers: Answers = []
    skip: Annotated[list[Pair], Field(max_length=MAX_ANSWERS)] = []
    visitor: Annotated[StrictStr, Field(max_length=MAX_USER), Printable] = ""


class FeedbackRequest(Request):
    """An answer to store. The id is the client's: whoever sends it twice is counted once.

    With ``withdrawn`` it is taken back: it no longer counts, unless a model has learned from it already.
    """

    id: Annotated[StrictStr, Field(min_length=1, max_length=MAX_ID), Printable]
    user: Annotated[StrictStr, Field(min_length=1, max_length=MAX_USER), Printable]
    winner: Id
    loser: Id
    withdrawn: bool = False


class FeedbackBatch(Request):
    """Several answers to store, each with an outcome of its own."""

    answers: Annotated[list[FeedbackRequest], Field(min_length=1, max_length=MAX_ANSWERS)]


def _form_of(body: Any) -> str:
    return BATCH if isinstance(body, dict) and "answers" in body and "id" not in body else ONE


ONE, BATCH = "one answer", "several answers"  # the two forms of feedback; no part of a place in a request
FeedbackBody = Annotated[
    Annotated[FeedbackRequest, Tag(ONE)] | Annotated[FeedbackBatch, Tag(BATCH)], Discriminator(_form_of)
]


class ModelSize(BaseModel):
    """What the model is."""

    model_config = ConfigDict(populate_by_name=True)
    class_: str = Field(alias="class")
    n_users: int
    n_items: int
    n_rankings: int


class HealthAnswer(BaseModel):
    """The service is there; the status is "ok", or says what does not work."""

    status: str
    plurank: str
    model: ModelSize
    feedback: bool


class Place(BaseModel):
    """An item's place, with bounds that hold with 90% probability, null where the model has none.

    ``text`` is what to show for the item: the id as text, where it has no text of its own.
    """

    item: Id
    text: str
    score: float
    rank: int
    lower: int | None
    upper: int | None


class Camp(BaseModel):
    """How many people follow a ranking most, how many with a weight of 0.8 or more, and the votes of the former.

    One to four people are "fewer than 5". Where one of the camps is that small, the others are "about" a multiple of 5,
    and votes are null.
    """

    people: int | str
    people_80: int | str
    votes: int | None


class SharedItem(BaseModel):
    """An item: whether all camps like it, dislike it or dispute it, or have it at the same place.

    The label is one of "liked by all camps", "disliked by all camps", "contested", "same position in all rankings",
    "undecided" and "not enough votes"; the other values are probabilities, and the votes cast on the item.
    """

    item: Id
    text: str
    votes: int | None
    enough_votes: bool
    label: str
    liked_by_all: float
    disliked_by_all: float
    contested: float
    same_place: float


class Ranking(BaseModel):
    """One of the rankings."""

    ranking: int
    mean_weight: float
    description: str
    camp: Camp
    items: list[Place]


class RankingsAnswer(BaseModel):
    """All rankings, the most followed first; common ground is null where the model does not say how sure it is."""

    n_items: int
    rankings: list[Ranking]
    common_ground: list[SharedItem] | None


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
    """The pair to ask, with what it says in bits, and P(left preferred); nulls when all were asked.

    In a survey, gain and probability are left out: they would say what others answered.
    """

    left: Id | None
    right: Id | None
    left_text: str | None = None
    right_text: str | None = None
    gain: float | None = None
    probability: float | None = None


class FeedbackAnswer(BaseModel):
    """Whether the answer was stored now, or had been before, and what became of it."""

    id: str
    stored: bool
    outcome: Literal["stored", "known", "withdrawn", "learned"]


class AnswerOutcome(BaseModel):
    """What became of one answer of several.

    It is ``stored`` now or ``known`` from before; ``withdrawn``; ``learned``, so that it can no longer be withdrawn; in
    ``conflict`` with another answer of the same id; or ``rejected``, for the reason that ``error`` says.
    """

    id: str
    outcome: Literal["stored", "known", "withdrawn", "learned", "conflict", "rejected"]
    error: str | None = None


class FeedbackBatchAnswer(BaseModel):
    """What became of several answers, in their order."""

    answers: list[AnswerOutcome]


class SurveyAnswer(BaseModel):
    """What a page must know before it asks: its texts, how many questions, and whether results are hidden.

    ``items_key`` is another one when the items are others.
    """

    title: str | None
    question: str | None
    questions: int | None
    hide_results: bool
    feedback: bool
    n_items: int
    items_key: str
    longest_text: int


class ErrorAnswer(BaseModel):
    """One sentence: what was expected, what came, what to do."""

    error: str


Figure = dict[str, Any]

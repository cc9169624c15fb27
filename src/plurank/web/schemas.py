"""The JSON of requests and responses, as pydantic models; /openapi.json is generated from them."""

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

MAX_PAIRS, MAX_ANSWERS = 10_000, 1_000  # of a request
MAX_ID, MAX_USER = 64, 200  # characters
Id = StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)] | StrictStr
TopCount = Annotated[int, Field(strict=True, ge=1)]


def _check_printable(text: str) -> str:
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text):
        raise ValueError("expected text without control characters and unpaired surrogates")
    return text


Printable = AfterValidator(_check_printable)


class RequestBody(BaseModel):
    """The body of a request; unknown fields are errors, so that a misspelt name does not go unnoticed."""

    model_config = ConfigDict(extra="forbid")


class AskedPair(RequestBody):
    """Two items and a user; null and unknown users get the population average."""

    user: Id | None = None
    left: Id
    right: Id


class Pair(RequestBody):
    """Two items, in either order."""

    left: Id
    right: Id


class Answer(RequestBody):
    """One comparison: the winner was preferred to the loser."""

    winner: Id
    loser: Id


Answers = Annotated[list[Answer], Field(max_length=MAX_ANSWERS)]


class PredictRequest(RequestBody):
    """Pairs to predict."""

    pairs: Annotated[list[AskedPair], Field(min_length=1, max_length=MAX_PAIRS)]


class RankRequest(RequestBody):
    """Whose leaderboard: that of a known user, of a new user with answers, or, with neither, of the population."""

    user: Id | None = None
    answers: Answers | None = None
    top: TopCount | None = None

    @model_validator(mode="after")
    def _check_one(self) -> "RankRequest":
        if self.user is not None and self.answers is not None:
            raise ValueError("expected a user or answers, got both")
        return self


class FoldInRequest(RequestBody):
    """Answers of a new user."""

    answers: Answers


class NextPairRequest(RequestBody):
    """Answers of a new user, and pairs not to ask. In a survey, visitors with different names get different pairs."""

    answers: Answers = []
    skip: Annotated[list[Pair], Field(max_length=MAX_ANSWERS)] = []
    visitor: Annotated[StrictStr, Field(max_length=MAX_USER), Printable] = ""


class FeedbackRequest(RequestBody):
    """An answer to store. The client chooses the id: an answer that is sent twice counts once.

    With ``withdrawn`` it no longer counts, unless a model has already learned from it.
    """

    id: Annotated[StrictStr, Field(min_length=1, max_length=MAX_ID), Printable]
    user: Annotated[StrictStr, Field(min_length=1, max_length=MAX_USER), Printable]
    winner: Id
    loser: Id
    withdrawn: bool = False


class FeedbackBatch(RequestBody):
    """Several answers to store, each with its own outcome."""

    answers: Annotated[list[FeedbackRequest], Field(min_length=1, max_length=MAX_ANSWERS)]


def _form_of(body: Any) -> str:
    return BATCH if isinstance(body, dict) and "answers" in body and "id" not in body else SINGLE


SINGLE, BATCH = "one answer", "several answers"  # tags of the two forms of feedback
FeedbackBody = Annotated[
    Annotated[FeedbackRequest, Tag(SINGLE)] | Annotated[FeedbackBatch, Tag(BATCH)], Discriminator(_form_of)
]


class ModelSize(BaseModel):
    """Class and sizes of the model."""

    model_config = ConfigDict(populate_by_name=True)
    class_: str = Field(alias="class")
    n_users: int
    n_items: int
    n_rankings: int


class HealthResponse(BaseModel):
    """Whether the service works: the status is "ok", or says what does not work."""

    status: str
    plurank: str
    model: ModelSize
    feedback: bool


class RankedItem(BaseModel):
    """An item with its score and rank. The rank has a 90% interval, null where the model has none.

    ``text`` is the text to show for the item, which is the id where the item has no text.
    """

    item: Id
    text: str
    score: float
    rank: int
    lower: int | None
    upper: int | None


class CampSize(BaseModel):
    """How many users follow a ranking most, how many with a weight of 0.8 or more, and the votes of the former.

    One to four people are "fewer than 5". If a camp is that small, the others are "about" a multiple of 5, and
    votes are null.
    """

    people: int | str
    people_80: int | str
    votes: int | None


class SharedItem(BaseModel):
    """Whether all camps like, dislike or dispute an item, or rank it at the same position.

    The label is one of "liked by all camps", "disliked by all camps", "contested", "same position in all rankings",
    "undecided" and "not enough votes". The last four values are probabilities.
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
    camp: CampSize
    items: list[RankedItem]


class RankingsResponse(BaseModel):
    """All rankings, the most followed first; common ground is null where the model has no uncertainty."""

    n_items: int
    rankings: list[Ranking]
    common_ground: list[SharedItem] | None


class PredictResponse(BaseModel):
    """P(left preferred) of every pair."""

    probabilities: list[float]


class RankResponse(BaseModel):
    """Items, best first."""

    items: list[RankedItem]


class Weight(BaseModel):
    """How much a user follows a ranking, with a 90% interval."""

    ranking: int
    weight: float
    lower: float
    upper: float


class FoldInResponse(BaseModel):
    """How much a user follows each ranking."""

    n_answers: int
    weights: list[Weight]


class NextPairResponse(BaseModel):
    """The pair to ask, its expected information gain in bits, and P(left preferred); null when all pairs were asked.

    In a survey, gain and probability are omitted: they would reveal what others answered.
    """

    left: Id | None
    right: Id | None
    left_text: str | None = None
    right_text: str | None = None
    gain: float | None = None
    probability: float | None = None


class FeedbackResponse(BaseModel):
    """Whether the answer was stored by this request, and its outcome."""

    id: str
    stored: bool
    outcome: Literal["stored", "known", "withdrawn", "learned"]


class AnswerOutcome(BaseModel):
    """The outcome of one answer of several.

    It is ``stored`` by this request or ``known`` from before; ``withdrawn``; ``learned`` by a model, so that it can no
    longer be withdrawn; in ``conflict`` with another answer of the same id; or ``rejected``, as ``error`` explains.
    """

    id: str
    outcome: Literal["stored", "known", "withdrawn", "learned", "conflict", "rejected"]
    error: str | None = None


class FeedbackBatchResponse(BaseModel):
    """The outcomes of several answers, in their order."""

    answers: list[AnswerOutcome]


class SurveyResponse(BaseModel):
    """What a page needs before it asks: its texts, the number of questions, and whether results are hidden.

    ``items_key`` changes when the items change.
    """

    title: str | None
    question: str | None
    questions: int | None
    hide_results: bool
    feedback: bool
    n_items: int
    items_key: str
    longest_text: int


class ErrorResponse(BaseModel):
    """One sentence: what was expected, what was received, and how to fix it."""

    error: str


FigureSpec = dict[str, Any]

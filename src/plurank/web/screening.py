"""Find answers that look like ballot stuffing: from one browser or address, faster or more than people answer.

This is a heuristic. The limits are far above what a household, an office or a visitor in a hurry does. Ballot stuffing
that stays below them, one invented person at a time at human speed, is not found.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from plurank.text import count
from plurank.web.database import StoredAnswer

# from one browser; and from all requests without our cookie from one address, which browsers do not send
MAX_NAMES = 10  # names that answers are given under
MAX_REPEATS = 3  # answers under one name to the same pair
SECONDS_TO_READ = 0.35  # two items, at least, on average
ANSWERS_SAVED = 30  # answers that may arrive at once, such as those given while the service was unavailable
FEW_ANSWERS = 3  # a person who wants to vote gives at least so many
SECONDS_IN_A_HURRY = 1.0  # per answer, on average; the people in a lecture hall take longer
# from one address, if most of its browsers give fewer answers, or in a hurry
MAX_NEW_BROWSERS, BROWSERS_SECONDS = 30, 60.0  # that are new within so many seconds
MAX_ANSWERS_AT_ONCE, ANSWERS_SECONDS = 200, 10.0  # within so many seconds


@dataclass(frozen=True)
class Finding:
    """Answers of one browser or one address that look like ballot stuffing, and why."""

    source: str
    n_answers: int
    n_names: int
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        what = f"{count(self.n_answers, 'answer')} of {count(self.n_names, 'name')} from one {self.source}"
        return f"{what}: {', '.join(self.reasons)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as a JSON object."""
        return {
            "source": self.source,
            "n_answers": self.n_answers,
            "n_names": self.n_names,
            "reasons": list(self.reasons),
        }


@dataclass
class AnswerGroup:
    """The answers of one browser or one address, in the order of arrival."""

    source: str
    answers: list[StoredAnswer] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


def find_suspicious(answers: Sequence[StoredAnswer]) -> list[AnswerGroup]:
    """Return the groups of answers that look like ballot stuffing; no answer is in two of them."""
    addresses, people = _group_answers(answers)
    flagged = []
    taken: set[str] = set()
    for address, group in addresses.items():
        group.reasons += _address_reasons(group.answers)
        unknown = people.get(("address", address))
        if group.reasons and unknown is not None:
            group.reasons += _person_reasons(unknown.answers)  # more reasons against the same answers
        if group.reasons:
            flagged.append(group)
            taken.update(answer.id for answer in group.answers)
    for group in people.values():
        group.answers = [answer for answer in group.answers if answer.id not in taken]
        group.reasons += _person_reasons(group.answers)
        if group.reasons:
            flagged.append(group)
    return flagged


def describe_groups(groups: Iterable[AnswerGroup], ids: set[str]) -> tuple[Finding, ...]:
    """Return findings about the answers of groups that are among some ids, those with most answers first."""
    found = []
    for group in groups:
        chosen = [answer for answer in group.answers if answer.id in ids]
        if chosen:
            names = len({answer.user for answer in chosen})
            found.append(Finding(group.source, len(chosen), names, tuple(group.reasons)))
    return tuple(sorted(found, key=lambda finding: -finding.n_answers))


def _group_answers(
    answers: Sequence[StoredAnswer],
) -> tuple[dict[str, AnswerGroup], dict[tuple[str, str], AnswerGroup]]:
    """Return all answers by address, and those of each browser, or of no browser, by address."""
    addresses: dict[str, AnswerGroup] = defaultdict(lambda: AnswerGroup("address"))
    people: dict[tuple[str, str], AnswerGroup] = {}
    for answer in answers:
        if answer.address is not None:
            addresses[answer.address].answers.append(answer)
        source = "address" if answer.visitor is None else "browser"
        key = answer.address if answer.visitor is None else answer.visitor
        if key is not None:
            people.setdefault((source, key), AnswerGroup(source)).answers.append(answer)
    return addresses, people


def _person_reasons(answers: Sequence[StoredAnswer]) -> Iterator[str]:
    if not answers:
        return
    names = {answer.user for answer in answers}
    if len(names) > MAX_NAMES:
        yield f"{len(names):,} names (more than {MAX_NAMES})"
    pairs = Counter((answer.user, frozenset((answer.winner, answer.loser))) for answer in answers)
    repeats = max(pairs.values())
    if repeats > MAX_REPEATS:
        yield f"the same pair {repeats:,} times by one name (more than {MAX_REPEATS})"
    if _is_too_fast(answers):
        yield f"faster than one answer in {SECONDS_TO_READ} s"


def _is_too_fast(answers: Sequence[StoredAnswer]) -> bool:
    """Check whether answers arrived faster than people read (a token bucket: idle time is saved, up to a limit)."""
    times = [time for answer in answers if (time := _time(answer.received)) is not None]
    saved, last = float(ANSWERS_SAVED), times[0] if times else 0.0
    for time in times:
        saved = min(saved + (time - last) / SECONDS_TO_READ, ANSWERS_SAVED) - 1.0
        last = time
        if saved < 0:
            return True
    return False


def _is_inhuman(answers: Sequence[StoredAnswer]) -> bool:
    """Check whether most browsers at an address gave hardly any answers, or all of them in a hurry.

    The people in a lecture hall open the page at once, too, but then they read.
    """
    by_browser: dict[str | None, list[float]] = defaultdict(list)
    for answer in answers:
        if (time := _time(answer.received)) is not None:
            by_browser[answer.visitor].append(time)
    strange = 0
    for visitor, times in by_browser.items():
        span = max(times) - min(times)
        strange += visitor is None or len(times) < FEW_ANSWERS or span < SECONDS_IN_A_HURRY * (len(times) - 1)
    return 2 * strange >= len(by_browser)


def _address_reasons(answers: Sequence[StoredAnswer]) -> Iterator[str]:
    if not _is_inhuman(answers):
        return
    first = {answer.visitor: answer.first_seen for answer in answers if answer.visitor is not None}
    most = _most_within(map(_time, first.values()), BROWSERS_SECONDS)
    if most > MAX_NEW_BROWSERS:
        yield f"{most:,} new browsers within {BROWSERS_SECONDS:.0f} s (more than {MAX_NEW_BROWSERS})"
    most = _most_within((_time(answer.received) for answer in answers), ANSWERS_SECONDS)
    if most > MAX_ANSWERS_AT_ONCE:
        yield f"{most:,} answers within {ANSWERS_SECONDS:.0f} s (more than {MAX_ANSWERS_AT_ONCE})"


def _most_within(times: Iterable[float | None], seconds: float) -> int:
    """Return the maximum number of times in any window of so many seconds."""
    known = sorted(time for time in times if time is not None)
    begin = most = 0
    for n, time in enumerate(known):
        while time - known[begin] > seconds:
            begin += 1
        most = max(most, n - begin + 1)
    return most


def _time(text: str | None) -> float | None:
    try:
        return None if text is None else datetime.fromisoformat(text).timestamp()
    except ValueError:  # another program may have written to the database
        return None

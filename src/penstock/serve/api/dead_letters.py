"""Dead letters over HTTP: why records failed, and sending them again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from penstock.jobs.dead_letters import letters, piles, require_dead_topic
from penstock.jobs.letter_document import letter_document
from penstock.jobs.replay import Selection, replay
from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.platform import Platform
from penstock.serve.record_rows import plain
from penstock.text.offset_ranges import parse_offsets

DeadTopic = Annotated[
    str, Path(max_length=249, description="A topic of dead letters, or the results beside it.")
]
_Text = Annotated[str | None, Query(max_length=1000)]


@dataclass(frozen=True, slots=True)
class PileShown:
    """Letters of one topic with the same reason, step and source."""

    topic: str
    reason: str
    step: str
    source: str
    letters: int
    replayed: int


@dataclass(frozen=True, slots=True)
class LettersShown:
    """Letters, and how many more were asked for than are shown."""

    topic: str
    items: list[dict[str, Any]]
    more: int


@dataclass(frozen=True, slots=True)
class Which:
    """Which letters: of records of a topic, with a reason, at offsets such as `3,10-19,40-`."""

    source: str | None = None
    reason: str | None = None
    offsets: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ReplayDone:
    """How many records were sent again by topic, and why others were not."""

    sent: dict[str, int]
    records: int
    before: int = 0
    rowless: int = 0
    gone: int = 0


def routes(platform: Platform) -> APIRouter:
    """Give the routes of dead letters."""
    log = platform.log
    router = APIRouter(prefix="/dead-letters", tags=["dead letters"])

    @router.get("", dependencies=[needs(Role.READER)])
    def list_dead_letters() -> list[PileShown]:
        """List the topics that hold dead letters, with how many there are for each reason."""
        return [PileShown(**asdict(pile)) for pile in piles(log)]

    @router.get("/{topic}", dependencies=[needs(Role.READER)])
    def show_dead_letters(
        topic: DeadTopic,
        source: _Text = None,
        reason: _Text = None,
        offsets: _Text = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> LettersShown:
        """Show dead letters whole: the record with its bytes and headers, the error, the trace."""
        name = require_dead_topic(log, topic)
        chosen = _selection(Which(source, reason, offsets))
        found = (letter for letter in letters(log, name) if chosen.takes(letter))
        shown = [plain(letter_document(letter)) for letter in islice(found, limit)]
        return LettersShown(name, shown, sum(1 for _ in found))

    @router.post("/{topic}/replay", dependencies=[needs(Role.WRITER)])
    def replay_dead_letters(topic: DeadTopic, which: Which) -> ReplayDone:
        """Send the records of dead letters back to their topics, each exactly once."""
        name = require_dead_topic(log, topic)
        chosen = _selection(which)
        if which.dry_run:
            found = (letter for letter in letters(log, name) if chosen.takes(letter))
            waiting = [one for one in found if not one.replayed and one.source.offset is not None]
            return ReplayDone({}, len(waiting))
        done = replay(log, name, chosen)
        sent = {str(place): count for place, count in done.sent.items()}
        return ReplayDone(sent, done.records, done.before, done.rowless, done.gone)

    return router


def _selection(which: Which) -> Selection:
    if which.offsets is None:
        return Selection(which.source, which.reason)
    return Selection(which.source, which.reason, parse_offsets(which.offsets))

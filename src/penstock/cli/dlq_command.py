"""`penstock dlq`: dead letters, why they are there, and how to send them again."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.counted import counted
from penstock.cli.letter_text import letter_lines
from penstock.cli.opened_log import log_exists, opened_log
from penstock.cli.options import JsonOption, complete_topic
from penstock.cli.output import (
    examples,
    talk,
    waiting,
    write_json,
    write_line,
    write_list,
)
from penstock.errors import OffsetError
from penstock.text.offset_ranges import parse_offsets

if TYPE_CHECKING:
    from penstock.jobs.dead_letters import Letter
    from penstock.jobs.replay import Replayed, Selection
    from penstock.log.embedded.log import EmbeddedLog

DeadTopicArgument = Annotated[
    str,
    typer.Argument(
        metavar="TOPIC",
        help="A topic of dead letters, or the topic of results beside it.",
        autocompletion=complete_topic,
    ),
]
SourceOption = Annotated[
    str | None,
    typer.Option("--topic", metavar="SOURCE", help="Only letters of records of this topic."),
]
ReasonOption = Annotated[
    str | None,
    typer.Option("--reason", metavar="REASON", help="Only letters with this reason."),
]
OffsetsOption = Annotated[
    str | None,
    typer.Option(
        "--offsets",
        metavar="RANGES",
        help="Only letters at these offsets of the dead-letter topic, such as 3,10-19,40-.",
    ),
]


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    group.command("list", epilog=examples("penstock dlq list", "penstock dlq list --json"))(
        list_letters
    )
    group.command(
        "show",
        epilog=examples(
            "penstock dlq show orders.dead",
            "penstock dlq show orders.dead --offsets 17 --json",
            "penstock dlq show orders --reason VALUE_UNREADABLE --max 3",
        ),
    )(show)
    group.command(
        "replay",
        epilog=examples(
            "penstock dlq replay orders.dead",
            "penstock dlq replay orders --reason VALUE_UNREADABLE --offsets 0-99",
            "penstock dlq replay orders --topic web-orders --dry-run",
        ),
    )(replay_letters)
    application.add_typer(
        group,
        name="dlq",
        help="See dead letters, and send their records again after the fix.",
        epilog=examples("penstock dlq list", "penstock dlq replay orders.dead"),
    )


def list_letters(context: typer.Context, json: JsonOption = False) -> None:
    """List the topics that hold dead letters, with how many there are for each reason."""
    rows: list[dict[str, object]] = []
    if log_exists(context):
        from penstock.jobs.dead_letters import piles  # noqa: PLC0415  # needs Arrow

        with opened_log(context) as log:
            rows = [
                {
                    "topic": pile.topic,
                    "reason": pile.reason,
                    "step": pile.step,
                    "source": pile.source,
                    "letters": pile.letters,
                    "replayed": pile.replayed,
                }
                for pile in piles(log)
            ]
    write_list(rows, as_json=json, none_yet="there are no dead letters")


def show(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    topic: DeadTopicArgument,
    *,
    source: SourceOption = None,
    reason: ReasonOption = None,
    offsets: OffsetsOption = None,
    most: Annotated[
        int, typer.Option("--max", metavar="N", min=1, help="Show so many at most.")
    ] = 10,
    json: JsonOption = False,
) -> None:
    """Show dead letters whole: the record with its bytes and headers, the error, the traceback."""
    from penstock.jobs.dead_letters import letters, require_dead_topic  # noqa: PLC0415

    chosen = _selection(source, reason, offsets)
    with opened_log(context) as log:
        name = require_dead_topic(log, topic)
        found = [letter for letter in letters(log, name) if chosen.takes(letter)]
    if not found:
        raise OffsetError(
            "DEAD_LETTER_MISSING",
            f'topic "{name}" has no such dead letter',
            hint="`penstock dlq list` says which reasons and sources there are.",
        )
    if json:
        from penstock.jobs.letter_document import letter_document  # noqa: PLC0415

        write_json([letter_document(letter) for letter in islice(found, most)])
        return
    for number, letter in enumerate(islice(found, most)):
        _write_letter(name, letter, first=number == 0)
    if len(found) > most:
        talk(f"{len(found) - most} more; --max shows more, --offsets others")


def replay_letters(
    context: typer.Context,
    topic: DeadTopicArgument,
    source: SourceOption = None,
    reason: ReasonOption = None,
    offsets: OffsetsOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many would be sent.")
    ] = False,
) -> None:
    """Send the records of dead letters back to the topics they came from, each exactly once.

    A letter that was sent is noted in the same transaction: it is not sent again, whatever
    happens. Records keep their partition, key, value and time, and get headers that say where
    they come from.
    """
    from penstock.jobs.dead_letters import require_dead_topic  # noqa: PLC0415
    from penstock.jobs.replay import replay  # noqa: PLC0415

    chosen = _selection(source, reason, offsets)
    with opened_log(context) as log:
        name = require_dead_topic(log, topic)
        if dry_run:
            talk(f"{counted(_waiting(log, name, chosen), 'letter')} would be sent again")
            return
        with waiting(f"replaying {name}"):
            done = replay(log, name, chosen)
    for place, number in sorted(done.sent.items()):
        write_line(f"{place}\t{number}")
    _tell(done)


def _selection(source: str | None, reason: str | None, offsets: str | None) -> Selection:
    from penstock.jobs.replay import Selection  # noqa: PLC0415  # needs Arrow

    if offsets is None:
        return Selection(source, reason)
    return Selection(source, reason, parse_offsets(offsets))


def _waiting(log: EmbeddedLog, topic: str, chosen: Selection) -> int:
    from penstock.jobs.dead_letters import letters  # noqa: PLC0415

    found = (letter for letter in letters(log, topic) if chosen.takes(letter))
    return sum(not letter.replayed and letter.source.offset is not None for letter in found)


def _write_letter(topic: str, letter: Letter, *, first: bool) -> None:
    if not first:
        write_line("")
    for line in letter_lines(topic, letter):
        write_line(line)


def _tell(done: Replayed) -> None:
    talk(f"{counted(done.records, 'record')} sent again")
    told = (
        (done.before, "had been sent before"),
        (done.rowless, "cannot be sent: they failed where their record is not known any more"),
        (done.gone, "cannot be sent: the log does not have their record any more"),
    )
    for number, what in told:
        if number:
            talk(f"{counted(number, 'letter')} {what}")

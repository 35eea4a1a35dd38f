"""`penstock consume`: records become lines."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.counted import counted
from penstock.cli.opened_log import opened_log
from penstock.cli.options import JsonOption, TopicArgument
from penstock.cli.output import decorated, examples, talk
from penstock.cli.record_text import PARTS, line_maker
from penstock.cli.row_lines import read_rows
from penstock.cli.serde_option import (
    FormatOption,
    SchemaOption,
    SubjectOption,
    Told,
    reading_serde,
)
from penstock.errors import UsageError
from penstock.text.place import parse_place

if TYPE_CHECKING:
    from penstock.log.consumer import Consumer
    from penstock.log.embedded.log import EmbeddedLog
    from penstock.log.position import Start
    from penstock.log.record import Record
    from penstock.schema.serde import Serde

# How long a group may take to give this member its partitions before --no-wait gives up.
_PATIENCE = 2.0
_LOOK = 0.05
_FOR_EVER = 3600.0
_BATCH = 5000


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "consume",
        epilog=examples(
            "penstock consume avg --from-beginning",
            "penstock consume avg --from-beginning --max 2",
            "penstock consume avg --no-wait --show key,timestamp",
            "penstock consume avg --from 2026-01-31T12:00:00Z --timeout 5 --json",
            "penstock consume avg --group reports",
            "penstock consume views --from-beginning --format avro --subject views-value",
        ),
    )(consume)


def consume(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    topic: TopicArgument,
    *,
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Begin at the first record.")
    ] = False,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="OFFSET|TIME|earliest|latest",
            help="Begin at an offset, at a time (ISO 8601), at the first record or after the last."
            " Default: latest; with --no-wait earliest.",
        ),
    ] = None,
    partition: Annotated[
        int | None, typer.Option("--partition", min=0, help="Only this one.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            metavar="GROUP",
            help="Read as a member of this group: go on where it stopped, and remember how far.",
        ),
    ] = None,
    most: Annotated[
        int | None, typer.Option("--max", metavar="N", min=1, help="End after so many records.")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout", metavar="SECONDS", min=0, help="End when no record comes for so long."
        ),
    ] = None,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="End at the present end of the topic.")
    ] = False,
    show: Annotated[
        str | None,
        typer.Option(
            "--show", metavar="PARTS", help=f"Before the value, with tabs: {','.join(PARTS)}."
        ),
    ] = None,
    json: JsonOption = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Print the bytes of values as they are.")
    ] = False,
    value_format: FormatOption = None,
    schema: SchemaOption = None,
    subject: SubjectOption = None,
) -> None:
    """Print the records of a topic, one value a line, as they arrive.

    Ends after --max, --timeout or --no-wait, else with Ctrl-C, which is no failure. A value that
    is not UTF-8 text is shown with backslash escapes, a tombstone as null, and the columns of a
    typed topic as JSON, and so those that a --format reads; a value that it cannot read is named
    on stderr and passed over. The order of records is kept within each partition.
    """
    to_line = line_maker(show, json=json, raw=raw)
    _refuse_conflicts(start, from_beginning, (timeout, no_wait), (group, partition))
    begin = _start("earliest" if from_beginning else start, no_wait=no_wait)
    with opened_log(context) as log:
        consumer = _consumer(log, topic, partition, group, begin)
        printed = _Printed(consumer, to_line, most, has_group=group is not None)
        told = Told(value_format, schema, subject)
        printed.serde = None if raw else reading_serde(context, log, log.topic(topic), told)
        try:
            if no_wait:
                printed.up_to_end(log)
            else:
                _say_waiting(topic, begin)
                printed.until_quiet(timeout)
        except KeyboardInterrupt:
            pass
        except BrokenPipeError:
            # The reader has left, as `head` does; Python would complain once more at its exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        finally:
            consumer.close(commit=False)
    if decorated(sys.stderr):
        talk(counted(printed.count, "record"))


class _Printed:
    """Prints what a consumer gives, and commits what was printed."""

    def __init__(
        self,
        consumer: Consumer,
        to_line: Callable[[Record], bytes],
        most: int | None,
        *,
        has_group: bool,
    ) -> None:
        self.count = 0
        self.serde: Serde | None = None
        self._consumer = consumer
        self._to_line = to_line
        self._most = most
        self._has_group = has_group

    def until_quiet(self, timeout: float | None) -> None:
        """Print until enough was printed, or nothing came for some time."""
        while not self._is_enough():
            records = self._consumer.poll(_FOR_EVER if timeout is None else timeout)
            self._print(records)
            if not records and timeout is not None:
                return

    def up_to_end(self, log: EmbeddedLog) -> None:
        """Print what is there now."""
        gives_up_at = time.monotonic() + _PATIENCE
        ends: dict[object, int] = {}
        while not self._is_enough():
            self._print(self._consumer.poll(_LOOK if self._has_group else 0))
            places = self._consumer.assignment
            for place in places - ends.keys():
                ends[place] = log.bounds(*place).end
            behind = [place for place in places if self._consumer.position(place) < ends[place]]
            if not behind and (places or time.monotonic() > gives_up_at):
                return

    def _is_enough(self) -> bool:
        return self._most is not None and self.count >= self._most

    def _print(self, records: list[Record]) -> None:
        left = len(records) if self._most is None else self._most - self.count
        self._put_back(records[left:])
        chosen = records[:left]
        if chosen:
            shown = chosen if self.serde is None else read_rows(self.serde, chosen, _tell_unread)
            sys.stdout.buffer.write(b"".join(map(self._to_line, shown)))
            sys.stdout.buffer.flush()
            self.count += len(chosen)
        if self._has_group:
            # Only now: what was not printed must come again.
            self._consumer.commit()

    def _put_back(self, records: list[Record]) -> None:
        from penstock.log.record import TopicPartition  # noqa: PLC0415  # only to cut at --max

        for record in reversed(records):
            self._consumer.seek(TopicPartition(record.topic, record.partition), record.offset)


def _tell_unread(record: Record, reason: str) -> None:
    talk(f'offset {record.offset} of "{record.topic}-{record.partition}" cannot be read: {reason}')


def _consumer(
    log: EmbeddedLog, topic: str, partition: int | None, group: str | None, start: Start
) -> Consumer:
    from penstock.log.consumer import Consumer  # noqa: PLC0415  # needs Arrow
    from penstock.log.record import TopicPartition  # noqa: PLC0415

    return Consumer(
        log,
        () if partition is not None else topic,
        group=group,
        partitions=None if partition is None else [TopicPartition(topic, partition)],
        start=start,
        # An offset that a person wrote must be there; one that retention took is passed over.
        out_of_range="error" if isinstance(start, int) else "earliest",
        auto_commit=None,
        max_poll_records=_BATCH,
        client="penstock-consume",
    )


def _start(text: str | None, *, no_wait: bool) -> Start:
    if text is None:
        return "earliest" if no_wait else "latest"
    return parse_place(text)


def _refuse_conflicts(
    start: str | None,
    from_beginning: bool,  # noqa: FBT001  # the flag's value
    ends: tuple[float | None, bool],
    readers: tuple[str | None, int | None],
) -> None:
    conflict = ""
    if from_beginning and start is not None:
        conflict = "--from-beginning and --from both say where to begin"
    elif ends[0] is not None and ends[1]:
        conflict = "--timeout and --no-wait both say when to end"
    elif readers[0] is not None and readers[1] is not None:
        conflict = "--group shares out the partitions itself, --partition names one"
    if conflict:
        raise UsageError("OPTIONS_CONFLICT", conflict, hint="Give one of them.")


def _say_waiting(topic: str, start: Start) -> None:
    if start == "latest" and decorated(sys.stderr):
        talk(f"Waiting for new records in {topic}; --from-beginning shows the old ones, too.")

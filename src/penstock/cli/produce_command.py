"""`penstock produce`: lines become records."""

from __future__ import annotations

import select
import sys
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated, BinaryIO, TypeAlias, cast

import typer

from penstock.cli.counted import counted
from penstock.cli.counter import Counter
from penstock.cli.input_line import (
    LineForm,
    LineReader,
    Outgoing,
    line_reader,
    parse_headers,
    refuse_line,
)
from penstock.cli.opened_log import opened_log
from penstock.cli.options import TopicArgument
from penstock.cli.output import examples, talk
from penstock.cli.row_lines import RowLines
from penstock.cli.serde_option import (
    FormatOption,
    SchemaOption,
    SubjectOption,
    Told,
    producing_serde,
)
from penstock.errors import TopicError, UsageError
from penstock.text.times import parse_timestamp

if TYPE_CHECKING:
    from penstock.log.embedded.log import EmbeddedLog
    from penstock.log.producer import Producer
    from penstock.log.sender import Delivery
    from penstock.log.topic import Topic

_INTERRUPTED = 130

_AT_ONCE = 1000

Lines: TypeAlias = Generator[bytes, None, None]
Records: TypeAlias = Generator[Outgoing, None, None]


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "produce",
        epilog=examples(
            "penstock produce avg",
            "printf '3\\n5\\n' | penstock produce avg",
            "printf 'ann:7\\nbob:9\\n' | penstock produce scores --key-separator :",
            'echo \'{"user": 7, "page": "/"}\' | penstock produce clicks --json-rows',
            'penstock produce views --format json --schema "user string, n bigint" --file rows',
            "penstock consume avg --no-wait --json | penstock produce copy --json --create",
        ),
    )(produce)


def produce(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    topic: TopicArgument,
    *,
    key_separator: Annotated[
        str | None,
        typer.Option("--key-separator", metavar="TEXT", help="What parts key and value of a line."),
    ] = None,
    tombstone: Annotated[
        str | None,
        typer.Option("--tombstone", metavar="TEXT", help="The value that stands for no value."),
    ] = None,
    partition: Annotated[
        int | None, typer.Option("--partition", min=0, help="Where all records go.")
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", metavar="NAME=VALUE", help="A header for all records."),
    ] = None,
    timestamp: Annotated[
        str | None,
        typer.Option(
            "--timestamp",
            metavar="TIME|MS",
            help="The time of all records: ISO 8601, or milliseconds since 1970. Default: now.",
        ),
    ] = None,
    json_rows: Annotated[
        bool,
        typer.Option(
            "--json-rows",
            help="Insist that lines are JSON objects of columns, as they are for a typed topic.",
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Lines are whole records as `consume --json` prints.")
    ] = False,
    value_format: FormatOption = None,
    schema: SchemaOption = None,
    subject: SubjectOption = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="Read this instead of stdin.")
    ] = None,
    create: Annotated[
        bool,
        typer.Option("--create", help="Create the topic, with 1 partition, if it is not there."),
    ] = False,
) -> None:
    """Append each line of stdin to a topic as a record.

    Ends with the input, when every record is stored as safely as the topic's fsync says. The line
    ending is not part of the value; an empty line is an empty value. A typed topic takes one JSON
    object a line, and so does one whose values have a --format, which are written by it: a schema
    that its registry does not take is refused before any record. A topic that does not exist is
    refused, unless --create is given.
    """
    form = LineForm(key_separator or None, tombstone, is_whole_record=json)
    given = Outgoing(
        None,
        None,
        None if timestamp is None else parse_timestamp(timestamp),
        parse_headers(header or []),
    )
    with opened_log(context, create=create) as log:
        target = _target(log, topic, partition, create=create)
        if json_rows and target.schema is None:
            raise UsageError(
                "TOPIC_UNTYPED",
                f'topic "{topic}" has no columns, so it takes lines as they are',
                hint="Leave --json-rows out, or create a topic with --schema.",
            )
        told = Told(value_format, schema, subject)
        serde = None if json else producing_serde(context, log, target, told)
        _refuse_whole_records(json=json, told=told)
        with _lines(file) as lines:
            reader = line_reader(target, form)
            if serde is None:
                _send(log, target, partition, _read(lines, reader), given)
            else:
                rows = _Written(RowLines(serde), is_live=file is None or file == "-")
                _send(log, target, partition, rows.records(lines, reader), given)


def _target(log: EmbeddedLog, name: str, partition: int | None, *, create: bool) -> Topic:
    try:
        topic = log.topic(name)
    except TopicError as error:
        if error.code != "TOPIC_MISSING" or not create:
            raise
        topic = log.create_topic(name)
        talk(f'topic "{name}" created with 1 partition')
    if partition is not None:
        log.bounds(name, partition)
    return topic


def _refuse_whole_records(*, json: bool, told: Told) -> None:
    if json and told != Told():
        raise UsageError(
            "OPTIONS_CONFLICT",
            "--json lines carry the bytes of their values, which --format would write",
            hint="Leave out --json to give rows, or --format to give records.",
        )


def _read(lines: Lines, read: LineReader) -> Records:
    """Give lines as records, one by one."""
    with closing(lines):
        for number, line in enumerate(lines, start=1):
            try:
                yield read(line)
            except ValueError as error:
                raise refuse_line(number, error) from None


class _Written:
    """Gives lines as records whose values a format writes, as many at a time as have come."""

    def __init__(self, rows: RowLines, *, is_live: bool) -> None:
        self._rows = rows
        self._is_live = is_live

    def records(self, lines: Lines, read: LineReader) -> Records:
        waiting: list[Outgoing] = []
        first = 1
        with closing(lines):
            for number, line in enumerate(lines, start=1):
                try:
                    waiting.append(read(line))
                except ValueError as error:
                    raise refuse_line(number, error) from None
                if len(waiting) == _AT_ONCE or (self._is_live and not _more_has_come()):
                    yield from self._valued(waiting, first)
                    first, waiting = number + 1, []
        yield from self._valued(waiting, first)

    def _valued(self, records: list[Outgoing], first: int) -> Iterator[Outgoing]:
        given = [cast("bytes | None", record.value) for record in records]
        values = self._rows.values(given, first) if given else []
        for record, value in zip(records, values, strict=True):
            yield record._replace(value=value)


def _more_has_come() -> bool:
    """Whether stdin has something to read at once; what cannot be asked is read to its end."""
    try:
        return bool(select.select([sys.stdin.buffer], [], [], 0)[0])
    except (OSError, ValueError):
        return True


def _send(
    log: EmbeddedLog,
    topic: Topic,
    partition: int | None,
    records: Records,
    given: Outgoing,
) -> None:
    from penstock.log.producer import Producer  # noqa: PLC0415  # needs Arrow

    producer = Producer(log)
    code = 0
    try:
        _send_records(producer, topic.name, partition, records, given)
    except KeyboardInterrupt:
        code = _INTERRUPTED
    finally:
        try:
            producer.close()
        finally:
            count = counted(producer.stats.acknowledged, "record")
            talk(f'{count} appended to "{topic.name}"')
    raise typer.Exit(code)


def _send_records(
    producer: Producer, topic: str, partition: int | None, records: Records, given: Outgoing
) -> None:
    waiting: deque[Delivery] = deque()
    with closing(records):
        for record in records:
            delivery = producer.send(
                topic,
                record.value,
                key=record.key,
                timestamp=record.timestamp if given.timestamp is None else given.timestamp,
                headers=record.headers + given.headers,
                partition=partition,
            )
            waiting.append(delivery)
            while waiting and waiting[0].done():
                waiting.popleft().result()
    producer.flush()
    for last in waiting:
        last.result()


@contextmanager
def _lines(file: str | None) -> Iterator[Lines]:
    if file is None or file == "-":
        is_terminal = sys.stdin.isatty()
        yield _typed_lines(sys.stdin.buffer) if is_terminal else _bare_lines(sys.stdin.buffer)
        return
    try:
        stream = open(file, "rb")  # noqa: PTH123, SIM115  # closed below
    except OSError as error:
        raise UsageError(
            "FILE_UNREADABLE",
            f'file "{file}" cannot be read: {error.strerror}',
            hint="Give a file with one record a line.",
        ) from error
    with stream:
        yield _bare_lines(stream)


def _bare_lines(stream: BinaryIO) -> Lines:
    counter = Counter("lines read")
    try:
        for number, line in enumerate(stream, start=1):
            yield line.removesuffix(b"\n").removesuffix(b"\r")
            counter.show(number)
    finally:
        counter.clear()


def _typed_lines(stream: BinaryIO) -> Lines:
    talk("One record a line; Ctrl-D ends.")
    while True:
        sys.stderr.write("> ")
        sys.stderr.flush()
        line = stream.readline()
        if not line:
            talk("")
            return
        yield line.removesuffix(b"\n").removesuffix(b"\r")

"""`penstock mirror`: copies topics between logs, each record once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.counted import counted
from penstock.cli.counter import Counter
from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, talk, write_json, write_table
from penstock.errors import UsageError

if TYPE_CHECKING:
    from penstock.config import Settings
    from penstock.log.mirror import Route
    from penstock.log.mirroring import Copied
    from penstock.log.port import Log

TopicsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[TOPIC]...", help="Topics of the source; all unless some are named."),
]
FromOption = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="LOG",
        help="The log to read: a home directory, or kafka://, http:// or tcp://HOST:PORT. The"
        " project's own unless it is said.",
    ),
]
ToOption = Annotated[
    str, typer.Option("--to", metavar="LOG", help="The log to write to; the same as well.")
]
PrefixOption = Annotated[
    str, typer.Option("--prefix", metavar="TEXT", help="Put before the names at the target.")
]
FollowOption = Annotated[
    bool,
    typer.Option(
        "--follow/--until-end",
        help="Go on until Ctrl-C, or end where the topics end now (as it does unless it is said).",
    ),
]
AppendOption = Annotated[
    bool,
    typer.Option("--append", help="Add to topics that have records of others at the target."),
]


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    application.command(
        "mirror",
        epilog=examples(
            "penstock mirror --to kafka://127.0.0.1:9092",
            "penstock mirror clicks orders --from kafka://west:9092 --to kafka://east:9092"
            " --prefix west.",
            "penstock mirror clicks --from kafka://127.0.0.1:9092 --to ./copy --follow",
        ),
    )(mirror)


def mirror(  # noqa: PLR0913, PLR0917  # each parameter is a flag
    context: typer.Context,
    topics: TopicsArgument = None,
    source: FromOption = "",
    target: ToOption = "",
    prefix: PrefixOption = "",
    follow: FollowOption = False,
    append: AppendOption = False,
    json: JsonOption = False,
) -> None:
    """Copy topics to another log, each record once, also over kills and restarts.

    Records keep their partition, order, key, time, headers and deletions. A topic that the target
    lacks is made with the partitions, columns and settings of the source's. Run it again to go on
    where it ended.
    """
    from penstock.log.mirror import Route  # noqa: PLC0415  # Arrow: 0.1 s

    if not target:
        raise UsageError(
            "MIRROR_TARGET",
            "where the topics are to be copied to is not said",
            hint="Name the other log: --to kafka://HOST:PORT, or --to DIRECTORY.",
        )
    settings = settings_of(context)
    with ExitStack() as stack:
        here, there = _opened(source, settings), _opened(target, settings)
        stack.callback(here.close)
        stack.callback(there.close)
        routes = [
            Route(here, there, name, renamed=prefix + name, appends=append)
            for name in registry_first(topics or here.topics())
        ]
        _run(routes, follow=follow, as_json=json)


def registry_first(names: Sequence[str]) -> list[str]:
    """Put the registry's topic before those whose values or columns need it."""
    from penstock.schema.registry.schema_topic import SCHEMAS_TOPIC  # noqa: PLC0415  # Arrow

    return sorted(dict.fromkeys(names), key=lambda name: (name != SCHEMAS_TOPIC, name))


def _opened(address: str, settings: Settings) -> Log:
    from pathlib import Path  # noqa: PLC0415  # with the rest of this function

    from penstock.log.open import open_log  # noqa: PLC0415  # Arrow: 0.1 s

    if "://" in address:
        return open_log(address)
    return open_log(Path(address) if address else settings.log or settings.home)


def _run(routes: Sequence[Route], *, follow: bool, as_json: bool) -> None:
    from penstock.log.mirroring import copy_topics, follow_topics  # noqa: PLC0415  # Arrow

    seen: dict[str, Copied] = {}
    counter = Counter("records copied")

    def tell(copied: Copied) -> None:
        seen[copied.topic] = copied
        counter.show(sum(item.records for item in seen.values()))

    try:
        if follow:
            talk(f"copying {counted(len(routes), 'topic')}; Ctrl-C ends")
            follow_topics(routes, tell=tell)
        else:
            for done in copy_topics(routes, tell=tell):
                tell(done)
    finally:
        # Also after Ctrl-C or an error: what was copied stands.
        counter.clear()
        _write(list(seen.values()), as_json=as_json)


def _write(found: Sequence[Copied], *, as_json: bool) -> None:
    total = sum(item.records for item in found)
    if as_json:
        write_json({"records": total, "topics": [asdict(item) for item in found]})
        return
    if found:
        write_table(
            ("topic", "target", "partitions", "records"),
            [(item.topic, item.target, item.partitions, item.records) for item in found],
        )
    talk(f"{counted(total, 'record')} of {counted(len(found), 'topic')} copied")
    gone = sum(item.passed_over for item in found)
    if gone:
        talk(f"{counted(gone, 'offset')} of the source were gone before they could be copied")

"""`penstock migrate`: moves a project from the log of its home to Kafka."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.counted import counted
from penstock.cli.counter import Counter
from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, talk, write_json, write_line, write_table
from penstock.errors import UsageError

if TYPE_CHECKING:
    from penstock.jobs.migration import MigrationPlan
    from penstock.log.mirroring import Copied

_SCHEME = "kafka://"
ToOption = Annotated[
    str, typer.Option("--to", metavar="LOG", help="The cluster: kafka://HOST:PORT.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be moved, and move nothing.")
]


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    application.command(
        "migrate",
        epilog=examples(
            "penstock migrate --to kafka://127.0.0.1:9092 --dry-run",
            "penstock migrate --to kafka://127.0.0.1:9092",
        ),
    )(migrate)


def migrate(
    context: typer.Context,
    target: ToOption = "",
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Move a project to Kafka: topics, groups' offsets, jobs with their state, the setting `log`.

    Jobs must be stopped. The log of the home stays as it is. After a kill, run it again.
    """
    if not target.startswith(_SCHEME):
        raise UsageError(
            "MIGRATE_TARGET",
            "which cluster of Kafka the project is to move to is not said",
            hint="Name it: --to kafka://HOST:PORT.",
        )
    from penstock.jobs.migration import Migration  # noqa: PLC0415  # Spark's modules
    from penstock.log.open import open_log  # noqa: PLC0415  # Arrow: 0.1 s

    move = Migration(settings_of(context), target, Path.cwd())
    plan = move.plan()
    if not json:
        _write(plan)
    done: tuple[Copied, ...] = ()
    with open_log(target) as log:
        move.check(log)
        if not dry_run:
            counter = Counter("records of a topic copied")
            done = move.run(log, tell=lambda copied: counter.show(copied.records))
            counter.clear()
            copied = counted(sum(item.records for item in done), "record")
            talk(f"{copied} copied; the log is {target}")
    if json:
        write_json({**asdict(plan), "copied": [asdict(item) for item in done]})


def _write(plan: MigrationPlan) -> None:
    if plan.topics:
        write_table(("topic", "offsets"), list(plan.topics.items()))
    for kind, names in (("group", plan.groups), ("job", plan.jobs)):
        for name in names:
            write_line(f"{kind}  {name}")
    write_line(f'setting  log = "{plan.target}"  in {plan.settings}')

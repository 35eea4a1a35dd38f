"""`penstock kafka`: brokers of Apache Kafka on this machine, to develop and to test on."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, talk, waiting, write_json, write_line, write_table

if TYPE_CHECKING:
    from penstock.broker.cluster import Cluster
    from penstock.broker.report import ClusterReport

_FOLDER = "kafka"
_MOST = 9
BrokersOption = Annotated[
    int | None,
    typer.Option(
        "--brokers",
        min=1,
        max=_MOST,
        help="How many brokers; as many as there were, or 1, unless it is said.",
    ),
]


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    group.command("up", epilog=examples("penstock kafka up", "penstock kafka up --brokers 3"))(up)
    group.command(
        "status", epilog=examples("penstock kafka status", "penstock kafka status --json")
    )(status)
    group.command("down", epilog=examples("penstock kafka down"))(down)
    application.add_typer(
        group,
        name="kafka",
        help="Run brokers of Apache Kafka on this machine.",
        epilog=examples("penstock kafka up", "penstock kafka status", "penstock kafka down"),
    )


def up(context: typer.Context, brokers: BrokersOption = None, json: JsonOption = False) -> None:
    """Have brokers running: those that are down are started, with the records they had.

    They go on when this command has ended. Prints the line of configuration that leads to them.
    The first time, the jars of Kafka are fetched.
    """
    from penstock.broker.cluster import Machinery  # noqa: PLC0415  # psutil and sockets
    from penstock.broker.fetch import require_jars  # noqa: PLC0415
    from penstock.broker.jars import jars_folder  # noqa: PLC0415

    cluster = _cluster(context)
    jars = require_jars(jars_folder(settings_of(context)), tell=talk)
    with waiting("starting brokers"):
        plan = cluster.up(Machinery(jars), brokers=brokers)
    if json:
        write_json({"address": plan.address, "log": f"kafka://{plan.address}"})
    else:
        write_line(f'log = "kafka://{plan.address}"')
        count = len(plan.nodes)
        talk(f"{count} broker{'s' * (count > 1)} up; `penstock kafka down` stops")


def status(context: typer.Context, json: JsonOption = False) -> None:
    """Show which brokers are up, who controls them, and whether every copy is whole."""
    from penstock.broker.report import report_of  # noqa: PLC0415  # psutil and sockets

    report = report_of(_cluster(context))
    if json:
        write_json(None if report is None else asdict(report))
    elif report is None:
        talk("no broker was started here yet; `penstock kafka up` starts one")
    else:
        _write(report)


def down(context: typer.Context) -> None:
    """Stop the brokers that `up` has started; their records stay."""
    cluster = _cluster(context)
    with waiting("stopping brokers"):
        stopped = cluster.down()
    talk(f"{stopped} broker{'s' * (stopped != 1)} stopped")


def _cluster(context: typer.Context) -> Cluster:
    from penstock.broker.cluster import Cluster  # noqa: PLC0415  # psutil and sockets

    return Cluster(settings_of(context).home / _FOLDER)


def _write(report: ClusterReport) -> None:
    write_line(f"address      {report.address}")
    voters = ", ".join(str(number) for number in report.controllers)
    leading = report.leading_controller
    write_line(f"controllers  {voters}" + (f" ({leading} leads)" if leading else " (none leads)"))
    if report.topics is not None:
        behind = f"{report.partitions_behind} with a copy behind"
        write_line(f"topics       {report.topics} ({report.partitions} partitions, {behind})")
    write_line("")
    write_table(
        ("broker", "state", "address", "pid"),
        [(item.id, item.state, item.address, item.pid or "") for item in report.brokers],
    )

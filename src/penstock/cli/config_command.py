"""`penstock config`: which settings are in force, and why."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, write_json, write_table
from penstock.config import Settings


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    group.command(
        "show", epilog=examples("penstock config show --origin", "penstock config show --json")
    )(show)
    application.add_typer(
        group,
        name="config",
        help="Show which settings are in force.",
        epilog=examples("penstock config show --origin"),
    )


# What stands between the name and the @ of an address is nobody's business.
_PASSWORD = re.compile(r"(://[^/@:]*:)[^/@]*@")


def show(
    context: typer.Context,
    origin: Annotated[bool, typer.Option("--origin", help="Say where each comes from.")] = False,
    json: JsonOption = False,
) -> None:
    """Show every setting in force."""
    settings = settings_of(context)
    values = _values(settings)
    if json and origin:
        write_json(
            {
                key: {"value": value, "origin": settings.origins.get(key, "section [kafka]")}
                for key, value in values.items()
            }
        )
    elif json:
        write_json(values)
    elif origin:
        origins = {**dict.fromkeys(values, "section [kafka]"), **settings.origins}
        rows = [(key, _text(value), origins[key]) for key, value in values.items()]
        write_table(("key", "value", "origin"), rows)
    else:
        write_table(("key", "value"), [(key, _text(value)) for key, value in values.items()])


def _values(settings: Settings) -> dict[str, str | bool]:
    return {
        "debug": settings.debug,
        "home": str(settings.home),
        "registry.url": _PASSWORD.sub(r"\1***@", settings.registry_url),
        "spark.driver_memory": settings.spark_driver_memory,
        "spark.master": settings.spark_master,
        "state.database": settings.state_database,
        "state.store": settings.state_store,
        **({"log": settings.log} if settings.log else {}),
        **_kafka(settings),
    }


def _kafka(settings: Settings) -> dict[str, str | bool]:
    """Give the properties of Kafka's clients; of a secret only that there is one."""
    if not settings.kafka:
        return {}
    from penstock.log.kafka.properties import shown  # noqa: PLC0415  # few have any

    return {f"kafka.{name}": value for name, value in shown(settings.kafka).items()}


def _text(value: str | bool) -> str:  # noqa: FBT001  # a value to show, not a switch
    return str(value).lower() if isinstance(value, bool) else value

"""Check of what a broker of Kafka on this machine is made of."""

from __future__ import annotations

from penstock.broker.jars import KAFKA_VERSION, jars_folder, take_stock
from penstock.config import Settings
from penstock.errors import SetupError


def check_kafka(settings: Settings) -> str:
    """The jars are whole, or not needed yet: only `penstock kafka up` needs them."""
    folder = jars_folder(settings)
    inventory = take_stock(folder)
    if inventory.damaged:
        raise SetupError(
            "BROKER_JAR_DAMAGED",
            f'the jar "{inventory.damaged[0]}" in "{folder}" is not the one that was pinned',
            hint="Run `penstock kafka up`: it fetches the jar anew.",
        )
    if inventory.missing:
        return f"no broker here: {len(inventory.missing)} jars are fetched by `penstock kafka up`"
    return f"{KAFKA_VERSION} ({folder})"

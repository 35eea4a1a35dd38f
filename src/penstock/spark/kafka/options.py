"""The options of Spark's Kafka connector, as those of our own format."""

from __future__ import annotations

import json
from collections.abc import Mapping

from penstock.errors import UsageError
from penstock.spark.admission import NO_LIMITS, BatchLimits
from penstock.spark.cores import available_cores
from penstock.spark.kafka.address import is_kafka
from penstock.spark.options import SourceOptions, required_option
from penstock.spark.position import BEGINNING, LATEST, Positions, parse_positions

_NAME = "kafka"
_SERVERS = "kafka.bootstrap.servers"
_SUBSCRIBE = "subscribe"
# How Kafka's connector writes "from the beginning" and "from now on" where it wants a number.
_WORDS = {-2: "beginning", -1: "latest"}


def kafka_source_options(given: Mapping[str, str], *, stream: bool) -> SourceOptions:
    """Read the options of a source: a stream begins at its end, a table at its beginning."""
    options = _lowered(given)
    topic = required_option(options, _SUBSCRIBE, _NAME)
    if "," in topic:
        raise UsageError(
            "FORMAT_OPTION",
            f'option subscribe="{topic}" names several topics',
            hint="Read each by itself, and put them together with union.",
        )
    rows = options.get("maxoffsetspertrigger")
    return SourceOptions(
        home=_home(required_option(options, _SERVERS, _NAME)),
        topic=topic,
        start=_positions(options, "startingOffsets", topic, LATEST if stream else BEGINNING),
        stop=_positions(options, "endingOffsets", topic, LATEST),
        limits=NO_LIMITS
        if rows is None
        else BatchLimits(rows=_count("maxOffsetsPerTrigger", rows)),
        min_tasks=_count("minPartitions", options.get("minpartitions", str(available_cores()))),
        group=options.get("kafka.group.id", ""),
    )


def wants_headers(given: Mapping[str, str]) -> bool:
    """Say whether the headers of records are asked for."""
    return _lowered(given).get("includeheaders", "false").lower() == "true"


def registry_url(given: Mapping[str, str]) -> str:
    """Give the registry that knows the schemas of values; by default the one in the log."""
    return _lowered(given).get("schema.registry.url", "")


def _lowered(given: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in given.items()}


def _home(servers: str) -> str:
    """Give the log that brokers or a server of ours keep at an address, or a directory."""
    first, *others = (server.strip() for server in servers.split(","))
    if ":" not in first or "/" in first:
        return first
    together = ",".join((first, *others))
    return f"kafka://{together}" if is_kafka(together) else f"tcp://{first}"


def _positions(
    options: Mapping[str, str], name: str, topic: str, otherwise: Positions
) -> Positions:
    text = options.get(name.lower())
    if text is None:
        return otherwise
    if text.lstrip().startswith("{"):
        text = json.dumps(_of_topic(name, text, topic))
    return parse_positions(text, option=name, otherwise=otherwise)


def _of_topic(name: str, text: str, topic: str) -> dict[str, str]:
    try:
        offsets: dict[str, int] = json.loads(text).get(topic, {})
        return {partition: _WORDS.get(at, str(at)) for partition, at in offsets.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise UsageError(
            "POSITION_TEXT",
            f'option {name}="{text}" names no offsets of topics',
            hint='Write it as {"topic": {"0": 23, "1": -2}}: -2 is the beginning, -1 the end.',
        ) from error


def _count(name: str, text: str) -> int:
    if not text.strip().isdecimal() or int(text) == 0:
        raise UsageError(
            "FORMAT_OPTION",
            f'option {name}="{text}" is not a number above 0',
            hint="Leave it out to have no limit.",
        )
    return int(text)

"""The options of the `penstock` format, read and checked before anything else happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from penstock.errors import UsageError, did_you_mean
from penstock.spark.admission import NO_LIMITS, BatchLimits
from penstock.spark.cores import available_cores
from penstock.spark.position import BEGINNING, LATEST, Positions, parse_positions

_SOURCE = (
    "home",
    "topic",
    "start",
    "stop",
    "columns",
    "maxRowsPerBatch",
    "maxBytesPerBatch",
    "maxSecondsPerBatch",
    "minTasks",
    "group",
)
_SINK = ("home", "topic")
_OF_SPARK = ("path", "checkpointLocation", "queryName", "outputMode")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What to read of which topic, and how much at a time."""

    home: str
    topic: str
    start: Positions = BEGINNING
    stop: Positions = LATEST
    columns: tuple[str, ...] = ()
    limits: BatchLimits = NO_LIMITS
    min_tasks: int = 1
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkOptions:
    """Where rows go: to one topic, or to the one that each row names."""

    home: str
    topic: str = ""


def source_options(given: Mapping[str, str]) -> SourceOptions:
    """Read the options of a source; a misspelt one is named and corrected."""
    options = _checked(given, _SOURCE)
    columns = (name.strip() for name in options.get("columns", "").split(","))
    seconds = _number(options, "maxSecondsPerBatch")
    return SourceOptions(
        home=required_option(options, "home"),
        topic=required_option(options, "topic"),
        start=_positions(options, "start", BEGINNING),
        stop=_positions(options, "stop", LATEST),
        columns=tuple(name for name in columns if name),
        limits=BatchLimits(
            rows=_count(options, "maxRowsPerBatch"),
            bytes=_count(options, "maxBytesPerBatch"),
            span=None if seconds is None else timedelta(seconds=seconds),
        ),
        min_tasks=_count(options, "minTasks") or available_cores(),
        group=options.get("group", ""),
    )


def sink_options(given: Mapping[str, str]) -> SinkOptions:
    """Read the options of a sink; a misspelt one is named and corrected."""
    options = _checked(given, _SINK)
    return SinkOptions(home=required_option(options, "home"), topic=options.get("topic", ""))


def _checked(given: Mapping[str, str], known: tuple[str, ...]) -> dict[str, str]:
    names = {name.lower(): name for name in (*known, *_OF_SPARK)}
    for name in given:
        if name.lower() not in names:
            raise UsageError(
                "FORMAT_OPTION",
                f'option "{name}" of the penstock format does not exist',
                hint=did_you_mean(name, known) or f"Options: {', '.join(known)}.",
            )
    return {names[name.lower()]: value for name, value in given.items()}


def required_option(options: Mapping[str, str], name: str, of: str = "penstock") -> str:
    """Give an option that a format cannot do without."""
    value = options.get(name, "")
    if not value:
        raise UsageError(
            "FORMAT_OPTION",
            f'the {of} format needs the option "{name}"',
            hint=f'Add .option("{name}", ...).',
        )
    return value


def _positions(options: Mapping[str, str], name: str, otherwise: Positions) -> Positions:
    text = options.get(name)
    return otherwise if text is None else parse_positions(text, option=name, otherwise=otherwise)


def _count(options: Mapping[str, str], name: str) -> int | None:
    number = _number(options, name)
    return None if number is None else max(1, int(number))


def _number(options: Mapping[str, str], name: str) -> float | None:
    text = options.get(name)
    if text is None:
        return None
    try:
        number = float(text.replace("_", ""))
    except ValueError:
        number = 0.0
    if not number > 0:
        raise UsageError(
            "FORMAT_OPTION",
            f'option {name}="{text}" is not a number above 0',
            hint="Leave it out to have no limit.",
        )
    return number

"""What one may say about an application: by the names that Kafka Streams has for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from penstock.errors import ConfigError, did_you_mean

Engine: TypeAlias = Literal["inline", "spark"]

_ENGINES = ("inline", "spark")
_GUARANTEES = {"at_least_once": False, "exactly_once": True, "exactly_once_v2": True}
_KNOWN = (
    "application.id",
    "commit.interval.ms",
    "max.poll.records",
    "penstock.engine",
    "penstock.home",
    "processing.guarantee",
    "state.dir",
)
_COMMIT_MILLIS = 1000
_COMMIT_MILLIS_ONCE = 100
_RECORDS = 500


@dataclass(frozen=True, slots=True)
class Properties:
    """The settings of an application, each with its default.

    `records` is how many records are taken at once where so many wait; each still gives its
    own results. Where no `home` is given it is that of Penstock's settings.
    """

    application: str
    home: Path | None = None
    state: Path | None = None
    engine: Engine = "inline"
    exactly_once: bool = False
    commit_seconds: float = 1.0
    records: int = _RECORDS


def properties(given: Mapping[str, object]) -> Properties:
    """Read properties; a name that does not exist, or a value that does not fit, is refused."""
    for name in given:
        if name not in _KNOWN:
            raise ConfigError(
                "STREAMS_PROPERTY",
                f'property "{name}" does not exist',
                hint=did_you_mean(name, _KNOWN) or f"There are {', '.join(_KNOWN)}.",
            )
    guarantee = _chosen(given, "processing.guarantee", tuple(_GUARANTEES))
    once = _GUARANTEES[guarantee]
    engine = _chosen(given, "penstock.engine", _ENGINES)
    return Properties(
        application=_application(given),
        home=_path(given, "penstock.home"),
        state=_path(given, "state.dir"),
        engine="spark" if engine == "spark" else "inline",
        exactly_once=once,
        commit_seconds=_number(
            given, "commit.interval.ms", _COMMIT_MILLIS_ONCE if once else _COMMIT_MILLIS
        )
        / 1000,
        records=_number(given, "max.poll.records", _RECORDS),
    )


def _application(given: Mapping[str, object]) -> str:
    name = given.get("application.id")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(
            "STREAMS_PROPERTY",
            'property "application.id" is missing',
            hint="Name the application: instances with the same name share its work.",
        )
    return name


def _chosen(given: Mapping[str, object], name: str, words: tuple[str, ...]) -> str:
    word = given.get(name, words[0])
    if word not in words:
        raise _misfit(name, word, f"Give one of {', '.join(words)}.")
    return str(word)


def _number(given: Mapping[str, object], name: str, default: int) -> int:
    value = given.get(name, default)
    try:
        number = int(str(value))
    except ValueError:
        number = 0
    if number <= 0:
        raise _misfit(name, value, "Give a whole number above 0.")
    return number


def _path(given: Mapping[str, object], name: str) -> Path | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str | Path):
        raise _misfit(name, value, "Give the path of a folder.")
    return None if value is None else Path(value)


def _misfit(name: str, value: object, hint: str) -> ConfigError:
    return ConfigError("STREAMS_PROPERTY", f'property "{name}" is {value!r}', hint=hint)

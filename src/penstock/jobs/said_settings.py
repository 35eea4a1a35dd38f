"""The settings of a job as files and flags say them: each word in the place of what was known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, get_args

from penstock.errors import ConfigError, ModelError, did_you_mean
from penstock.model.duration import duration_of
from penstock.model.job_settings import (
    Guarantee,
    Isolation,
    JobSettings,
    Realtime,
    Recovery,
    UpgradeOf,
)

(REALTIME,) = get_args(Realtime)


def file_settings(base: JobSettings, jobs: Mapping[str, object], name: str) -> JobSettings:
    """Give settings with what the table of a job in `penstock.toml` says in its place."""
    said = jobs.get(name, {})
    if not isinstance(said, Mapping):
        raise ConfigError(
            "CONFIG_VALUE",
            f'setting "jobs.{name}" is not a table: {said!r}',
            hint=f"Write it as a table: [jobs.{name}].",
        )
    return settings_said(base, said, f"[jobs.{name}]")


def settings_said(base: JobSettings, said: Mapping[str, object], where: str) -> JobSettings:
    """Give settings with what was said in its place; what does not exist is refused.

    `where` names who said it. Words are those of `JobSettings` and `Restart`, where `restarts` is
    the number of tries.
    """
    for name in said:
        if name not in _READERS:
            raise ConfigError(
                "CONFIG_KEY",
                f'setting "{name}" of a job does not exist ({where})',
                hint=did_you_mean(name, _READERS) or f"Settings: {', '.join(_READERS)}.",
            )
    values = {name: _value(name, value, where) for name, value in said.items()}
    restart = {_RESTART[name]: values.pop(name) for name in _RESTART if name in values}
    return replace(base, **values, restart=replace(base.restart, **restart))


def _value(name: str, value: object, where: str) -> Any:  # noqa: ANN401  # as its field has it
    kind, read = _READERS[name]
    try:
        return read(value)
    except (ValueError, ModelError):
        raise ConfigError(
            "CONFIG_VALUE",
            f'setting "{name}" of a job is not {kind}: {value!r} ({where})',
            hint=f"Give {kind}.",
        ) from None


def _choice(values: tuple[str, ...]) -> tuple[str, Callable[[object], object]]:
    def read(value: object) -> object:
        if value not in values:
            raise ValueError
        return value

    return f"one of {', '.join(values)}", read


def _count(least: int) -> tuple[str, Callable[[object], object]]:
    def read(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError
        return value

    return f"a whole number from {least} on", read


def _duration(value: object) -> timedelta:
    if not isinstance(value, str | timedelta):
        raise ValueError  # noqa: TRY004  # all wrong values are told in one way
    found = duration_of(value)
    if found <= timedelta(0):
        raise ValueError
    return found


def _latency(value: object) -> timedelta | str:
    return REALTIME if value == REALTIME else _duration(value)


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError  # noqa: TRY004  # all wrong values are told in one way
    return value


_A_DURATION = ('a duration such as "500ms"', _duration)
_READERS: Mapping[str, tuple[str, Callable[[object], object]]] = {
    "guarantee": _choice(get_args(Guarantee)),
    "recovery": _choice(get_args(Recovery)),
    "isolation": _choice(get_args(Isolation)),
    "latency": ('"realtime" or a duration such as "500ms"', _latency),
    "batch_rows": _count(1),
    "batch_every": _A_DURATION,
    "trim": ("true or false", _truth),
    "upgrade": _choice(get_args(UpgradeOf)),
    "restarts": _count(0),
    "first_pause": _A_DURATION,
    "longest_pause": _A_DURATION,
    "calm": _A_DURATION,
}
_RESTART = {
    "restarts": "tries",
    "first_pause": "first_pause",
    "longest_pause": "longest_pause",
    "calm": "calm",
}

"""The settings of a topic as `key=value` words, read and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from datetime import timedelta

from penstock.errors import UsageError
from penstock.log.topic import TopicConfig
from penstock.schema.registry.naming import STRATEGIES, guard_setting
from penstock.text.durations import duration_text, parse_duration
from penstock.text.sizes import exact_size_text, parse_size

NOTHING = "none"
_KINDS = {item.name: str(item.type) for item in fields(TopicConfig)}


def parse_settings(words: Sequence[str]) -> dict[str, object]:
    """Read words such as `retention=7d`; a setting that does not exist stays text."""
    changes: dict[str, object] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise UsageError(
                "SETTING_FORMAT",
                f'setting "{word}" is not of the form key=value',
                hint="Write it as retention=7d or cleanup=compact.",
            )
        name = name.strip().replace("-", "_")
        changes[name] = _parse(name, text.strip())
    return changes


def setting_text(value: object) -> str:
    """Write a setting's value so that `parse_settings` gives the same one."""
    if value is None or not str(value):
        return NOTHING
    if isinstance(value, timedelta):
        return duration_text(value)
    return exact_size_text(value) if isinstance(value, int) else str(value)


def setting_json(value: object) -> object:
    """Give a setting's value for JSON: durations in seconds, sizes in bytes."""
    return value.total_seconds() if isinstance(value, timedelta) else value


def _parse(name: str, text: str) -> object:
    kind = _KINDS.get(name, "")
    if text == NOTHING and "None" in kind:
        return None
    if name == "guard":
        return _parse_guard(text)
    if kind.startswith("timedelta"):
        return parse_duration(text)
    if kind.startswith("int"):
        return parse_size(text)
    return _parse_number(name, text) if kind == "float" else text


def _parse_guard(text: str) -> str:
    """Read a naming strategy as the guard that goes by it; any other guard by its name."""
    if text == NOTHING:
        return ""
    strategies = [strategy for strategy in STRATEGIES if strategy == text]
    return guard_setting(strategies[0]) if strategies else text


def _parse_number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            "SETTING_FORMAT",
            f'setting {name}="{text}" is not a number',
            hint=f"Write it as {name}=0.5.",
        ) from None

"""Rules as settings say them: a table `[alerts.NAME]` each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.errors import ConfigError, PenstockError, UsageError, did_you_mean
from penstock.model.duration import Duration, duration_of
from penstock.watch.rule import Rule
from penstock.watch.target import Target, target_of

_TEXTS = ("table", "stream", "metric", "job", "when", "clear", "message", "format", "columns")
_TIMES = ("for", "absent", "over", "resolve_after", "group_every", "repeat_every")
_NAMES = ("key", "group_by", "to")
_KNOWN = (*_TEXTS, *_TIMES, *_NAMES)
_FIELDS = {"for": "lasting"}


def rules_of(tables: Mapping[str, object]) -> tuple[Rule, ...]:
    """Read all rules, in the order of their names."""
    return tuple(_rule(name, tables[name]) for name in sorted(tables))


def require_rule(table: Mapping[str, object], name: str) -> Rule:
    """Give a rule by its name."""
    rules = {rule.name: rule for rule in rules_of(table)}
    if name not in rules:
        raise UsageError(
            "ALERT_MISSING",
            f'there is no rule "{name}"',
            hint=did_you_mean(name, rules) or "List them with `penstock alerts list`.",
        )
    return rules[name]


def alert_rule(
    name: str,
    *,
    to: str | Iterable[str | Target] = (),
    **said: Any,  # noqa: ANN401  # as a table says it
) -> Rule:
    """Make a rule with the words of `[alerts.NAME]`; what is `for` there is `lasting` here."""
    words = {("for" if key == "lasting" else key): value for key, value in said.items()}
    return _rule(name, {**words, "to": [to] if isinstance(to, str) else list(to)})


def _rule(name: str, table: object) -> Rule:
    if not isinstance(table, Mapping):
        raise _wrong(name, f"is {table!r}", f"Write it as a table: [alerts.{name}].")
    for word in table:
        if word not in _KNOWN:
            raise _wrong(
                name,
                f'has "{word}", which does not exist',
                did_you_mean(word, _KNOWN) or f"There are: {', '.join(_KNOWN)}.",
            )
    values: dict[str, Any] = {word: _value(name, word, table[word]) for word in table}
    return Rule(name=name, **{_FIELDS.get(word, word): value for word, value in values.items()})


def _value(name: str, word: str, value: object) -> object:
    if word in _TEXTS and isinstance(value, str) and value.strip():
        return value
    if word in _TIMES:
        return _time(name, word, value)
    if word in _NAMES:
        found = [value] if isinstance(value, str | Target) else value
        if isinstance(found, list | tuple) and all(isinstance(i, str | Target) for i in found):
            return tuple(_target(item) for item in found) if word == "to" else tuple(found)
    kind = "a text" if word in _TEXTS else "a list of texts"
    raise _wrong(name, f"has {word} = {_shown(word, value)}", f"Give {kind}.")


def _shown(word: str, value: object) -> str:
    # A receiver may be an address with a token in it.
    return "..." if word == "to" else repr(value)


def _target(item: str | Target) -> Target:
    return item if isinstance(item, Target) else target_of(item)


def _time(name: str, word: str, value: Any) -> object:  # noqa: ANN401  # whatever the file holds
    given: Duration = value
    try:
        return duration_of(given)
    except PenstockError as error:
        raise _wrong(name, f"has {word} = {value!r}: {error.fact}", error.hint) from error


def _wrong(name: str, why: str, hint: str) -> ConfigError:
    return ConfigError("ALERT_RULE", f'alert "{name}" {why}', hint=hint)

"""Settings: those that are obeyed here, what they can be, and those of ksqlDB that mean nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.tree_statement import SetProperty


@dataclass(frozen=True, slots=True)
class Setting:
    """What a setting says, how it is if nobody sets it, and what it can be where that is known."""

    meaning: str
    default: str = ""
    choices: tuple[str, ...] = ()
    number: bool = False


_YES_OR_NO = ("true", "false")
SETTINGS: Mapping[str, Setting] = {
    "auto.offset.reset": Setting(
        "where a SELECT with EMIT begins to read, and other queries too once it is set",
        "latest",
        ("earliest", "latest"),
    ),
    "ksql.functions.collect_list.limit": Setting("how many values COLLECT_LIST keeps", number=True),
    "ksql.functions.collect_set.limit": Setting("how many values COLLECT_SET keeps", number=True),
    "ksql.output.topic.name.prefix": Setting("what the names of topics of results begin with"),
    "ksql.persistence.default.format.key": Setting("the format of keys", "KAFKA"),
    "ksql.persistence.default.format.value": Setting("the format of values"),
    "ksql.persistence.wrap.single.values": Setting(
        "whether one column of values has a name in its records", "true", _YES_OR_NO
    ),
    "penstock.emit": Setting(
        "whether every batch gives one update of each key, or every record its own",
        "batch",
        ("batch", "record"),
    ),
}
_ELSEWHERE = ("ksql.", "cache.", "commit.interval", "processing.guarantee", "num.stream.threads")
"""How settings begin that ksqlDB and Kafka Streams have, and which change no result here."""


def check_setting(statement: SetProperty) -> tuple[str, ...]:
    """Refuse a value that a setting cannot have; give what is worth knowing about it."""
    found = SETTINGS.get(statement.name)
    value = statement.value
    if found is None:
        return (_unknown(statement.name),)
    wrong_choice = found.choices and value.lower() not in found.choices
    if wrong_choice or (found.number and not value.lstrip("-").isdigit()):
        wanted = "a whole number" if found.number else " or ".join(found.choices)
        fact = f'setting "{statement.name}" cannot be "{value}"'
        raise SqlError(
            "SQL_SETTING",
            statement.source.shown(fact, statement.span),
            hint=did_you_mean(value, found.choices) or f"It can be {wanted}.",
        )
    return ()


def _unknown(name: str) -> str:
    guess = did_you_mean(name, SETTINGS)
    if guess:
        return f"this setting is not known here. {guess}"
    if name.startswith(_ELSEWHERE):
        return "this setting of ksqlDB's changes nothing here"
    return "this setting is not known here, and changes nothing"

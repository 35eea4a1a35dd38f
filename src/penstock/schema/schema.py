"""The columns of a relation, by name and in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import override

from penstock.errors import SchemaError, did_you_mean
from penstock.schema.types import Type


@dataclass(frozen=True, slots=True)
class Field:
    """One column."""

    name: str
    type: Type
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns in order; no two have the same name."""

    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for field in self.fields:
            if field.name in seen:
                raise SchemaError(
                    "COLUMN_TWICE",
                    f'column "{field.name}" appears twice',
                    hint="Give one of them another name.",
                )
            seen.add(field.name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns in order."""
        return tuple(field.name for field in self.fields)

    def field(self, name: str, *, role: str = "column", site: str = "") -> Field:
        """Give a column; a misspelt one is named with a suggestion and the user's place."""
        for field in self.fields:
            if field.name == name:
                return field
        place = f" ({site})" if site else ""
        raise SchemaError(
            "COLUMN_MISSING",
            f'{role} "{name}" does not exist{place}',
            hint=did_you_mean(name, self.names) or f"The columns: {', '.join(self.names)}.",
        )

    def with_fields(self, added: Iterable[Field]) -> Schema:
        """Give these columns and more after them; one that is there is replaced in place."""
        new = {field.name: field for field in added}
        kept = tuple(new.pop(field.name, field) for field in self.fields)
        return Schema(kept + tuple(new.values()))

    @override
    def __str__(self) -> str:
        return ", ".join(f"{field.name} {field.type}" for field in self.fields)

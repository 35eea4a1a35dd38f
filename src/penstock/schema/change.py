"""What a schema changes of another, field by field, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from penstock.schema.outline import Entry, outline

if TYPE_CHECKING:
    from penstock.schema.codec.schemas import SchemaType
    from penstock.schema.language import SchemaSource

What: TypeAlias = Literal["added", "removed", "changed", "renamed"]


@dataclass(frozen=True, slots=True)
class Change:
    """One field that differs; `before` and `after` say what it was and is."""

    what: What
    field: str
    before: str
    after: str

    @property
    def sentence(self) -> str:
        """Say it on one line."""
        if self.what == "added":
            return f"added    {self.field}: {self.after}"
        if self.what == "removed":
            return f"removed  {self.field}: {self.before}"
        if self.what == "renamed":
            return f"renamed  {self.before} -> {self.after}"
        return f"changed  {self.field}: {self.before} -> {self.after}"


def changes_between(type_: SchemaType, before: SchemaSource, after: SchemaSource) -> list[Change]:
    """Give the fields that differ; one that has another's name as an alias is renamed."""
    old, new = outline(type_, before), outline(type_, after)
    found: list[Change] = []
    renamed = _renamed(old, new)
    for name, entry in old.items():
        if name in renamed:
            later = renamed[name]
            found.append(Change("renamed", name, name, later))
            if new[later].words != entry.words:
                found.append(Change("changed", later, entry.words, new[later].words))
        elif name not in new:
            found.append(Change("removed", name, entry.words, ""))
        elif new[name].words != entry.words:
            found.append(Change("changed", name, entry.words, new[name].words))
    known = {*old, *renamed.values()}
    found.extend(
        Change("added", name, "", entry.words) for name, entry in new.items() if name not in known
    )
    return found


def _renamed(old: dict[str, Entry], new: dict[str, Entry]) -> dict[str, str]:
    return {
        earlier: name
        for name, entry in new.items()
        if name not in old
        for earlier in entry.before
        if earlier in old and earlier not in new
    }

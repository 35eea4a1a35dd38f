"""The streams of a plan changed, wherever in it they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeAlias

from penstock.model.relation import Relation
from penstock.model.source import Stream

Change: TypeAlias = Callable[[Stream], Stream]


def with_streams(relation: Relation, change: Change) -> Relation:
    """Give the same steps over streams that were changed."""
    return _Rewiring(change).done(relation)


class _Rewiring:
    def __init__(self, change: Change) -> None:
        self._change = change
        self._made: dict[int, Relation] = {}

    def done(self, relation: Relation) -> Relation:
        # What two steps share stays shared: it is read once.
        if id(relation) not in self._made:
            self._made[id(relation)] = self._done(relation)
        return self._made[id(relation)]

    def _done(self, relation: Relation) -> Relation:
        if isinstance(relation, Stream):
            return self._change(relation)
        changes: dict[str, Any] = {}
        for field in fields(relation):
            value = getattr(relation, field.name)
            if isinstance(value, Relation):
                changes[field.name] = self.done(value)
            elif isinstance(value, tuple) and any(isinstance(item, Relation) for item in value):
                changes[field.name] = tuple(self.done(item) for item in value)
        return replace(relation, **changes) if changes else relation

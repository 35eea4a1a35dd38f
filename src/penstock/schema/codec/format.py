"""How the bytes of a topic's values are written, by name: a plain value that a plan can hold."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from typing_extensions import override

# What would be read otherwise than it was meant: an option after a comma, a quote, an outer space.
_AMBIGUOUS = re.compile(r',\s*\w+\s*=|^"|^\s|\s$|^$')

OnError: TypeAlias = Literal["dead_letter", "skip", "fail"]
"""What becomes of a value that cannot be read: put aside, only counted, or the end of the job."""


@dataclass(frozen=True, slots=True)
class Format:
    """A codec's name and what it is told.

    With `subject` the schemas are those of that subject in the registry, and each value begins
    with the id of its own (the wire format of Confluent's clients). `written` is the text of a
    schema (Avro, JSON Schema, Protobuf) that values are written with where no registry tells.
    `options` are the codec's own, such as a delimiter, sorted by name.
    """

    name: str
    options: tuple[tuple[str, str], ...] = ()
    subject: str | None = None
    written: str | None = None

    def option(self, name: str, default: str = "") -> str:
        """Give what the codec is told by a name."""
        return dict(self.options).get(name, default)

    def with_options(self, **options: str) -> Format:
        """Tell the codec more."""
        return replace(self, options=tuple(sorted({**dict(self.options), **options}.items())))

    @override
    def __str__(self) -> str:
        """Read as configuration writes it: `delimited(delimiter=|)`; `format_of` reads it."""
        told = dict(self.options)
        if self.subject is not None:
            told["subject"] = self.subject
        inside = ", ".join(f"{name}={_text(value)}" for name, value in told.items())
        return f"{self.name}({inside})" if inside else self.name


def _text(value: str) -> str:
    return json.dumps(value) if _AMBIGUOUS.search(value) else value

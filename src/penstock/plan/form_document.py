"""Forms of states as JSON, which stands in every stored state and beside the checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from penstock.model.process import StateField
from penstock.model.state_form import (
    Columns,
    Fixed,
    StateForm,
    StoredArgument,
    StoredMeasure,
)
from penstock.schema.text import parse_type
from penstock.schema.types import Type

Document: TypeAlias = Mapping[str, Any]


def form_document(form: StateForm) -> Document:
    """Give a form as JSON has it; types are texts."""
    return {
        "kind": form.kind,
        "step": form.step,
        "keys": _columns(form.keys),
        "fixed": [[item.what, item.words, item.mark] for item in form.fixed],
        "rows": [[name, _columns(columns)] for name, columns in form.rows],
        "fields": [_field(item) for item in form.fields],
        "measures": [_measure(item) for item in form.measures],
        "retracts": form.retracts,
    }


def read_form(document: Document) -> StateForm:
    """Give the form that was written."""
    return StateForm(
        document["kind"],
        document["step"],
        _read_columns(document["keys"]),
        tuple(Fixed(*item) for item in document["fixed"]),
        tuple((name, _read_columns(columns)) for name, columns in document["rows"]),
        tuple(map(_read_field, document["fields"])),
        tuple(map(_read_measure, document["measures"])),
        document["retracts"],
    )


def _columns(columns: Columns) -> list[list[str]]:
    return [[name, str(kind)] for name, kind in columns]


def _read_columns(columns: Iterable[Iterable[str]]) -> Columns:
    return tuple((name, parse_type(kind)) for name, kind in columns)


def _field(field: StateField) -> Document:
    key = None if field.map_key is None else str(field.map_key)
    return {
        "name": field.name,
        "version": field.version,
        "holds": field.holds,
        "type": str(field.type),
        "key": key,
    }


def _read_field(document: Document) -> StateField:
    key: Type | None = None if document["key"] is None else parse_type(document["key"])
    kind = parse_type(document["type"])
    return StateField(document["name"], document["holds"], kind, key, version=document["version"])


def _measure(measure: StoredMeasure) -> Document:
    arguments = [
        [item.column, item.mark, str(item.type), item.nullable] for item in measure.arguments
    ]
    return {
        "name": measure.name,
        "function": measure.function,
        "words": measure.words,
        "mark": measure.mark,
        "arguments": arguments,
    }


def _read_measure(document: Document) -> StoredMeasure:
    arguments = tuple(
        StoredArgument(column, mark, parse_type(kind), nullable)
        for column, mark, kind, nullable in document["arguments"]
    )
    return StoredMeasure(
        document["name"], document["function"], document["words"], document["mark"], arguments
    )

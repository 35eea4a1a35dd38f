"""What processes declared to remember when a checkpoint was last used, as its job file has it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from penstock.model.physical import Physical
from penstock.model.process import Process, StateField
from penstock.model.process_change import check_change
from penstock.schema.types import Kind, Type

Forms: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
"""The fields of each process, by the id of its operator."""


def state_forms(physical: Physical) -> Forms:
    """Give what the processes of a program declare."""
    forms = {
        keyed.id: [_form(field) for field in keyed.relation.state]
        for keyed in physical.operators
        if isinstance(keyed.relation, Process)
    }
    # As they are read back: there are no tuples in a file.
    found: Forms = json.loads(json.dumps(forms))
    return found


def require_fitting_forms(before: Forms, physical: Physical) -> None:
    """Refuse a program that declares otherwise than what is stored can become."""
    for keyed in physical.operators:
        if isinstance(keyed.relation, Process) and keyed.id in before:
            known = [_field(form) for form in before[keyed.id]]
            check_change(keyed.relation.name, known, keyed.relation.state)


def _form(field: StateField) -> dict[str, Any]:
    key = None if field.map_key is None else asdict(field.map_key)
    return {"name": field.name, "holds": field.holds, "type": asdict(field.type), "key": key}


def _field(form: Mapping[str, Any]) -> StateField:
    key = None if form["key"] is None else _type(form["key"])
    return StateField(form["name"], form["holds"], _type(form["type"]), key)


def _type(form: Mapping[str, Any]) -> Type:
    return Type(
        Kind(form["kind"]),
        None if form["item"] is None else _type(form["item"]),
        tuple((name, _type(part)) for name, part in form["fields"]),
        form["precision"],
        form["scale"],
    )

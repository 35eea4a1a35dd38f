"""The forms of a program's states, as its job file and its snapshots have them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from penstock.errors import StateError
from penstock.model.physical import Physical
from penstock.model.site import user_frame
from penstock.plan.form_document import form_document, read_form
from penstock.plan.state_change import StateWarning, check_form
from penstock.plan.state_form import state_form

Forms: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The form of each operator's state, by the id of the operator."""


def state_forms(physical: Physical) -> Forms:
    """Give the forms that the states of a program have."""
    return {keyed.id: form_document(state_form(keyed)) for keyed in physical.operators}


def check_forms(before: Forms, physical: Physical) -> tuple[str, ...]:
    """Refuse a program that stored states do not fit; give what its user should know.

    Where no forms are known it is left to those who read the states.
    """
    names = [keyed.id for keyed in physical.operators]
    if before and names != list(before):
        raise StateError(
            "CHECKPOINT_PROGRAM",
            f'program "{physical.name}" has the operators {_listed(names)}, and what is stored is'
            f" the state of {_listed(before)}",
            hint="Steps that remember something were added, taken away or moved: give the program"
            " a new checkpoint, or run the old one.",
        )
    return tuple(
        text
        for keyed in physical.operators
        if before
        for text in check_form(keyed, read_form(before[keyed.id]), state_form(keyed))
    )


def warn_of_changes(texts: tuple[str, ...]) -> None:
    """Tell the user what a changed program makes of its states."""
    frame = user_frame()
    for text in texts:
        told = f"[STATE_TAKEN_OVER] {text}"
        if frame is None:
            warnings.warn(told, StateWarning, stacklevel=3)
        else:
            # At the user's own line, which is where Python's filters look.
            warnings.warn_explicit(told, StateWarning, frame.f_code.co_filename, frame.f_lineno)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"

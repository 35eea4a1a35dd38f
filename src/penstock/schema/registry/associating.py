"""What is decided when topics are to be associated with subjects, or no longer."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import RegistryError
from penstock.schema.registry.association import Asking, Association
from penstock.schema.registry.contents import Contents
from penstock.schema.registry.entry import Entry, association_entry, no_association_entry


def associate(
    contents: Contents, wanted: Sequence[Association]
) -> tuple[list[Association], Sequence[Entry]]:
    """Decide on associations, all or none; one that is there already stays."""
    known = contents.associations()
    there = {one.place: one for one in known}
    new = []
    for one in wanted:
        held = there.get(one.place)
        if held is not None and held.subject != one.subject:
            raise RegistryError(
                "ASSOCIATION_TAKEN",
                f'the {one.part} of "{one.resource.name}" is associated with "{held.subject}"',
                hint="Delete that association first.",
            )
        _check_alone(one, known)
        if not contents.has_subject(one.subject):
            raise RegistryError(
                "ASSOCIATION_SUBJECT",
                f'subject "{one.subject}" has no version',
                hint="Register a schema first, or let one come along.",
            )
        if held != one:
            new.append(one)
    return list(wanted), [association_entry(one) for one in new]


def dissociate(contents: Contents, going: Asking) -> tuple[list[Association], Sequence[Entry]]:
    """Decide to end associations; those that are frozen stay."""
    gone = [one for one in contents.associations() if going.matches(one)]
    for one in gone:
        if one.frozen:
            raise RegistryError(
                "ASSOCIATION_FROZEN",
                f'the association of "{one.resource.name}" with "{one.subject}" is frozen',
                hint="It ends with its topic.",
            )
    return gone, [no_association_entry(one) for one in gone]


def _check_alone(one: Association, known: Sequence[Association]) -> None:
    others = [held for held in known if held.subject == one.subject and held.place != one.place]
    if others and "STRONG" in {one.lifecycle, *(held.lifecycle for held in others)}:
        raise RegistryError(
            "ASSOCIATION_ALONE",
            f'subject "{one.subject}" has another association, and one that is STRONG is alone',
            hint="Make it WEAK, or delete the other one.",
        )

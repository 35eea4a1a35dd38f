"""Contexts: a subject's name may begin with `:.context:`, and ids count anew in each context."""

from __future__ import annotations

from typing import NamedTuple

from penstock.errors import RegistryError
from penstock.schema.registry.port import EVERY_CONTEXT

DEFAULT_CONTEXT = "."
_GLOBAL = frozenset({"", ":.:", ":.__GLOBAL:"})
_RESERVED = frozenset({"__GLOBAL", "__EMPTY"})


class QualifiedSubject(NamedTuple):
    """A subject's context (`.` is the default one) and the rest of its name."""

    context: str
    subject: str


def split_subject(subject: str) -> QualifiedSubject:
    """Divide the name of a subject from its context."""
    if subject.startswith(":."):
        context, colon, rest = subject[1:].partition(":")
        if colon:
            return QualifiedSubject(context, rest)
    return QualifiedSubject(DEFAULT_CONTEXT, subject)


def context_of(subject: str) -> str:
    """Give the context of a subject."""
    return split_subject(subject).context


def plain_subject(subject: str) -> str:
    """Write a subject in the one way it is kept: the default context is left out."""
    context, rest = split_subject(subject)
    return rest if context == DEFAULT_CONTEXT else subject


def within(subject: str, context: str) -> str:
    """Give the subject that a name means inside a context; one with its own context keeps it."""
    if context == DEFAULT_CONTEXT or subject.startswith(":."):
        return plain_subject(subject)
    return f":{context}:{subject}"


def scope_of(subject: str | None) -> str:
    """Give what settings are kept under: a subject, a context (`:.name:`), or "" for all."""
    if subject is None or subject in _GLOBAL:
        return ""
    return plain_subject(subject)


def scopes_of(subject: str | None) -> tuple[str, ...]:
    """Give where the settings of a subject are looked for, the nearest first."""
    scope = scope_of(subject)
    context = context_of(scope)
    around = () if context == DEFAULT_CONTEXT else (f":{context}:",)
    return tuple(dict.fromkeys((scope, *around, "")))


def begins_with(subject: str, prefix: str) -> bool:
    """Whether a subject is among those that a prefix asks for; `:*:` is any context."""
    context, rest = split_subject(subject)
    if prefix.startswith(EVERY_CONTEXT):
        return rest.startswith(prefix.removeprefix(EVERY_CONTEXT))
    wanted = split_subject(prefix)
    return context == wanted.context and rest.startswith(wanted.subject)


def check_subject(subject: str) -> str:
    """Refuse a name that no subject may have; give the one it is kept under."""
    rest = split_subject(subject).subject
    if not rest or rest in _RESERVED or any(not letter.isprintable() for letter in subject):
        raise RegistryError(
            "SUBJECT_NAME",
            f"subject {subject!r} has no name, or one with control characters",
            hint="Use printable characters, such as topic-value.",
        )
    return plain_subject(subject)

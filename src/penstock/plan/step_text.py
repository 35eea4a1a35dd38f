"""Steps of a program in one line."""

from __future__ import annotations

from penstock.model.relation import Relation
from penstock.model.words import step_words


def step_text(relation: Relation) -> str:
    """Say in one line what a step does."""
    words = step_words(relation)
    return f"{words.kind} {words.title}".rstrip()

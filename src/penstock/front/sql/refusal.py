"""Errors that show the place in a statement."""

from __future__ import annotations

from penstock.errors import SqlError
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Span


def refused(text: SourceText, code: str, fact: str, span: Span, hint: str = "") -> SqlError:
    """Give an error about what stands at a place."""
    return SqlError(code, text.shown(fact, span), hint=hint)

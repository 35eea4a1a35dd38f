"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Write a count as a sentence needs it: 1 record, 2 records."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"

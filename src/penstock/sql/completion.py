"""The words that can follow in a shell: keywords, names, columns and functions."""

from __future__ import annotations

from penstock.front.sql.functions.registry import function_names
from penstock.front.sql.lex_words import keywords
from penstock.sql.definitions import Definitions


def known_words(definitions: Definitions) -> tuple[str, ...]:
    """Give all words that statements over a catalog may have."""
    sources = list(definitions.catalog)
    columns = {column.name for source in sources for column in source.columns}
    names = {source.name for source in sources} | set(definitions.catalog.types)
    names |= set(definitions.catalog.functions)
    return tuple(sorted({*keywords(), *function_names(), *names, *columns, *definitions.queries}))


def completed(begun: str, words: tuple[str, ...]) -> list[str]:
    """Give the words that begin so, in small letters where that is how it was begun."""
    small = begun != "" and begun == begun.lower()
    found = [word for word in words if word.startswith(begun.upper())]
    return [word.lower() if small and word.isupper() else word for word in found]

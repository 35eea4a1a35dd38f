"""The keywords of the language, for those who quote names or complete words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

GRAMMAR = Path(__file__).with_name("grammar.lark")

# fmt: off
RESERVED = frozenset({
    "ALL", "AND", "AS", "AT", "BETWEEN", "BY", "CASE", "CAST", "CREATE", "DISTINCT", "DROP",
    "ELSE", "END", "EXISTS", "FALSE", "FROM", "FULL", "GROUP", "HAVING", "IN", "INNER", "INSERT",
    "INTO", "IS", "JOIN", "LEFT", "LIKE", "LIMIT", "NOT", "NULL", "ON", "OR", "OUTER", "RIGHT",
    "SELECT", "THEN", "TRUE", "VALUES", "WHEN", "WHERE", "WINDOW", "WITH", "WITHIN",
})
# fmt: on
"""The words that are names only in quotes; all other keywords are names where they can be."""

KEYWORD_BEFORE: Mapping[str, Collection[str]] = {
    "ANTI": {"JOIN"},
    "ARRAY": {"[", "<"},
    "ASOF": {"JOIN", "LEFT", "INNER"},
    "CONNECTOR": {"a name"},
    "EMIT": {"a name", "WHEN", "ALL", "(", ""},
    "ESCAPE": {"a text"},
    "EXTENDED": {"a name"},
    "FILTER": {"("},
    "FINAL": {"a name"},
    "FUNCTION": {"a name", "a text"},
    "IF": {"NOT", "EXISTS"},
    "KEEP": {"a number"},
    "MAP": {"(", "<"},
    "MATCH_RECOGNIZE": {"("},
    "ORDER": {"BY"},
    "OVER": {"("},
    "PARTITION": {"BY"},
    "RUNNING": {"a name"},
    "SEMI": {"JOIN"},
    "HOPPING": {"("},
    "SESSION": {"("},
    "SLIDING": {"("},
    "STRUCT": {"(", "<", "<>"},
    "TUMBLING": {"("},
    "UNION": {"ALL", "DISTINCT", "SELECT", "("},
    "UNTIL": {"("},
}
"""What stands after a word that could be a keyword or a name, if it is the keyword.

`a name` is a word that is not reserved, or a quoted one; nothing is the end.
"""


@cache
def keywords() -> frozenset[str]:
    """Give every word that the grammar knows."""
    return frozenset(re.findall(r'"([A-Z_]+)"', GRAMMAR.read_text(encoding="utf-8")))

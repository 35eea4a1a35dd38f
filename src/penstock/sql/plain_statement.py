"""What a statement makes, apart from what is to happen where that is there already."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from penstock.front.sql.tree_statement import (
    CreateAs,
    CreateFunction,
    CreateSource,
    CreateType,
    InsertSelect,
)

Kept: TypeAlias = CreateSource | CreateAs | CreateType | CreateFunction | InsertSelect
"""The statements that the catalog keeps."""
Made = TypeVar("Made", bound=Kept)


def plain_statement(statement: Made) -> Made:
    """Give the statement without OR REPLACE and IF NOT EXISTS."""
    said: Any = statement
    if isinstance(said, CreateSource | CreateAs | CreateFunction):
        said = replace(said, or_replace=False)
    if not isinstance(said, InsertSelect):
        said = replace(said, if_not_exists=False)
    plain: Made = said
    return plain

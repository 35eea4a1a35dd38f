"""Changes told as rows, in which a column marks what is taken back, and rows as changes."""

from __future__ import annotations

from dataclasses import dataclass, field

from typing_extensions import override

from penstock.model.condition import require_condition
from penstock.model.expr import Column, Expr
from penstock.model.relation import SameColumns


@dataclass(frozen=True, slots=True)
class ChangeRows(SameColumns):
    """Every change as a row; the column `gone` becomes true where a row is taken back.

    With `keys` a newer row stands for the older one of its key, and only that which leaves
    nothing behind is told as gone. A row for which `condition` does not hold is no part of the
    table: it is told as gone where the one before it was a part. Changes of a key must come
    from one step that keeps a row beside the one it takes back.
    """

    gone: str
    keys: tuple[str, ...] | None = None
    condition: Expr | None = None
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        known = self.source.schema
        require_condition(Column(self.gone), known, self.site)
        for key in self.keys or ():
            known.field(key, role="key", site=self.site)
        if self.condition is not None:
            require_condition(self.condition, known, self.site)

    @property
    @override
    def retracts(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class RowChanges(SameColumns):
    """Rows as changes: one whose column `gone` is true is taken back."""

    gone: str
    site: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        require_condition(Column(self.gone), self.source.schema, self.site)

    @property
    @override
    def retracts(self) -> bool:
        return True

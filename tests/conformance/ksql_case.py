"""ksqlDB's own cases: where they are, and how they are read."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from tests.conformance.runner import SHARED

FOLDER = SHARED / "ksql"
CASES = FOLDER / "cases.jsonl"
Tree: TypeAlias = Mapping[str, Any]
Judge: TypeAlias = Callable[[Tree, Sequence[Sequence[Tree]], str, str], list[str]]


@dataclass(frozen=True, slots=True)
class Case:
    """One case, and the entry of the report that it counts in."""

    tree: Tree

    @property
    def id(self) -> str:
        """Its name in reports."""
        return str(self.tree["id"])

    @property
    def wrong(self) -> bool:
        """Whether it must be refused."""
        return bool(self.tree["expected_error"])

    @property
    def entry(self) -> tuple[str, str]:
        """The part of the report and the family in it."""
        family = "error" if self.wrong else str(self.tree["family"])
        if self.tree.get("quirk"):
            return "quirk", family
        return ("limit" if self.tree.get("error_class") == "limit" else "families"), family


def read_cases(path: Path) -> Iterator[Case]:
    """Give the cases of a file, every number with its digits."""
    with path.open() as lines:
        for line in lines:
            yield Case(json.loads(line, parse_float=Decimal))


def load_judge() -> Judge:
    """Give the function that compares what was written with what is expected."""
    spec = importlib.util.spec_from_file_location("ksql_judge", FOLDER / "judge.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    judge: Judge = module.judge
    return judge

from __future__ import annotations

from pathlib import Path

from penstock.front.sql.functions.reference import reference
from penstock.front.sql.functions.registry import function_names

PAGE = Path(__file__).parents[4] / "docs" / "sql-functions.md"


def test_every_function_is_in_the_reference() -> None:
    lines = list(reference())
    named = {line.split("`")[1] for line in lines if line.startswith("| `")}
    assert named == set(function_names())
    assert "## Mathematical" in lines
    assert any("`ABS(-3)` = `3`" in line for line in lines)


def test_the_page_is_what_the_functions_say() -> None:
    assert PAGE.read_text(encoding="utf-8").splitlines() == list(reference())

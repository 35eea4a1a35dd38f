from __future__ import annotations

from penstock.front.sql.functions.reference import reference
from penstock.front.sql.functions.registry import function_names


def test_every_function_is_in_the_reference() -> None:
    lines = list(reference())
    named = {line.split("`")[1] for line in lines if line.startswith("| `")}
    assert named == set(function_names())
    assert "## Mathematical" in lines
    assert any("`ABS(-3)` = `3`" in line for line in lines)

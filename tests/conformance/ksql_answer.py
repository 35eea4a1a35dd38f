"""What a question was answered, compared with what a case expects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from tests.conformance.ksql_case import Tree


class Answer(NamedTuple):
    """The schema of an answer, its rows, and which of them are gone."""

    schema: str
    rows: Sequence[Sequence[Any]]
    gone: Sequence[bool]


def wrong_answers(case: Tree, answers: Sequence[Answer]) -> Iterator[str]:
    """Say what is wrong with the answers to the questions of a case."""
    expected = [item["query"] for item in case.get("responses") or [] if "query" in item]
    if len(expected) != len(answers):
        yield f"{len(answers)} answers, where {len(expected)} are expected"
        return
    ordered = bool((case.get("output_conditions") or {}).get("verifyOrder"))
    for number, (answer, parts) in enumerate(zip(answers, expected, strict=True)):
        for problem in _problems(answer, parts, ordered=ordered):
            yield f"answer {number}: {problem}"


def _problems(answer: Answer, parts: Sequence[Tree], *, ordered: bool) -> Iterator[str]:
    headers = [part["header"]["schema"] for part in parts if "schema" in part.get("header", {})]
    if headers and headers[0] != answer.schema:
        yield f"the schema is {answer.schema}, not {headers[0]}"
    wanted = [part["row"] for part in parts if "row" in part]
    found = list(zip(answer.rows, answer.gone, strict=True))
    if len(wanted) != len(found):
        yield f"{len(found)} rows, where {len(wanted)} are expected: {answer.rows}"
        return
    for place, row in enumerate(wanted):
        pool = found[:1] if ordered else found
        match = next((item for item in pool if _alike(item, row)), None)
        if match is None:
            yield f"row {place} {row} is missing in {found}"
            return
        found.remove(match)


def _alike(found: tuple[Sequence[Any], bool], row: Tree) -> bool:
    columns, gone = found
    return gone == bool(row.get("tombstone")) and _same(list(columns), row["columns"], gone=gone)


def _same(found: Any, wanted: Any, *, gone: bool = False) -> bool:  # noqa: ANN401
    if isinstance(wanted, list) and isinstance(found, list):
        pairs = zip(found, wanted, strict=False)
        same = all((gone and two is None) or _same(one, two) for one, two in pairs)
        return len(found) == len(wanted) and same
    if isinstance(wanted, dict) and isinstance(found, dict):
        return len(found) == len(wanted) and all(
            _same(found.get(name, found.get(name.upper())), item) for name, item in wanted.items()
        )
    if isinstance(found, float) and isinstance(wanted, int | float | Decimal | str):
        return abs(found - float(wanted)) < 1e-6
    if isinstance(found, Decimal) and isinstance(wanted, str):
        return found == Decimal(wanted)
    return bool(found == wanted) and isinstance(found, bool) == isinstance(wanted, bool)

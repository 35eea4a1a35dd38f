"""Processes to test their operator with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.front.dsl.processes import (
    ProcessorLike,
    ProcessWords,
    batch_process_of,
    process_of,
)
from penstock.kernel.process import ProcessOperator
from penstock.model.process import Process
from tests.kernel.frames import a_stream

TOTALS = {"key": str, "total": int}


def a_process(
    processor: ProcessorLike,
    *,
    keys: tuple[str, ...] = ("key",),
    changelog: bool = False,
    **words: Any,  # noqa: ANN401
) -> Process:
    source = a_stream(changelog=changelog)
    return process_of(source, keys, processor, ProcessWords(**{"schema": TOTALS, **words}))


def an_operator(processor: ProcessorLike, **words: Any) -> ProcessOperator:  # noqa: ANN401
    return ProcessOperator(a_process(processor, **words))


def a_batch_operator(
    function: Callable[[Any, Any], Any],
    *,
    keys: tuple[str, ...] = ("key",),
    **words: Any,  # noqa: ANN401
) -> ProcessOperator:
    given = ProcessWords(**{"schema": TOTALS, **words})
    return ProcessOperator(batch_process_of(a_stream(), keys, function, given))

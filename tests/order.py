"""The order in which workers take tests: the longest first, so that none waits for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Test = TypeVar("Test")

LONG = (
    *("faults/test_host_kills.py", "faults/test_program_kills.py", "faults/test_guarantees.py"),
    *("faults/test_program_restarts.py", "faults/test_many_batches.py"),
    *("examples/test_demo.py", "spark/test_kafka_log.py", "spark/test_standby.py"),
    *("kafka/test_storm.py", "properties/test_joins.py", "properties/test_avro.py"),
    # They share a browser and two servers, which each worker that has one of them starts.
    "pages",
)
"""Files and folders below that of the tests: one worker takes all of one."""


def group_of(file: str) -> str:
    """The file or folder of the long ones that a file belongs to, or nothing."""
    return next((name for name in LONG if file == name or file.startswith(f"{name}/")), "")


def long_first(
    tests: Sequence[Test], *, file_of: Callable[[Test], str], workers: int
) -> list[Test]:
    """Give each worker its part of the long ones first; the order is kept otherwise.

    Workers begin with equal shares in order, and take from the end of the others' when done.
    """
    groups: dict[str, list[Test]] = {}
    for test in tests:
        groups.setdefault(group_of(file_of(test)), []).append(test)
    rest = iter(groups.pop("", []))
    ordered: list[Test] = []
    for worker in range(workers):
        ordered += [test for group in list(groups.values())[worker::workers] for test in group]
        share = len(tests) * (worker + 1) // workers - len(ordered)
        ordered += [test for _, test in zip(range(share), rest, strict=False)]
    return [*ordered, *rest]

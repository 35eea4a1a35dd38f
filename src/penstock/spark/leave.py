"""What a batch leaves behind, gathered from what its senders tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.kernel.arrival import Skew
from penstock.kernel.port import Counts
from penstock.kernel.watermark import Watermarks
from penstock.spark.batch import Batch
from penstock.spark.batch_time import marks_json
from penstock.spark.packet import Account, Packet
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.progress_file import Left

_HISTORY = 100


def left_by(
    number: int,
    packets: Sequence[Packet],
    time: tuple[Batch, Watermarks],
    before: Left | None,
    millis: int,
) -> Left:
    """Give what a batch leaves; `time` is that of the batch and the watermarks after it."""
    batch, after = time
    accounts = [packet.account for packet in packets if packet.account is not None]
    wakes = [account.wake_at for account in accounts] + [after.wake_at(batch.clock)]
    base, history = _before(number, before)
    counts = _sum(account.counts for account in accounts)
    rows = sum(counts[scan].taken for scan in _scans(accounts) if scan in counts)
    return Left(
        batch=number,
        at=ProgramOffset.from_json(_at(accounts)),
        marks=marks_json(after),
        wake_at=min((wake for wake in wakes if wake is not None), default=None),
        told={
            "base": _numbers(base),
            "counts": _numbers(counts),
            **_sizes(accounts),
            "clock": batch.clock,
            "ends": batch.ends,
            "millis": millis,
            "history": [*history[1 - _HISTORY :], [batch.clock, after.reached, rows, millis]],
        },
    )


def _scans(accounts: Sequence[Account]) -> set[str]:
    return {scan for account in accounts for scan in account.skew}


def _at(accounts: Sequence[Account]) -> Mapping[str, Any]:
    return next(account.at for account in accounts if account.at is not None)


def _before(number: int, before: Left | None) -> tuple[dict[str, Counts], list[list[int]]]:
    """Give the counts and the history up to a batch, which may have left its own already."""
    if before is None:
        return {}, []
    base, history = _counts(before.told["base"]), before.told["history"]
    if before.batch == number:
        return base, history[:-1]
    return _sum([base, _counts(before.told["counts"])]), history


def _sizes(accounts: Sequence[Account]) -> dict[str, Any]:
    skews: dict[str, Skew] = defaultdict(Skew)
    states: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for account in accounts:
        for scan, skew in account.skew.items():
            skews[scan] += skew
        for operator, _, rows, size in account.state:
            states[operator][0] += rows
            states[operator][1] += size
    return {
        "skew": {scan: [s.rows, s.least, s.most, s.total] for scan, s in skews.items()},
        "state": states,
    }


def _sum(parts: Iterable[Mapping[str, Counts]]) -> dict[str, Counts]:
    total: dict[str, Counts] = {}
    for part in parts:
        for step, counts in part.items():
            total[step] = total.get(step, Counts()) + counts
    return total


def _numbers(counts: Mapping[str, Counts]) -> dict[str, list[int]]:
    return {
        step: [c.taken, c.passed, c.filtered, c.late, c.dead, c.given, c.dropped_pairs]
        for step, c in counts.items()
    }


def _counts(numbers: Mapping[str, Sequence[int]]) -> dict[str, Counts]:
    return {step: Counts(*found) for step, found in numbers.items()}

"""How a program fares, out of what its last batch left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.kernel.port import START_OF_TIME
from penstock.kernel.watermark import NOWHERE, explain
from penstock.model.physical import Physical
from penstock.model.progress import (
    Account,
    Instant,
    PartitionPosition,
    PartitionWatermark,
    Process,
    Progress,
    Skew,
    StateSize,
)
from penstock.spark.batch_time import watermarks_of
from penstock.spark.progress_file import Left


def program_progress(
    left: Left, physical: Physical, processes: tuple[Process, ...] = ()
) -> Progress:
    """Tell how far a program has come."""
    told = left.told
    clock = int(told["clock"])
    scans = {scan.id for scan in physical.scans}
    rows = sum(numbers[0] for step, numbers in told["counts"].items() if step in scans)
    millis = int(told["millis"])
    return Progress(
        batch=left.batch,
        clock=clock,
        watermark=_known(left.marks["reached"]),
        partitions=_partitions(left, physical, clock),
        accounts=_accounts(told["base"], told["counts"]),
        skew=_skew(told["skew"].values()),
        states=tuple(
            StateSize(operator, rows, size) for operator, (rows, size) in told["state"].items()
        ),
        rows_per_second=1000 * rows / millis if millis else 0.0,
        batch_rows=rows,
        batch_milliseconds=millis,
        history=tuple(Instant(*batch) for batch in told["history"]),
        processes=processes,
        positions=_positions(left),
    )


def _known(watermark: int) -> int | None:
    return None if watermark <= START_OF_TIME else watermark


def _positions(left: Left) -> tuple[PartitionPosition, ...]:
    ends = {(topic, partition): end for topic, partition, end in left.told.get("available", ())}
    return tuple(
        PartitionPosition(*place, at, max(at, ends.get(place, at)))
        for place, at in sorted(left.at.positions.items())
    )


def _partitions(left: Left, physical: Physical, clock: int) -> tuple[PartitionWatermark, ...]:
    found = explain(watermarks_of(left.marks, physical.scans), clock)
    return tuple(
        PartitionWatermark(
            scan=row["scan"],
            partition=row["partition"],
            watermark=None if row["partition"] == NOWHERE else _known(row["watermark"]),
            since=row["since"],
            idle=row["idle"],
            holds=row["holds"],
        )
        for row in found.iter_rows(named=True)
    )


def _accounts(
    base: Mapping[str, Sequence[int]], counts: Mapping[str, Sequence[int]]
) -> tuple[Account, ...]:
    nothing = [0] * 7
    steps = dict.fromkeys([*base, *counts])
    return tuple(
        Account(
            step,
            *(
                one + other
                for one, other in zip(
                    base.get(step, nothing)[:6], counts.get(step, nothing)[:6], strict=True
                )
            ),
        )
        for step in steps
    )


def _skew(found: Any) -> Skew | None:  # noqa: ANN401  # numbers out of JSON
    parts = [part for part in found if part[0]]
    if not parts:
        return None
    rows = sum(part[0] for part in parts)
    return Skew(
        least=min(part[1] for part in parts),
        mean=sum(part[3] for part in parts) / rows,
        greatest=max(part[2] for part in parts),
    )

"""Which watermark each operator waits for, and while it runs which partition holds it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.join import Join
from penstock.model.join_bound import AsOf
from penstock.model.match import Match
from penstock.model.physical import Keyed, Physical
from penstock.model.progress import PartitionWatermark, Progress
from penstock.model.top_n import TopN
from penstock.model.versions import Versions
from penstock.model.window import Buffered, Sliding
from penstock.model.words import watermark_words
from penstock.plan.moment import moment_text, span_text
from penstock.plan.step_text import step_text

_MILLISECOND = timedelta(milliseconds=1)


def watermark_lines(
    physical: Physical, progress: Progress | None, clock: int | None
) -> Iterator[str]:
    """Say how each source tells the watermark and what it decides; then how it stands."""
    scans = [scan.id for scan in physical.scans]
    for scan in physical.scans:
        ahead = scan.stream.watermark.max_ahead
        bound = "" if ahead is None else f", rows over {span_text(ahead)} ahead are parked"
        yield f"{scan.id}: each partition {watermark_words(scan.stream.watermark)}{bound}"
    yield f"the program's watermark: the least of all partitions of {', '.join(scans)}"
    for keyed in physical.operators:
        behind = f", {span_text(keyed.delay)} behind it" if keyed.delay else ""
        yield f"{keyed.id}: {step_text(keyed.relation)}: {_decides(keyed)}{behind}"
    if progress is not None:
        yield from _standing(progress, progress.clock if clock is None else clock)


def _decides(keyed: Keyed) -> str:
    relation = keyed.relation
    if isinstance(relation, Aggregate):
        return _closes(relation, span_text(keyed.keep_late))
    if isinstance(relation, Match) or (isinstance(relation, TopN) and relation.until):
        return "rows wait for it; rows behind it are late"
    if isinstance(relation, Dedup) and relation.within is not None:
        return f"forgets a key {span_text(relation.within)} later; rows behind it are late"
    if isinstance(relation, Versions):
        return f"a version is final {span_text(max(relation.keep, keyed.keep_late))} after its end"
    if isinstance(relation, Join) and isinstance(relation.bound, AsOf):
        return _looks_up(relation.bound, keyed.keep_late)
    return "does not wait for it, no row is late"


def _looks_up(bound: AsOf, keep_late: timedelta) -> str:
    if bound.by == "arrival":
        return "does not wait for it, no row is late"
    late = f"rows more than {span_text(max(bound.keep, keep_late))} behind it are late"
    return f"rows wait for it; {late}" if bound.wait else late


def _closes(relation: Aggregate, late: str) -> str:
    if relation.window is None:
        return "no window, no row is late"
    if relation.window.domain == "processing":
        return "by the clock, no row is late"
    if isinstance(relation.window, Buffered | Sliding):
        return f"rows count in order of time, late rows taken for {late}"
    return f"complete when the watermark reaches a window's end, leaves {late} later"


def _standing(progress: Progress, clock: int) -> Iterator[str]:
    now = moment_text(clock)
    if progress.watermark is None:
        yield f"at {now}, after batch {progress.batch}: no watermark yet, no row was seen"
    else:
        yield (
            f"at {now}, after batch {progress.batch}: watermark {moment_text(progress.watermark)},"
            f" windows that end later are open"
        )
    for partition in progress.partitions:
        yield f"  {_partition(partition, clock)}"


def _partition(partition: PartitionWatermark, clock: int) -> str:
    name = f"{partition.scan} partition {partition.partition}"
    waited = span_text((clock - partition.since) * _MILLISECOND)
    since = f"since {moment_text(partition.since)} ({waited})"
    if partition.watermark is None:
        return f"{name}: no row yet, not waited for"
    place = moment_text(partition.watermark)
    if partition.idle:
        return f"{name}: {place}, idle {since}, not waited for"
    return f"{name}: {place} {since}{', holds the windows open' if partition.holds else ''}"

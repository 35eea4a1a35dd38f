"""All measurements of a home: its jobs, its log, its alerts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.producer import ProducerStats
from penstock.watch.job_metrics import job_families
from penstock.watch.lasting_counters import lasting_counters
from penstock.watch.ledger import alert_topics, alerts_in
from penstock.watch.log_metrics import ends_of, log_families, producer_families
from penstock.watch.sample import Family, Sample
from penstock.watch.seen_job import seen_jobs


def collect(
    home: Path,
    log: EmbeddedLog,
    *,
    clock: Clock = SYSTEM_CLOCK,
    producers: Mapping[str, ProducerStats] | None = None,
) -> list[Family]:
    """Give all families; producers are those of this process, by name."""
    return lasting_counters(home).raised(_families(home, log, clock.now(), producers or {}))


def _families(
    home: Path, log: EmbeddedLog, now: int, producers: Mapping[str, ProducerStats]
) -> Iterator[Family]:
    ends = ends_of(log)
    yield from job_families(seen_jobs(home), ends, now)
    yield from log_families(log, ends)
    yield from producer_families(producers)
    yield alerts_family(log)


def alerts_family(log: EmbeddedLog) -> Family:
    """Give how many alerts of each rule are pending and firing, by what their topics say."""
    counts: dict[tuple[str, str], int] = {}
    for topic in alert_topics(log):
        for alert in alerts_in(log, topic).values():
            for state in ("pending", "firing"):
                place = (alert.rule, state)
                counts[place] = counts.get(place, 0) + (alert.state == state)
    return Family(
        "penstock_alerts",
        "gauge",
        "Alerts of a rule that are pending or firing.",
        tuple(Sample({"rule": r, "state": s}, n) for (r, s), n in sorted(counts.items())),
    )

"""Asks of the machine, one by one, what Penstock needs of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.config import Settings
from penstock.doctor.cluster import check_cluster
from penstock.doctor.home import check_disk, check_locks, check_write_access
from penstock.doctor.kafka import check_kafka
from penstock.doctor.log import check_log
from penstock.doctor.machine import check_memory, check_variables
from penstock.doctor.realtime import check_realtime
from penstock.doctor.runtime import check_java, check_packages, check_python, check_spark
from penstock.errors import PenstockError

Check: TypeAlias = Callable[[Settings], str]
Verdict: TypeAlias = Literal["ok", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: a fact and, where it failed, the code and what to do."""

    check: str
    verdict: Verdict
    fact: str
    code: str = ""
    fix: str = ""


CHECKS: dict[str, Check] = {
    "python": check_python,
    "java": check_java,
    "packages": check_packages,
    "variables": check_variables,
    "memory": check_memory,
    "disk": check_disk,
    "write access": check_write_access,
    "locks": check_locks,
    "log": check_log,
    "cluster": check_cluster,
    "kafka": check_kafka,
    "real-time": check_realtime,
    "spark": check_spark,
}
NEEDED_BY_SPARK = ("python", "java", "packages", "cluster")


def examine(settings: Settings, *, skip: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Give what each check finds as soon as it has found it; one that fails stops no other."""
    failed: set[str] = set()
    for name, check in CHECKS.items():
        missing = failed.intersection(NEEDED_BY_SPARK) if name == "spark" else ()
        if name in skip:
            finding = Finding(name, "skipped", "left out as asked")
        elif missing:
            finding = Finding(name, "skipped", f"needs what failed: {', '.join(sorted(missing))}")
        else:
            finding = _run(name, check, settings)
        if finding.verdict == "failed":
            failed.add(name)
        yield finding


def _run(name: str, check: Check, settings: Settings) -> Finding:
    try:
        return Finding(name, "ok", check(settings))
    except PenstockError as error:
        return Finding(name, "failed", error.fact, error.code, error.hint)

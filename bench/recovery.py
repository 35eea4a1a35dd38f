"""What it takes to bring a killed job back: from its checkpoint, from the log, by a standby."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import psutil

from bench.catalog import ROOT
from bench.recovery_child import PAGES, TOPIC, page_rows
from bench.result import Measure, Result, Target
from bench.scale import Scale
from penstock.jobs.recovery import recovery_of
from penstock.jobs.store import job_store
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.topic import TopicConfig
from penstock.model.job_settings import Recovery
from penstock.spark.standby_files import OWN, Sides

_MODES: tuple[Recovery, ...] = ("passive", "upstream", "active")
_LABELS = {
    "passive": "from its checkpoint (passive)",
    "upstream": "from the log (upstream)",
    "active": "by a standby (active)",
}
_PATIENCE = 90.0
_LOOK_EVERY = 0.005
_METHOD = (
    "A job counts rows by page in windows of 10 s, with an early result each batch, in a process of"
    " its own with its Spark, while rows come all the time. After some seconds of normal work, in"
    " which the processors' time of all its processes is taken, they are killed with kill -9. From"
    " its checkpoint and from the log it is started again at once, in a new process: most of the"
    " time is that of Python and of Spark. With a standby there are two such processes all the"
    " time, and the one that led is killed. Measured is the time to the first new record in the"
    " topic of its results; records read again are those of its recovery report. The three take"
    " turns."
)


class _Found(NamedTuple):
    seconds: float
    replayed: float
    cpu: float


@dataclass(frozen=True, slots=True)
class _Trial:
    """One job of one kind, on a log of its own."""

    home: Path
    mode: Recovery
    work: float
    """Seconds of normal work before the kill."""

    def run(self, log: EmbeddedLog) -> _Found:
        with ExitStack() as stack:
            stack.enter_context(_rows(log))
            lead = stack.enter_context(self._process("lead"))
            _await(lambda: _end(log) > 0)
            alive = [lead]
            if self.mode == "active":
                alive.append(stack.enter_context(self._process("standby")))
                _await(self._followed)
            cpu = self._normal(alive)
            began = time.monotonic()
            os.killpg(lead.pid, signal.SIGKILL)
            lead.wait()
            before = _end(log)
            if self.mode != "active":
                stack.enter_context(self._process("lead"))
            _await(lambda: _end(log) > before)
            seconds = time.monotonic() - began
            _await(self._reported)
            report = recovery_of(job_store(self.home), str(self.home / "job"))
            assert report is not None
            assert (report.lost, report.duplicated) == (0, 0)
            return _Found(seconds, report.replayed, cpu)

    def _normal(self, alive: list[subprocess.Popen[bytes]]) -> float:
        """Let it work for a while; give the processors that it has taken."""
        time.sleep(self.work / 2)
        cpu, began = sum(map(_cpu, alive)), time.monotonic()
        time.sleep(self.work)
        return (sum(map(_cpu, alive)) - cpu) / (time.monotonic() - began)

    def _followed(self) -> bool:
        """Whether the standby has come to where its lead is."""
        progress = job_store(self.home).progress("counting-standby-1")
        done = -1 if progress is None else progress.batch
        return done > 0 and Sides(self.home / "job").files(OWN).committed <= done + 1

    def _reported(self) -> bool:
        report = recovery_of(job_store(self.home), str(self.home / "job"))
        return report is not None and report.first_result_at is not None

    @contextmanager
    def _process(self, role: str) -> Iterator[subprocess.Popen[bytes]]:
        command = [sys.executable, "-m", "bench.recovery_child", str(self.home), self.mode, role]
        # A group of its own, so that the kill takes Spark's JVM along with Python.
        with subprocess.Popen(command, cwd=ROOT, start_new_session=True) as process:
            try:
                yield process
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def run(scale: Scale) -> Result:
    """Kill jobs of the three kinds by turns."""
    rounds, work = scale.of(3, 1), scale.of(6, 2)
    found: dict[Recovery, list[_Found]] = {mode: [] for mode in _MODES}
    for _ in range(rounds):
        for mode in _MODES:
            with scale.home() as home, open_log(home) as log:
                log.create_topic(TOPIC, schema=PAGES, config=TopicConfig(fsync="os"))
                found[mode].append(_Trial(home, mode, work).run(log))
    return Result(
        name="recovery",
        title="Recovery of a killed job",
        method=_METHOD,
        baseline="the job that is started again from its checkpoint",
        scale=scale.name,
        sizes={"kills of each": rounds, "rows a second": 2_500, "seconds of work": work},
        measures=tuple(_measures(found)),
    )


def _measures(found: dict[Recovery, list[_Found]]) -> Iterator[Measure]:
    for place, (label, unit) in enumerate(
        (
            ("kill to first new result", "s"),
            ("records read again", "records"),
            ("processors in normal work", "cores"),
        )
    ):
        for mode in _MODES:
            beside = mode != "passive" and unit != "records"
            yield Measure(
                label=f"{label}, {_LABELS[mode]}",
                unit=unit,
                ours=tuple(item[place] for item in found[mode]),
                baseline=tuple(item[place] for item in found["passive"]) if beside else (),
                lower_is_better=True,
                target=Target("at least", 2.0) if (mode, unit) == ("active", "s") else None,
            )


@contextmanager
def _rows(log: EmbeddedLog) -> Iterator[None]:
    """Let rows come for as long as a block takes."""
    ended = threading.Event()

    def bring() -> None:
        number = 0
        while not ended.wait(0.1):
            log.append(TOPIC, 0, page_rows(250, number))
            number += 1

    thread = threading.Thread(target=bring, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _end(log: EmbeddedLog) -> int:
    return log.bounds("counts", 0).end if "counts" in log.topics() else 0


def _await(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "the job does not go on"
        time.sleep(_LOOK_EVERY)


def _cpu(process: subprocess.Popen[bytes]) -> float:
    total = 0.0
    root = psutil.Process(process.pid)
    for found in (root, *root.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = found.cpu_times()
            total += times.user + times.system
    return total

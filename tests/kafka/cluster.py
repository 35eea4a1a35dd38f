"""Brokers of the tests' own: one that all tests of a run share, and three that may be hurt.

`kafka` is a broker for everybody: take topics of your own (`kafka.topic()`). `kafka_cluster` is
three brokers for one test at a time, whole again before the next.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from penstock.broker import process
from penstock.broker.cluster import Cluster, Machinery
from penstock.broker.fetch import require_jars
from penstock.broker.jars import jars_folder
from penstock.broker.plan import ClusterPlan, Node, new_plan
from penstock.broker.wire import ClusterView, PartitionView, describe_cluster
from penstock.config import load_settings
from penstock.errors import SetupError
from penstock.log.embedded.lock import FlockLock

FOLDER = "TEST_KAFKA_FOLDER"
"""The variable that names where the brokers of this run are; all its workers have it."""
_PATIENCE = 120.0
_FETCHING = 180.0
_QUICK = {
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
    "group.min.session.timeout.ms": "500",
    "log.cleaner.backoff.ms": "200",
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "500",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
}
"""What a broker waits for is waited for by a test: short waits make short tests."""
_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")


@dataclass(frozen=True, slots=True)
class Brokers:
    """Brokers that are up, and what may be done to them; brokers are numbered from 1."""

    cluster: Cluster
    plan: ClusterPlan
    machinery: Machinery

    @property
    def address(self) -> str:
        """`bootstrap.servers` of clients."""
        return self.plan.address

    def topic(self, partitions: int = 1, *, copies: int = -1, **settings: str) -> str:
        """Make a topic with a name of its own; settings are written with `_` for each dot."""
        name = f"t-{uuid.uuid4().hex[:12]}"
        config = {key.replace("_", "."): value for key, value in settings.items()}
        new = NewTopic(name, num_partitions=partitions, replication_factor=copies, config=config)
        client = self.admin()
        for made in client.create_topics([new]).values():
            made.result(_PATIENCE)
        self.until(lambda: len(self.partitions(name)) == partitions)
        return name

    def admin(self) -> AdminClient:
        """Give a client for what is not data."""
        return AdminClient({"bootstrap.servers": self.address})

    def view(self) -> ClusterView:
        """Give the cluster as the first broker has it that answers."""
        for node in self.plan.nodes:
            try:
                return describe_cluster(node.port, seconds=1)
            except OSError:
                continue
        raise AssertionError("no broker answers")

    def partitions(self, topic: str) -> list[PartitionView]:
        """Give where the partitions of a topic are, in order."""
        return [part for part in self.view().partitions if part.topic == topic]

    def pid(self, number: int) -> int | None:
        """Give the number of a broker's process; None where it is down."""
        started = self.cluster.process_of(number)
        return None if started is None else started.pid

    def kill(self, number: int) -> None:
        """End a broker at once, as by kill -9, and return when it is gone."""
        self._signal(number, signal.SIGKILL)
        self.until(lambda: self.cluster.process_of(number) is None)

    def pause(self, number: int) -> None:
        """Let a broker stand still, with its connections open."""
        self._signal(number, signal.SIGSTOP)

    def resume(self, number: int) -> None:
        """Let a broker that stands still go on."""
        self._signal(number, signal.SIGCONT)

    def restart(self, number: int) -> None:
        """Start a broker that was killed, with the data it had; it may take seconds to be back."""
        assert self.cluster.process_of(number) is None
        self.cluster.start(number, self.machinery)

    def heal(self) -> None:
        """Have every broker up and every copy whole."""
        for node in self.plan.nodes:
            self.resume(node.id)
        self.cluster.up(self.machinery)
        self.until(self.whole)

    def whole(self) -> bool:
        """Whether all brokers are there and agree that so are all copies of all partitions."""
        # One that was away has old news for a moment: it may still take itself for a leader.
        try:
            views = {describe_cluster(node.port, seconds=1) for node in self.plan.nodes}
        except OSError:
            return False
        view, *others = views
        agreed = not others and len(view.brokers) == len(self.plan.nodes)
        return agreed and all(
            set(part.in_sync) == set(part.replicas) and part.leader > 0 for part in view.partitions
        )

    @staticmethod
    def until(happened: Callable[[], bool], seconds: float = _PATIENCE) -> float:
        """Wait until something has happened, and give how many seconds that took."""
        began = time.monotonic()
        while not happened():
            assert time.monotonic() - began < seconds, f"it did not happen within {seconds} s"
            time.sleep(0.05)
        return time.monotonic() - began

    def _signal(self, number: int, what: signal.Signals) -> None:
        started = self.cluster.process_of(number)
        if started is not None:
            process.send(started, what)


def missing() -> str:
    """Say what this machine lacks to run a broker; empty where it lacks nothing."""
    noted = run_folder() / "missing"
    if noted.exists():
        return noted.read_text()
    try:
        jars()
    except SetupError as error:
        noted.write_text(f"no Kafka broker ({error.code})")
        return noted.read_text()
    return ""


@cache
def jars() -> Path:
    """Give the folder with the jars of Kafka, which are fetched on their first use."""
    place = jars_folder(load_settings())
    return require_jars(place, tell=lambda _: None, patience=_FETCHING)


def shared_broker() -> Brokers:
    """Give the one broker of this run, started by whoever asks first."""
    return _up(run_folder() / "one", 1)


@contextmanager
def three_brokers() -> Iterator[Brokers]:
    """Give the three brokers of this run to one test at a time, whole."""
    lock = FlockLock(str(run_folder() / "three.lock"))
    try:
        assert lock.acquire(2 * _PATIENCE), "another test does not let go of the three brokers"
        brokers = _up(run_folder() / "three", 3)
        brokers.heal()
        yield brokers
    finally:
        lock.close()


@contextmanager
def brokers_of_ones_own(
    folder: Path,
    count: int,
    settings: Mapping[str, str] | None = None,
    *,
    ports: Mapping[str, int] | None = None,
) -> Iterator[Brokers]:
    """Start brokers with settings of their own in a folder, and stop them afterwards.

    `ports` are those of a first node whose settings name them.
    """
    cluster = Cluster(folder)
    if ports is not None:
        folder.mkdir()
        # One id in 64 begins with a dash, and must not be taken for a flag.
        plan = replace(new_plan(1), cluster_id="-kTt2pWqQmK0l5J3b8sXyA", nodes=(Node(**ports),))
        (folder / "cluster.json").write_text(json.dumps(asdict(plan)))
    try:
        yield _up(folder, count, settings or {})
    finally:
        cluster.down(seconds=10)


def begin_run() -> None:
    """Name the folder of this run's brokers; they end with this process, however it ends."""
    os.environ[FOLDER] = str(Path(tempfile.gettempdir()) / f"penstock-kafka-{uuid.uuid4().hex[:8]}")


def end_run() -> None:
    """Stop the brokers of this run, and remove what they held."""
    folder = Path(os.environ.pop(FOLDER))
    if folder.exists():
        stop_brokers(folder)


def stop_brokers(folder: Path) -> None:
    """Stop all clusters below a folder, and remove it."""
    for noted in folder.glob("*/cluster.json"):
        Cluster(noted.parent).down(seconds=10)
    shutil.rmtree(folder, ignore_errors=True)


def _up(folder: Path, count: int, settings: Mapping[str, str] = MappingProxyType({})) -> Brokers:
    cluster = Cluster(folder)
    more = {**_QUICK, **settings}
    machinery = Machinery(jars(), options=_OPTIONS, settings=more, patience=_PATIENCE)
    return Brokers(cluster, cluster.up(machinery, brokers=count), machinery)


def run_folder() -> Path:
    """Give the folder of this run's brokers; with it comes who ends them if the run is killed."""
    folder = Path(os.environ[FOLDER])
    try:
        folder.mkdir()
    except FileExistsError:
        return folder
    run = os.environ.get("PYTEST_XDIST_WORKER") and os.getppid()
    subprocess.Popen(
        [sys.executable, "-m", "tests.kafka.sentinel", str(folder), str(run or os.getpid())],
        cwd=Path(__file__).parents[2],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ).returncode = 0  # nobody waits for it: it ends by itself when the folder is gone
    return folder

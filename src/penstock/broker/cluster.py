"""A cluster of Apache Kafka on this machine: `<home>/kafka`, its nodes as processes of their own.

cluster.json             the nodes and their ports
1/process.json           the process of a node, while it is up
1/server.properties      its settings, written anew at each start
1/data                   its records
1/broker.log             what it has to say
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from penstock.broker import process
from penstock.broker.plan import ClusterPlan, Node, new_plan, settings_of_node, taken
from penstock.broker.process import Started
from penstock.broker.wire import describe_cluster, describe_quorum
from penstock.errors import LogError
from penstock.log.embedded.lock import FlockLock
from penstock.spark.java import require_java

_PLAN, _PROCESS, _SETTINGS, _DATA = "cluster.json", "process.json", "server.properties", "data"
_LOG, _OUTPUT, _LOGGING = "broker.log", "output.log", "log4j2.properties"
_PAUSE = 0.1
_SMALL_HEAP, _HEAP = "256m", "512m"
_MANY = 3
_LOGGING_TEXT = """
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {file}
appender.file.filePattern = {file}.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{ISO8601}} %p %m (%c)%n
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 10MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 2
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
"""


@dataclass(frozen=True, slots=True)
class Machinery:
    """What brokers are run with."""

    jars: Path
    options: tuple[str, ...] = ("-XX:+UseSerialGC",)
    """Words to the JVM beside the size of its heap."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of Kafka beside ours."""
    patience: float = 60.0


class Cluster:
    """The brokers of a folder; any process may start, ask and stop them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def up(self, machinery: Machinery, *, brokers: int | None = None) -> ClusterPlan:
        """Have brokers running: those that are not are started, with the data they had."""
        java = str(require_java(need="Kafka").path)
        with self._locked():
            known = self.plan()
            plan = _extended(known, brokers or (len(known.nodes) if known else 1))
            down = [node for node in plan.nodes if not self.runs(node)]
            held = taken(port for node in down for port in (node.port, node.controller_port))
            if held and len(down) == len(plan.nodes):
                plan = plan.with_free_ports()
                down = list(plan.nodes)
            elif held:
                raise _port_taken(held[0])
            self._write(self.folder / _PLAN, asdict(plan))
            launch = _Launch(self, plan, machinery, java)
            launch.prepare(down)
            launch.start(down)
            launch.await_ready(down)
        return plan

    def start(self, number: int, machinery: Machinery) -> None:
        """Start one node that is down, and do not wait for it."""
        plan = self.plan()
        assert plan is not None
        launch = _Launch(self, plan, machinery, str(require_java(need="Kafka").path))
        launch.start([node for node in plan.nodes if node.id == number])

    def down(self, *, seconds: float = 30.0) -> int:
        """Stop what `up` has started, and give how many processes that were."""
        with self._locked():
            plan = self.plan()
            nodes = plan.nodes if plan else ()
            running = [found for node in nodes if (found := self.process_of(node.id)) is not None]
            process.end(running, seconds=seconds)
            for node in nodes:
                (self.folder_of(node.id) / _PROCESS).unlink(missing_ok=True)
        return len(running)

    def plan(self) -> ClusterPlan | None:
        """Give what is noted of the cluster; None where there was none yet."""
        noted = _read(self.folder / _PLAN)
        if noted is None:
            return None
        return ClusterPlan(noted["cluster_id"], tuple(Node(**node) for node in noted["nodes"]))

    def process_of(self, number: int) -> Started | None:
        """Give the process of a node; None where it is down."""
        noted = _read(self.folder_of(number) / _PROCESS)
        found = None if noted is None else Started(noted["pid"], noted["created"])
        return found if found is not None and process.alive(found) else None

    def runs(self, node: Node) -> bool:
        """Whether the process of a node is there."""
        return self.process_of(node.id) is not None

    def folder_of(self, number: int) -> Path:
        """Give where a node keeps what it has."""
        return self.folder / str(number)

    def note(self, number: int, started: Started) -> None:
        """Write down the process of a node."""
        self._write(self.folder_of(number) / _PROCESS, asdict(started))

    @staticmethod
    def _write(file: Path, value: object) -> None:
        fresh = file.with_suffix(".new")
        fresh.write_text(json.dumps(value), encoding="utf-8")
        fresh.replace(file)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep out others who start or stop."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FlockLock(str(self.folder / ".lock"))
        try:
            lock.acquire()
            yield
        finally:
            lock.close()


class _Launch:
    """The start of nodes."""

    def __init__(self, cluster: Cluster, plan: ClusterPlan, with_: Machinery, java: str) -> None:
        self._cluster = cluster
        self._plan = plan
        self._with = with_
        self._java = java

    def prepare(self, nodes: list[Node]) -> None:
        """Write the settings of nodes, and make their folders for data where there are none."""
        running = []
        for node in nodes:
            folder = self._cluster.folder_of(node.id)
            folder.mkdir(exist_ok=True)
            text = settings_of_node(self._plan, node, folder / _DATA, self._with.settings)
            (folder / _SETTINGS).write_text(text, encoding="utf-8")
            logging = _LOGGING_TEXT.format(file=folder / _LOG)
            (folder / _LOGGING).write_text(logging, encoding="utf-8")
            if not (folder / _DATA / "meta.properties").exists():
                running.append((node, self._format(folder)))
        for node, formatting in running:
            said, _ = formatting.communicate(timeout=self._with.patience)
            if formatting.returncode != 0:
                raise self._not_up(node, _without_stack(said)[-1:])

    def start(self, nodes: list[Node]) -> None:
        """Start the processes of nodes, and write them down."""
        heap = _SMALL_HEAP if len(self._plan.nodes) >= _MANY else _HEAP
        for node in nodes:
            folder = self._cluster.folder_of(node.id)
            command = (
                *(self._java, f"-Xmx{heap}", *self._with.options, "-cp", f"{self._with.jars}/*"),
                f"-Dlog4j2.configurationFile={folder / _LOGGING}",
                *("kafka.Kafka", str(folder / _SETTINGS)),
            )
            self._cluster.note(node.id, process.start(command, folder / _OUTPUT))

    def await_ready(self, nodes: list[Node]) -> None:
        """Wait until each node knows all brokers, and who controls them."""
        until = time.monotonic() + self._with.patience
        for node in nodes:
            while not self._is_ready(node):
                if not self._cluster.runs(node):
                    raise self._not_up(node, self._last_words(node))
                if time.monotonic() > until:
                    raise self._not_up(node, [f"not within {self._with.patience:.0f} s"])
                time.sleep(_PAUSE)

    def _is_ready(self, node: Node) -> bool:
        try:
            brokers = describe_cluster(node.port).brokers
            return len(brokers) == len(self._plan.nodes) and describe_quorum(node.port).leader > 0
        except OSError:
            return False

    def _format(self, folder: Path) -> subprocess.Popen[str]:
        command = (
            *(self._java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            *("-cp", f"{self._with.jars}/*", "kafka.tools.StorageTool", "format"),
            # As one word: an id that begins with a dash would be taken for a flag.
            f"--cluster-id={self._plan.cluster_id}",
            f"--config={folder / _SETTINGS}",
        )
        return subprocess.Popen(  # noqa: S603  # our own words and the Java that Spark would take
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _last_words(self, node: Node) -> list[str]:
        folder = self._cluster.folder_of(node.id)
        for name in (_LOG, _OUTPUT):
            file = folder / name
            text = file.read_text(errors="replace") if file.exists() else ""
            lines = _without_stack(text)
            told = [line for line in lines if " ERROR " in line or " FATAL " in line]
            if told or lines:
                return (told or lines)[-1:]
        return []

    def _not_up(self, node: Node, words: list[str]) -> LogError:
        said = f": {words[0][:200]}" if words else ""
        return LogError(
            "BROKER_START",
            f"broker {node.id} does not come up{said}",
            hint=f'Its own words are in "{self._cluster.folder_of(node.id)}".',
        )


def _extended(known: ClusterPlan | None, brokers: int) -> ClusterPlan:
    if known is None:
        return new_plan(brokers)
    if brokers < len(known.nodes):
        raise LogError(
            "BROKER_COUNT",
            f"the cluster has {len(known.nodes)} brokers, and each holds records; {brokers} would"
            " leave some behind",
            hint=f"Keep {len(known.nodes)}, or begin anew: stop it and remove its folder.",
        )
    return known.with_brokers(brokers)


def _port_taken(port: int) -> LogError:
    return LogError(
        "BROKER_PORT",
        f"port {port} of a broker that is down is taken by another program",
        hint="End that program, or let brokers take other ports: `penstock kafka down`,"
        " then `penstock kafka up`.",
    )


def _without_stack(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.startswith("\t")]


def _read(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise LogError(
            "BROKER_NOTE",
            f'the note "{file}" of a broker is not what was written',
            hint="Stop the processes of brokers by hand, and remove the file.",
        )
    return found

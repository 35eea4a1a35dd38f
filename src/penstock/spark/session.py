"""One Spark session a process: the settings that matter, quiet, on the loopback interface."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from penstock.errors import SetupError
from penstock.spark.cluster.conf import cluster_settings
from penstock.spark.cluster.executors import await_executors, ended_at_start
from penstock.spark.cluster.master import is_local
from penstock.spark.cluster.python import drivers_python, lead_by_name
from penstock.spark.cluster.settings import CLUSTER, Cluster
from penstock.spark.cores import available_cores
from penstock.spark.dead_session import discard_dead, is_dead
from penstock.spark.format import PenstockFormat
from penstock.spark.home import stable_home, unzipped_home
from penstock.spark.java import Java, require_java
from penstock.spark.java_names import remember_names
from penstock.spark.jvm.archive import TO_MAKE, archive_of, options_to_make, options_to_use
from penstock.spark.jvm.classes import CLASS_PATH, classes_folder, on_class_path
from penstock.spark.jvm.offer import offer_classes
from penstock.spark.kafka.format import KafkaFormat
from penstock.spark.kafka.session import KafkaSession
from penstock.spark.local_files import leave_out_checksums
from penstock.spark.planner.forking import Planners
from penstock.spark.scratch import SCRATCH, new_scratch

_CHECKPOINTS = "org.apache.spark.sql.execution.streaming.checkpointing"
_STATE = "org.apache.spark.sql.execution.streaming.state"

_KEEP_MEMORY_MILLIS = "10000"

SETTINGS: Mapping[str, str] = {
    "spark.app.name": "penstock",
    # Start-up and idle cost; Penstock has its own pages.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Nothing listens beyond this machine, and no look-up of the host's name can fail or stall.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # A time means the same on every machine.
    "spark.sql.session.timeZone": "UTC",
    # What an expression means (plan/capability.py): a bad value is null and ends no query.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # The default forks a process for every checkpoint file: 0.88 s a micro-batch against 0.48 s.
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{_CHECKPOINTS}.FileSystemBasedCheckpointFileManager"
    ),
    # State beyond the heap, and checkpoints that write only what changed.
    "spark.sql.streaming.stateStore.providerClass": f"{_STATE}.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Old versions of states are removed as often: 60 s by default, some 600 fast batches.
    "spark.sql.streaming.stateStore.maintenanceInterval": "20s",
    # Streaming queries cannot have it and would warn at every start.
    "spark.sql.adaptive.enabled": "false",
    # Ranges of offset and time go into the read (off by default in Spark).
    "spark.sql.python.filterPushdown.enabled": "true",
    # Workers are forked from a process that has their imports done: seconds less at the start.
    "spark.python.daemon.module": "penstock.spark.daemon",
    # A result in two writes waits on TCP for an acknowledgement: 40 ms of every task.
    "spark.python.unix.domain.socket.enabled": "true",
    # Four times fewer Arrow batches between the JVM and Python than the default of 10,000.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "40000",
    # Workers keep the memory of a batch for the next one: given back and taken anew, every page
    # of it is made empty by the kernel, which was a third of what a large batch cost them.
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(32 * 1024 * 1024),
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(512 * 1024 * 1024),
    "spark.executorEnv.MIMALLOC_PURGE_DELAY": _KEEP_MEMORY_MILLIS,
    "spark.executorEnv._RJEM_MALLOC_CONF": f"dirty_decay_ms:{_KEEP_MEMORY_MILLIS}",
}

_LOGGING = """\
status = off
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{yyyy-MM-dd'T'HH:mm:ss.SSS}} %p %c: %m%n%ex
"""
_OPTIONS = "spark.driver.extraJavaOptions"
_STARTING = threading.Lock()
_PLANNERS: list[Planners] = []


def spark_session(
    *,
    master: str = "local[*]",
    driver_memory: str = "1g",
    settings: Mapping[str, str] | None = None,
    cluster: Cluster = CLUSTER,
) -> SparkSession:
    """Give this process's session, starting it (about 5 s) where there is none yet."""
    with _STARTING:
        # Spark's own "active session" is one for each thread; ours is one for the process.
        if SparkContext._active_spark_context is not None:  # noqa: SLF001
            if not is_dead():
                return SparkSession.builder.getOrCreate()
            discard_dead()
            _close_planners()
        java = require_java()
        os.environ["PYSPARK_PYTHON"] = sys.executable
        scratch = new_scratch()
        atexit.register(_close_planners)
        own = {
            "spark.master": master,
            "spark.driver.memory": driver_memory,
            # 200 by default: each is a task and a state store, whatever the size of the data.
            "spark.sql.shuffle.partitions": str(max(2, available_cores())),
            "spark.local.dir": str(scratch),
            "spark.sql.warehouse.dir": str(scratch / "warehouse"),
            SCRATCH: str(scratch),
            **({} if is_local(master) else cluster_settings(master, cluster, scratch)),
        }
        chosen = _of_java(scratch, java, {**SETTINGS, **own, **(settings or {})})
        return _start(chosen, scratch, java, cluster)


def stop_session() -> None:
    """Stop this process's session and its JVM, and remove their files; none is no error."""
    if SparkContext._active_spark_context is None:  # noqa: SLF001
        return
    session = SparkSession.builder.getOrCreate()
    scratch = session.conf.get(SCRATCH, "")
    gateway: Any = SparkContext._gateway  # noqa: SLF001  # Spark offers no way to end its JVM
    session.stop()
    gateway.shutdown()
    SparkContext._gateway = None  # noqa: SLF001  # lets a later start launch a new JVM
    SparkContext._jvm = None  # noqa: SLF001
    if gateway.proc is not None:
        gateway.proc.stdin.close()
        gateway.proc.wait()
    _close_planners()
    if scratch:
        shutil.rmtree(scratch, ignore_errors=True)


def planner_server() -> int | None:
    """Give the process that the planners of this process's queries are forked from, if any is."""
    return _PLANNERS[-1].pid if _PLANNERS else None


def spark_log(session: SparkSession) -> Path:
    """Where Spark writes its own warnings and stack traces while the session lives."""
    return Path(session.conf.get(SCRATCH) or "") / "spark.log"


def _start(
    settings: Mapping[str, str], scratch: Path, java: Java, cluster: Cluster
) -> SparkSession:
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    # It loads while the JVM starts.
    planners = Planners(scratch)
    _PLANNERS.append(planners)
    try:
        session = KafkaSession(SparkContext(conf=conf, gateway=_launch(conf, scratch)))
    except (PySparkRuntimeError, Py4JJavaError) as error:
        _close_planners()
        if isinstance(error, Py4JJavaError):
            raise ended_at_start(settings["spark.master"], error) from error
        raise SetupError(
            "SPARK_START",
            f'Spark did not start with "{java.path}": {_last_line(scratch / "jvm.txt")}',
            hint="Run `penstock doctor` to see what this machine lacks.",
        ) from error
    remember_names(session.sparkContext)
    planners.lead(session.sparkContext)
    _hush(session.sparkContext)
    leave_out_checksums(session.sparkContext)
    if is_local(settings["spark.master"]):
        offer_classes(session.sparkContext, classes_folder(scratch), scratch)
    else:
        lead_by_name(session.sparkContext, cluster.python, scratch)
        _await_executors(session, cluster)
    for offered in (PenstockFormat, KafkaFormat):
        session.dataSource.register(offered)
    return session


def _await_executors(session: SparkSession, cluster: Cluster) -> None:
    try:
        await_executors(session.sparkContext, cluster.patience)
    except SetupError:
        stop_session()
        raise


def _close_planners() -> None:
    while _PLANNERS:
        _PLANNERS.pop().close()


def _of_java(scratch: Path, java: Java, given: Mapping[str, str]) -> Mapping[str, str]:
    """Options of the JVM; on this machine with our classes, and from the archive of all classes."""
    options = _java_options(scratch)
    if not is_local(given["spark.master"]):
        return {_OPTIONS: " ".join(options), **given}
    classes = on_class_path(classes_folder(scratch))
    options += _archive_options(given, classes, java)
    path = os.pathsep.join(filter(None, (str(classes), given.get(CLASS_PATH))))
    return {_OPTIONS: " ".join(options), **given, CLASS_PATH: path}


def _archive_options(given: Mapping[str, str], classes: Path, java: Java) -> list[str]:
    """Let the JVM start from the archive of its class path, unless the user's path is longer."""
    home = stable_home()
    if home is None or CLASS_PATH in given:
        return []
    if TO_MAKE in given:
        return options_to_make(given[TO_MAKE])
    return options_to_use(archive_of(home, classes, java))


def _java_options(scratch: Path) -> list[str]:
    logging = scratch / "log4j2.properties"
    logging.write_text(_LOGGING.format(file=scratch / "spark.log"), encoding="utf-8")
    return [
        f"-Dlog4j2.configurationFile={logging.as_uri()}",
        # With few cores and a small heap the parallel collectors cost more than they save.
        "-XX:+UseSerialGC",
        # Rows stay in Python: the JVM plans batches and hands packets on. To compile it with all
        # optimisations took half of its time, and what that gained was less (decision 21).
        "-XX:TieredStopAtLevel=1",
    ]


def _launch(conf: SparkConf, scratch: Path) -> Any:  # noqa: ANN401  # py4j has no types
    # What the JVM itself prints (module warnings, crash reports) would reach the user's terminal.
    local = is_local(conf.get("spark.master") or "")
    with (
        (scratch / "jvm.txt").open("wb") as words,
        unzipped_home((stable_home() if local else None) or scratch / "home"),
        drivers_python(scratch),
    ):
        return launch_gateway(conf, {"stdout": words, "stderr": words})  # type: ignore[no-untyped-call]


def _hush(context: SparkContext) -> None:
    # What our code raises in a batch is raised where the query is awaited; py4j would print it too.
    logging.getLogger("py4j.clientserver").setLevel(logging.CRITICAL)
    # A query that is stopped cuts a connection to this server, which would print a traceback.
    server: Any = getattr(context, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda *_: None


def _last_line(file: Path) -> str:
    lines = [line.strip() for line in file.read_text(errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "the JVM said nothing")

"""Engines beside one another, in a few words each; docs/comparison.md says the same at length."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What one wants to know of an engine before choosing it."""

    engine: str
    model: str
    guarantee: str
    state: str
    time: str
    latency: str
    recovery: str
    languages: str
    use: str
    better: str
    """Where it is the better choice than Penstock; of Penstock, where it is not the choice."""


ENGINES = (
    Engine(
        engine="Storm",
        model="a graph of spouts and bolts, a tuple at a time",
        guarantee="at most once, at least once; exactly-once state in Trident's small batches",
        state="the bolt's own memory; by choice in a key-value store such as Redis",
        time="tumbling and sliding windows, by count or time, event time with a lag",
        latency="milliseconds",
        recovery="tuples not acked in time are sent again from the spout; workers are restarted",
        languages="Java; others by a protocol of lines",
        use="a reaction to each event within milliseconds, where twice does no harm",
        better="an event at a time on a cluster of many machines",
    ),
    Engine(
        engine="Samza",
        model="a task for each partition of a topic, a message at a time",
        guarantee="at least once",
        state="RocksDB beside the task, with a changelog topic",
        time="tumbling and session windows by the clock; event time by Beam",
        latency="milliseconds",
        recovery="a task reads its changelog again; standby containers and its old host save that",
        languages="Java, SQL; Python by Beam",
        use="much state beside Kafka, in services or on YARN",
        better="terabytes of state, spread over machines",
    ),
    Engine(
        engine="Spark",
        model="a table without end, computed in micro-batches",
        guarantee="exactly once, with a source that replays and a sink that knows the batch",
        state="RocksDB or memory beside the task, checkpointed to shared files",
        time="event time, watermark, tumbling, sliding and session windows; one result a window",
        latency="0.1 s to seconds; its real-time mode tens of milliseconds",
        recovery="the last micro-batch is computed again from the checkpoint",
        languages="Scala, Java, Python, SQL",
        use="one engine for batch, streams and learning over large data",
        better="clusters, connectors, and joins and aggregates that it has natively",
    ),
    Engine(
        engine="Flink",
        model="a graph of operators, an event at a time, changes with retractions",
        guarantee="exactly once by snapshots; end to end with sinks of two phases",
        state="heap or RocksDB beside the task, or files elsewhere; incremental checkpoints",
        time="event time, watermarks, all windows, triggers, allowed lateness, patterns",
        latency="milliseconds; results that must come once wait for a checkpoint",
        recovery="all tasks concerned go back to the last checkpoint; savepoints to rescale",
        languages="Java, SQL, Python",
        use="large state and low latency at once, day and night",
        better="milliseconds at millions of events a second, and terabytes of state",
    ),
    Engine(
        engine="Kafka Streams",
        model="a library in a service, streams and tables over Kafka, a record at a time",
        guarantee="at least once, or exactly once within Kafka by transactions",
        state="RocksDB beside the task, with a changelog topic; asked by key from outside",
        time="tumbling, hopping, sliding and session windows with a grace period",
        latency="milliseconds; with exactly-once the commit interval, 0.1 s",
        recovery="another instance takes the task; standby replicas save reading the changelog",
        languages="Java, Scala; SQL by ksqlDB",
        use="services in Java around Kafka, without a cluster for processing",
        better="nothing to run but one's own service, and more of it when load grows",
    ),
    Engine(
        engine="Dataflow",
        model="Beam's pipelines: what, where, when and how, on bounded and unbounded data",
        guarantee="exactly once within the pipeline; at least once by choice, cheaper",
        state="kept by the service, apart from the workers",
        time="event time, watermarks, all windows, early and late firings, accumulation",
        latency="below a second to seconds",
        recovery="the service moves work to other workers; pipelines are updated in place",
        languages="Java, Python, Go; SQL by Beam",
        use="streams in Google's cloud without machines to look after",
        better="grows and shrinks by itself, and nobody is called at night",
    ),
    Engine(
        engine="Penstock",
        model="one model for a DSL, SQL and topologies: micro-batches on Spark, or each event",
        guarantee="exactly once by transactions of its log; at least or at most once by choice",
        state="buckets in files beside the checkpoint; inline also a changelog or a database",
        time="event time, watermarks, all windows, early and late firings, retractions, patterns",
        latency="0.1 s on Spark; milliseconds inline in one process, or by real-time mode on Kafka",
        recovery="the half-done batch again; or replay from the log; or a standby in 0.5 s",
        languages="Python, SQL",
        use="the whole path from a log to a dashboard in Python, first on one machine",
        better="not the choice for many machines, or for milliseconds and exactly-once at once",
    ),
)
COLUMNS = (
    "model",
    "guarantee",
    "state",
    "time",
    "latency",
    "recovery",
    "languages",
    "use",
    "better",
)
IN_SHORT = ("model", "guarantee", "state", "latency")

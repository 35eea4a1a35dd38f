"""Words that are exclaimed twice, with a bolt that sleeps through the first of them.

Run it with `python -m examples.exclamation`.
"""

from __future__ import annotations

from collections import deque

from typing_extensions import override

from penstock.topology import (
    Bolt,
    BoltCollector,
    Config,
    OutputDeclarer,
    Spout,
    SpoutCollector,
    TaskContext,
    TopologyBuilder,
    Tuple,
    quiet,
    run_topology,
)

WORDS = ("nathan", "mike", "jackson", "golda", "bertels")


class WordSpout(Spout):
    """Emits five words, and again those that failed."""

    @override
    def open(self, config: Config, context: TaskContext, collector: SpoutCollector) -> None:
        """Begin with all words."""
        self.collector = collector
        self.left = deque(WORDS)

    @override
    def next_tuple(self) -> None:
        """Emit the next word under its own name, so that it is tracked."""
        if self.left:
            word = self.left.popleft()
            self.collector.emit((word,), message_id=word)

    @override
    def ack(self, message_id: object) -> None:
        """Say that a word and all that came of it is done."""
        print(f"done: {message_id}")

    @override
    def fail(self, message_id: object) -> None:
        """Take a word up again."""
        print(f"again: {message_id}")
        self.left.append(str(message_id))

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        """One field."""
        declarer.declare("word")


class ExclamationBolt(Bolt):
    """Adds three exclamation marks."""

    @override
    def prepare(self, config: Config, context: TaskContext, collector: BoltCollector) -> None:
        """Keep the collector."""
        self.collector = collector

    @override
    def execute(self, received: Tuple) -> None:
        """Emit the louder word into the tree of the one received, and ack that."""
        self.collector.emit((f"{received['word']}!!!",), anchors=received)
        self.collector.ack(received)

    @override
    def declare_output_fields(self, declarer: OutputDeclarer) -> None:
        """One field."""
        declarer.declare("word")


class SleepyBolt(ExclamationBolt):
    """Forgets the first word it is given."""

    awake = False

    @override
    def execute(self, received: Tuple) -> None:
        """Exclaim all words but the first, which nobody acks."""
        if self.awake:
            super().execute(received)
        self.awake = True


def main() -> None:
    """Run until every word is done."""
    builder = TopologyBuilder()
    builder.set_spout("words", WordSpout())
    builder.set_bolt("exclaim1", SleepyBolt()).shuffle_grouping("words")
    builder.set_bolt("exclaim2", ExclamationBolt(), 2).shuffle_grouping("exclaim1")
    run = run_topology(builder.create_topology(), Config(message_timeout="300ms"), until=quiet)
    counts = run.counts("words")
    print(f"{counts.acked} acked, {counts.failed} failed, {counts.timed_out} by the clock")


if __name__ == "__main__":
    main()

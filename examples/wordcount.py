"""Kafka Streams' word count: lines come in, the new count of every word goes out.

python -m examples.wordcount

It runs in this process, without Spark: twice, to show that the second run goes on where the
first one stopped. PENSTOCK_WORDCOUNT_SECONDS says how long each run lasts, 5 by default.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from pathlib import Path

import penstock as ps
import penstock.streams as ks

PATTERN = re.compile(r"\W+")
INPUT, OUTPUT = "streams-file-input", "streams-wordcount-output"
FIRST = ("all streams lead to kafka", "hello kafka streams", "join kafka summit")
SECOND = ("kafka is back",)


def word_count(home: Path) -> ks.KafkaStreams:
    """Count the words of all lines."""
    props = {"application.id": "streams-wordcount", "penstock.home": str(home)}
    builder = ks.KStreamBuilder()
    source = builder.stream(INPUT)
    counts = (
        source.flat_map_values(lambda value: PATTERN.split(value.lower()))
        .map(lambda _, word: (word, word))
        .count_by_key("Counts")
        .to_stream()
    )
    counts.to(ks.Serdes.string(), ks.Serdes.long(), OUTPUT)
    return ks.KafkaStreams(builder, props)


def send(home: Path, lines: tuple[str, ...]) -> None:
    """Write lines to the input, which is made where it is not there."""
    with ps.open_log(home) as log:
        if INPUT not in log.topics():
            log.create_topic(INPUT, partitions=2)
        with ps.Producer(log) as producer:
            for line in lines:
                print(f"> {line}")
                producer.send(INPUT, line.encode())


def run(home: Path, seconds: float) -> None:
    """Let the program run for a while, and print what it writes meanwhile."""
    streams = word_count(home)
    streams.start()
    # Usually it would run forever; here the input is finite.
    end = time.monotonic() + seconds
    with ps.open_log(home) as log:
        places = [ps.TopicPartition(OUTPUT, n) for n in range(log.topic(OUTPUT).partitions)]
        with ps.Consumer(log, group="reader", partitions=places) as consumer:
            while (left := end - time.monotonic()) > 0:
                for record in consumer.poll(timeout=min(left, 0.2)):
                    word = ks.Serdes.string().deserialize(record.key)
                    count = ks.Serdes.long().deserialize(record.value)
                    print(f"{word:>10} {count}")
    streams.close()
    print(f"store Counts: kafka {streams.store('Counts').get('kafka')}")


def main() -> None:
    """Run the program, stop it, and run it again."""
    seconds = float(os.environ.get("PENSTOCK_WORDCOUNT_SECONDS", "5"))
    with tempfile.TemporaryDirectory(prefix="penstock-wordcount-") as folder:
        for number, lines in enumerate((FIRST, SECOND), start=1):
            print(f"Run {number}, {seconds:g} seconds")
            send(Path(folder), lines)
            run(Path(folder), seconds)


if __name__ == "__main__":
    main()

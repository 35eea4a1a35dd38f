r"""The running average of topic `avg`: numbers typed into the console, one a line.

python -m examples.running_average            # type numbers; Ctrl-D ends it
printf '3\n5\n10\n' | python -m examples.running_average

With a home of your own the same goes on in several terminals, and after a restart:

penstock topics create avg --partitions 1
penstock run examples/running_average.py --here     # in one terminal
penstock produce avg                                # in another: type numbers
penstock consume average                            # in a third: watch
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import penstock as ps
from penstock.inline.run import InlineRun

app = ps.App("running_average")
numbers = app.stream("avg", schema={"number": float}, format="delimited")
averages = numbers.agg(average=ps.avg("number"), numbers=ps.count())
averages.to("average", format="json", dead="not_a_number")


def averaged(home: Path, lines: Iterable[str]) -> Iterator[str]:
    """Write each line to the topic, and give what became of it."""
    with ps.open_log(home) as log:
        log.create_topic("avg", partitions=1)
    run = InlineRun(app.physical(), home=home, checkpoint=home / "jobs" / app.name)
    running = threading.Thread(target=run.run)
    running.start()
    try:
        with ps.open_log(home) as log, ps.Producer(log) as producer:
            results = [ps.TopicPartition(topic, 0) for topic in ("average", "not_a_number")]
            with ps.Consumer(log, partitions=results, start="earliest") as consumer:
                for line in lines:
                    producer.send("avg", line.strip().encode()).result()
                    yield told(consumer)
    finally:
        run.stop()
        running.join()


def told(consumer: ps.Consumer) -> str:
    """Wait for the next result and put it in words."""
    while True:
        for record in consumer.poll(timeout=1.0):
            value = json.loads(record.value) if isinstance(record.value, bytes) else record.value
            assert value is not None
            if record.topic == "average":
                return f"average {value['average']:g} of {value['numbers']}"
            return f"not counted: {value['error']}"


def main() -> None:
    """Ask for numbers until there are no more."""
    with tempfile.TemporaryDirectory(prefix="penstock-average-") as folder:
        for words in averaged(Path(folder), sys.stdin):
            print(words, flush=True)


if __name__ == "__main__":
    main()

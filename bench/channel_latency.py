"""How long a record takes from `send` in one process to `poll` in another, and how many a second.

`python -m bench.channel_latency` prints the numbers; `run` gives them to the other benches.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from penstock.log.channel.receiver import ChannelReceiver
from penstock.log.channel.sender import ChannelSender

_MOMENT = struct.Struct("<q")
_CHANNEL = "bench"
_LISTEN = "listen"


def run(
    *,
    messages: int = 2_000,
    pause: timedelta = timedelta(milliseconds=1),
    burst: int = 200_000,
    value_bytes: int = 100,
) -> dict[str, float]:
    """Measure paced messages one by one (micros), then one burst (records a second)."""
    with tempfile.TemporaryDirectory() as folder:
        listener = _start_listener(Path(folder), messages, burst)
        try:
            with ChannelSender(Path(folder), _CHANNEL) as sender:
                _send_paced(sender, messages, pause, value_bytes)
                started_at = time.perf_counter()
                for _ in range(burst):
                    sender.send(bytes(value_bytes))
                sender.flush()
                seconds = time.perf_counter() - started_at
            output, _ = listener.communicate(timeout=60)
        finally:
            listener.kill()
            listener.wait()
    latencies: list[float] = sorted(json.loads(output))
    return {
        "p50_micros": latencies[len(latencies) // 2],
        "p99_micros": latencies[len(latencies) * 99 // 100],
        "records_per_second": burst / seconds,
    }


def _start_listener(home: Path, messages: int, burst: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.channel_latency", _LISTEN, str(home)]
    listener = subprocess.Popen(
        [*command, str(messages), str(burst)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=Path(__file__).resolve().parents[1],
    )
    assert listener.stdout is not None
    listener.stdout.readline()
    return listener


def _send_paced(sender: ChannelSender, messages: int, pause: timedelta, value_bytes: int) -> None:
    padding = bytes(max(0, value_bytes - _MOMENT.size))
    for _ in range(messages):
        sender.send(_MOMENT.pack(time.monotonic_ns()) + padding)
        time.sleep(pause.total_seconds())
    sender.flush()


def _listen(home: Path, messages: int, burst: int) -> None:
    """Print "ready", then the latency of each paced message in micros, as JSON."""
    latencies: list[float] = []
    with ChannelReceiver(home, _CHANNEL) as receiver:
        print("ready", flush=True)
        while len(latencies) < messages:
            for record in receiver.poll(None):
                assert isinstance(record.value, bytes)
                (sent_at,) = _MOMENT.unpack_from(record.value)
                latencies.append((time.monotonic_ns() - sent_at) / 1_000)
        while receiver.stats.received < messages + burst or receiver.stats.buffered:
            receiver.poll(1.0)
    print(json.dumps(latencies))


if __name__ == "__main__":
    if sys.argv[1:2] == [_LISTEN]:
        _listen(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        print(json.dumps(run(), indent=2))

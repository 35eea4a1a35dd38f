"""Many who follow a topic over HTTP, some of them cut all the time."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from typing_extensions import override

from bench.measure import percentile
from bench.result import Measure, Result, Target
from bench.scale import Scale
from bench.workload import MIB
from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes

_ROWS_A_SECOND = 10
_CUT_A_SECOND = 0.1
_PARTITIONS = 3
_FILLING = "x" * 100
_METHOD = (
    "`penstock serve`; subscribers in one other process, over sockets, each with an event stream of"
    f" its own on one topic of {_PARTITIONS} partitions. {_ROWS_A_SECOND} rows a second are"
    " appended by the process of the subscribers, and each second a tenth of these, at random, is"
    " cut without a word and comes back with the id of its last event. One more never reads. Every"
    " row has a number: missed and repeated are counted over all. The latency is from before the"
    " append to the row in the subscriber's hand, in the process that plays all of them."
)


@dataclass(slots=True)
class _Tally:
    """What the subscribers have seen."""

    latencies: list[float] = field(default_factory=list)
    repeated: int = 0
    missed: int = 0
    gaps: int = 0
    resumed: int = 0


def run(scale: Scale) -> Result:
    """Follow, cut, resume, and count."""
    subscribers, seconds = scale.of(1_000, 50), scale.of(30, 2)
    with scale.home() as home:
        with open_log(home) as log:
            log.create_topic("rows", partitions=_PARTITIONS)
        with _served(home) as (server, address):
            sizes = (subscribers, seconds)
            tally, held, share = asyncio.run(_play(home, address, server.pid, sizes))
    return Result(
        name="subscribers",
        title="Many subscribers, cut at random",
        method=_METHOD,
        scale=scale.name,
        sizes={"subscribers": subscribers, "seconds": seconds, "resumed": tally.resumed},
        measures=_measures(tally, held, share),
    )


def _measures(tally: _Tally, held: list[float], share: float) -> tuple[Measure, ...]:
    none = Target("at most", 0)
    return (
        _measure("rows missed", "rows", tally.missed, none),
        _measure("rows repeated", "rows", tally.repeated, none),
        _measure("gaps told", "events", tally.gaps, none),
        _measure("server memory (PSS), the most", "MiB", max(held), Target("at most", 300)),
        _measure("server processor", "% of one core", share * 100, None),
        _measure("delivery p50", "ms", percentile(tally.latencies, 0.5), None),
        _measure("delivery p99", "ms", percentile(tally.latencies, 0.99), None),
    )


def _measure(label: str, unit: str, found: float, target: Target | None) -> Measure:
    return Measure(label=label, unit=unit, ours=(found,), lower_is_better=True, target=target)


async def _play(
    home: Path, address: tuple[str, int], server: int, sizes: tuple[int, int]
) -> tuple[_Tally, list[float], float]:
    subscribers, seconds = sizes
    tally, held = _Tally(), [0.0]
    total = seconds * _ROWS_A_SECOND
    everybody = [_Subscriber(address, tally, total) for _ in range(subscribers)]
    stuck = await asyncio.open_connection(*address)
    stuck[1].write(_request(address, "", "from=beginning"))
    work = [asyncio.ensure_future(one.follow()) for one in everybody]
    while not all(one.is_open for one in everybody):
        await asyncio.sleep(0.05)
    process = psutil.Process(server)
    before, begun = sum(process.cpu_times()[:2]), time.monotonic()
    cutting = asyncio.ensure_future(_cut(everybody, held, process))
    await _append(home, total)
    done, late = await asyncio.wait(work, timeout=60)
    cutting.cancel()
    share = (sum(process.cpu_times()[:2]) - before) / (time.monotonic() - begun)
    for task in late:
        task.cancel()
    tally.missed = sum(total - len(one.seen) for one in everybody)
    stuck[1].transport.abort()
    await asyncio.gather(cutting, *late, return_exceptions=True)
    for task in done:
        task.result()
    return tally, held, share


async def _append(home: Path, total: int) -> None:
    with open_log(home) as log:
        for number in range(total):
            await asyncio.sleep(1 / _ROWS_A_SECOND)
            row = f'{{"n":{number},"sent":{time.monotonic_ns()},"filling":"{_FILLING}"}}'
            await asyncio.to_thread(
                log.append, "rows", number % _PARTITIONS, rows_of_bytes([row.encode()])
            )


async def _cut(everybody: list[_Subscriber], held: list[float], process: psutil.Process) -> None:
    chance = random.Random(1)
    while True:
        await asyncio.sleep(0.1)
        for one in chance.sample(everybody, max(1, int(len(everybody) * _CUT_A_SECOND / 10))):
            one.cut()
        if chance.random() < _CUT_A_SECOND:
            held.append(process.memory_full_info().pss / MIB)


class _Subscriber(asyncio.Protocol):
    """Reads an event stream, and asks again where it was cut."""

    def __init__(self, address: tuple[str, int], tally: _Tally, total: int) -> None:
        self._address = address
        self._tally = tally
        self._total = total
        self._transport: asyncio.Transport | None = None
        self._rest = b""
        self._token = ""
        self._lost = asyncio.Event()
        self.is_open = False
        self.seen: set[int] = set()

    async def follow(self) -> None:
        """Follow until all rows are there."""
        loop = asyncio.get_running_loop()
        while len(self.seen) < self._total:
            self._lost.clear()
            self._rest = b""
            await loop.create_connection(lambda: self, *self._address)
            await self._lost.wait()

    def cut(self) -> None:
        """Break off in the middle of whatever comes."""
        if self._transport is not None and self._token:
            self._tally.resumed += 1
            self._transport.abort()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(_request(self._address, self._token, "from=latest"))

    @override
    def connection_lost(self, error: Exception | None) -> None:
        del error
        self._transport = None
        self._lost.set()

    @override
    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        # The sizes between chunks are lines that no event has, and do not matter here.
        *blocks, self._rest = (self._rest + data).split(b"\n\n")
        for block in blocks:
            self._take(block, now)
        if len(self.seen) >= self._total and self._transport is not None:
            self._transport.abort()

    def _take(self, block: bytes, now: int) -> None:
        _, has_id, after = block.partition(b"id: ")
        if has_id:
            self._token = after.partition(b"\n")[0].decode()
        self.is_open = self.is_open or bool(has_id)
        self._tally.gaps += b"event: gap" in block or b"event: error" in block
        _, has_row, row = block.partition(b'"n":')
        if not has_row:
            return
        number = int(row.partition(b",")[0])
        self._tally.repeated += number in self.seen
        self.seen.add(number)
        sent = int(row.partition(b'"sent":')[2].partition(b",")[0])
        self._tally.latencies.append((now - sent) / 1e6)


def _request(address: tuple[str, int], token: str, query: str) -> bytes:
    last = f"Last-Event-ID: {token}\r\n" if token else ""
    path = f"/api/v1/live/topics/rows?{query}"
    return f"GET {path} HTTP/1.1\r\nHost: {address[0]}\r\n{last}\r\n".encode()


@contextmanager
def _served(home: Path) -> Iterator[tuple[subprocess.Popen[bytes], tuple[str, int]]]:
    """Serve a home as its user would, with API and pages, for the length of a with block."""
    command = [sys.executable, "-m", "penstock", "serve", "--port", "0", "--no-jobs", "--json"]
    around = {**os.environ, "PENSTOCK_HOME": str(home)}
    with subprocess.Popen(
        command, env=around, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdout is not None
        url: str = json.loads(server.stdout.readline())["url"]
        host, _, port = url.removeprefix("http://").rpartition(":")
        try:
            yield server, (host, int(port))
        finally:
            server.terminate()
            server.wait(30)

"""A bank ledger by event sourcing: what happened is kept, and every balance is made of it.

python -m examples.ledger

The command side decides: it reads the history of one account, refuses what the account cannot
bear, and appends an event, expecting the version that it has seen. Of two clerks who decide on the
same version one is told to look again. The query side never writes events: its table of balances
has a schema of its own and is wholly made from them, as they are now or were at any time.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import penstock as ps
from penstock.log.port import Log

TOPIC = "ledger"
EVENTS = pa.schema([("account", pa.string()), ("what", pa.string()), ("cents", pa.int64())])
"""What the command side writes: what happened, in the words of a bank."""
SIGN = {"opened": 0, "paid in": 1, "paid out": -1}


class RefusedError(Exception):
    """A command that an account cannot bear; nothing was written."""


@dataclass(frozen=True, slots=True)
class Account:
    """What its history makes of an account; version 0 does not exist."""

    version: int = 0
    cents: int = 0


def applied(account: Account, event: Mapping[str, Any]) -> Account:
    """Let one event happen to an account."""
    return Account(account.version + 1, account.cents + SIGN[event["what"]] * event["cents"])


class Ledger:
    """The command side: a command becomes one event, or nothing."""

    def __init__(self, log: Log) -> None:
        if TOPIC not in log.topics():
            log.create_topic(TOPIC, schema=EVENTS)
        self._events = ps.EventStore(log, TOPIC)

    def account(
        self, name: str, *, version: int | None = None, until: int | None = None
    ) -> Account:
        """Give an account as it is, or was at a version or a time in milliseconds."""
        return self._events.fold(name, Account(), applied, version=version, until=until)

    def open(self, name: str) -> Account:
        """Open an account that does not exist."""
        return self._happened(name, "opened", 0, Account())

    def pay_in(self, name: str, cents: int, seen: Account | None = None) -> Account:
        """Pay into an account, which was seen before or is looked at now."""
        known = seen or self.account(name)
        if not known.version:
            raise RefusedError(f"there is no account {name}")
        return self._happened(name, "paid in", cents, known)

    def pay_out(self, name: str, cents: int, seen: Account | None = None) -> Account:
        """Pay out of an account that has so much."""
        known = seen or self.account(name)
        if known.cents < cents:
            raise RefusedError(f"{name} has {known.cents} cents, too few to pay out {cents}")
        return self._happened(name, "paid out", cents, known)

    def close(self) -> None:
        """Let go of the topic."""
        self._events.close()

    def _happened(self, name: str, what: str, cents: int, seen: Account) -> Account:
        event = {"account": name, "what": what, "cents": cents}
        self._events.append(name, [event], expected_version=seen.version)
        return applied(seen, event)


def balances_into(store: Path) -> ps.App:
    """The query side: a program that makes the table of balances from the events."""
    app = ps.App("balances")
    sign = ps.when(ps.col("what") == "paid out").then(-1).otherwise(1)
    events = app.stream(TOPIC, schema=EVENTS).with_columns(change=sign * ps.col("cents"))
    balances = events.group_by("account").agg(balance=ps.sum("change"), events=ps.count())
    balances.persist(store, "balances")
    return app


def balances(home: Path, *, at: int | None = None) -> dict[str, int]:
    """Give the balance of every account, now or at a time in milliseconds."""
    place = home / "views" / ("now" if at is None else str(at))
    place.mkdir(parents=True, exist_ok=True)
    balances_into(place / "bank.sqlite").run_here(
        home=home,
        checkpoint=place / "checkpoint",
        options=ps.InlineOptions(until="caught up", upto=_ends(home, at)),
    )
    with closing(sqlite3.connect(place / "bank.sqlite")) as found:
        return dict(found.execute("SELECT account, balance FROM balances ORDER BY account"))


def _ends(home: Path, at: int | None) -> dict[ps.TopicPartition, int] | None:
    """Where each partition ended at that time."""
    if at is None:
        return None
    with ps.open_log(home) as log:
        return {
            ps.TopicPartition(TOPIC, number): _end(log, number, at)
            for number in range(log.topic(TOPIC).partitions)
        }


def _end(log: Log, partition: int, at: int) -> int:
    first_after = log.offset_at_time(TOPIC, partition, at + 1)
    return log.bounds(TOPIC, partition).end if first_after is None else first_after


def now() -> int:
    """Give the time, and let it pass, so that what comes next comes later."""
    taken = time.time_ns() // 1_000_000
    time.sleep(0.005)
    return taken


def morning(home: Path) -> int:
    """Let two clerks work, and give the time at which they had a break."""
    with ps.open_log(home) as log:
        ledger = Ledger(log)
        ledger.open("ann")
        ledger.open("bob")
        ledger.pay_in("ann", 100_00)
        ledger.pay_in("bob", 20_00)
        time.sleep(0.005)
        tea = now()
        seen_by_both = ledger.account("ann")
        ledger.pay_out("ann", 70_00, seen_by_both)
        try:
            ledger.pay_out("ann", 60_00, seen_by_both)
        except ps.PenstockError as refusal:
            print(f"the second clerk: {refusal.code}, {refusal.fact}")
        try:
            ledger.pay_out("ann", 60_00)
        except RefusedError as refusal:
            print(f"who looks again: {refusal}")
        for version in range(1, ledger.account("ann").version + 1):
            print(f"ann, version {version}: {ledger.account('ann', version=version).cents} cents")
        ledger.close()
    return tea


def main() -> None:
    """Work for a morning, then look at the balances now and at tea time."""
    with tempfile.TemporaryDirectory(prefix="penstock-ledger-") as folder:
        home = Path(folder)
        tea = morning(home)
        print("balances at tea time:", balances(home, at=tea))
        print("balances now:        ", balances(home))


if __name__ == "__main__":
    main()

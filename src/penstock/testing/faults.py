"""The fault kit: make a storage, a file, a process or a clock fail, and replay it by its seed."""

from __future__ import annotations

from penstock.clock import ManualClock
from penstock.testing.damage import flip_bit, truncate_file
from penstock.testing.faulty import Call, FaultyStorage
from penstock.testing.kill import Killed, KillLoop
from penstock.testing.plan import (
    BROKEN_ONCE,
    DISK_FULL,
    OVER_QUOTA,
    Delay,
    Fault,
    FaultPlan,
    Kill,
    Refuse,
    Tear,
)
from penstock.testing.power import PowerCutStorage

__all__ = [
    "BROKEN_ONCE",
    "DISK_FULL",
    "OVER_QUOTA",
    "Call",
    "Delay",
    "Fault",
    "FaultPlan",
    "FaultyStorage",
    "Kill",
    "KillLoop",
    "Killed",
    "ManualClock",
    "PowerCutStorage",
    "Refuse",
    "Tear",
    "flip_bit",
    "truncate_file",
]

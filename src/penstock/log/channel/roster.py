"""Which receivers are online, seen from a sender, and the connections to them."""

from __future__ import annotations

import math
import os
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from penstock.errors import ChannelError
from penstock.log.channel.address import read_address, receiver_ids
from penstock.log.channel.outlet import Outlet

_RETRY_SECONDS = 1.0
_FAULTS_KEPT = 16
# A directory changed twice within one tick of the file system's clock shows one time for both.
_TICK_NANOSECONDS = 20_000_000


class Roster:
    """Keeps one connection to every receiver whose address is there now.

    A receiver is online from the moment its address appears until the address goes; one
    that hung up on us, or cannot be reached, is tried again after a second.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._descriptor = -1
        self._seen_at = -1
        self._online: dict[str, Outlet] = {}
        self._targets: tuple[Outlet, ...] = ()
        self._leaving: list[Outlet] = []
        self._retry_at: dict[str, float] = {}
        self._look_again_at = math.inf
        self.faults: deque[ChannelError] = deque(maxlen=_FAULTS_KEPT)

    @property
    def connections(self) -> list[Outlet]:
        """Every open connection, also those to receivers that have said goodbye."""
        return [*self._online.values(), *self._leaving]

    def online(self) -> tuple[Outlet, ...]:
        """The receivers to push to now; costs one system call where nothing changed."""
        changed_at = self._changed_at()
        if changed_at != self._seen_at or time.monotonic() >= self._look_again_at:
            self._look(changed_at)
        return self._targets

    def forget(self, outlet: Outlet) -> bool:
        """Hang up on a receiver that is gone; False where that was done before."""
        outlet.close()
        if outlet in self._leaving:
            self._leaving.remove(outlet)
            return True
        if self._online.get(outlet.receiver_id) is not outlet:
            return False
        del self._online[outlet.receiver_id]
        self._targets = tuple(self._online.values())
        self._retry(outlet.receiver_id)
        return True

    def close(self) -> None:
        """Hang up on everybody."""
        for outlet in self.connections:
            self.forget(outlet)
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _changed_at(self) -> int:
        if self._descriptor >= 0:
            status = os.fstat(self._descriptor)
            if status.st_nlink:
                return status.st_mtime_ns
            os.close(self._descriptor)
            self._descriptor = -1
        with suppress(OSError):
            self._descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            return os.fstat(self._descriptor).st_mtime_ns
        return 0

    def _look(self, changed_at: int) -> None:
        settled = time.time_ns() - changed_at > _TICK_NANOSECONDS
        self._seen_at = changed_at if settled else -1
        names = receiver_ids(self._directory)
        for receiver_id in self._online.keys() - set(names):
            self._leaving.append(self._online.pop(receiver_id))
        now = time.monotonic()
        self._retry_at = {name: at for name, at in self._retry_at.items() if name in names}
        for receiver_id in names:
            if receiver_id not in self._online and self._retry_at.get(receiver_id, 0.0) <= now:
                self._meet(receiver_id)
        self._look_again_at = min(self._retry_at.values(), default=math.inf)
        self._targets = tuple(self._online.values())

    def _meet(self, receiver_id: str) -> None:
        try:
            address = read_address(self._directory / receiver_id)
            if address is not None:
                self._online[receiver_id] = Outlet.connect(address)
            self._retry_at.pop(receiver_id, None)
        except ChannelError as fault:
            self.faults.append(fault)
            self._retry(receiver_id)

    def _retry(self, receiver_id: str) -> None:
        self._retry_at[receiver_id] = time.monotonic() + _RETRY_SECONDS
        self._look_again_at = min(self._retry_at.values())

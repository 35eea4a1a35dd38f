"""One of the two processes that keep a job with a standby: whether it leads, and how it comes to.

The one that follows looks for the lock of the one that leads: the system frees it when that dies.
One that hangs keeps its lock, but shows no sign of life. Before the follower takes over it opens
the job's transaction, which the other can commit no more, and only then asks which batches the
other has planned: all that it has ever published is among them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from penstock.clock import SYSTEM_CLOCK
from penstock.errors import PenstockError, RunError
from penstock.log.embedded.lock import FlockLock
from penstock.log.port import Log, Transaction
from penstock.log.storage import held
from penstock.spark.half_done import records_of
from penstock.spark.standby.seed import seed_wanted, seed_while_quiet, unwant_seed, want_seed
from penstock.spark.standby_files import Lead, Sides, is_free, other, planned, write_pair

HUNG_AFTER = timedelta(seconds=15)
"""After so long without a sign of life a lead is taken for dead."""

_LOOK_EVERY = 0.02
_BEAT_EVERY = 1.0
_SEED_EVERY = 0.05
_LONGEST_START = 120.0
_ASKED = 0.2


@dataclass(frozen=True, slots=True)
class Takeover:
    """When a standby began to lead, in milliseconds since 1970, and what it went on from."""

    died_at: int
    """The last sign of life of the lead before."""
    noticed_at: int
    took_over_at: int
    batch: int
    """The last batch that it had planned."""
    replayed: int = 0
    """The records that were still to be read of those that it had planned to."""
    hung: bool = False


class Station:
    """A place at one side of a checkpoint, from `join` to `close`."""

    def __init__(self, sides: Sides, side: str, lead: Lead, locks: list[FlockLock]) -> None:
        self.sides = sides
        self.side = side
        self.takeover: Takeover | None = None
        self.on_takeover: Callable[[Takeover], None] = lambda _: None
        self._term = lead.term
        self._locks = locks
        self._leads = threading.Event()
        self._ended = threading.Event()
        self._fence: Callable[[], Transaction] | None = None
        self._transaction: Transaction | None = None
        self._watch: threading.Thread | None = None
        self._takes_hung = True
        if lead.side == side:
            self._leads.set()

    @property
    def leads(self) -> bool:
        """Whether it is this one whose results count."""
        return self._leads.is_set()

    def prepare(self) -> bool:
        """Get what a standby begins with from the lead; not where that has died meanwhile."""
        if self.leads:
            return True
        want_seed(self.sides, self.side)
        deadline = time.monotonic() + _LONGEST_START
        try:
            while not (self.sides.lead.ready and seed_while_quiet(self.sides, self.side)):
                if self._is_free(self._term) or time.monotonic() >= deadline:
                    return False
                time.sleep(_SEED_EVERY)
        finally:
            unwant_seed(self.sides)
        return True

    def tell_planners(self) -> None:
        """Write down for those who plan which side this is."""
        write_pair(self.sides.files(self.side), self.sides, self.side)

    def publish_by(self, log: Log, name: str, *, takes_hung: bool) -> None:
        """Say where results go; a lead is the only one who can write there from now on."""
        self._takes_hung = takes_hung
        self._fence = lambda: log.transaction(name)
        if self.leads:
            self._transaction = self._fence()

    @property
    def transaction(self) -> Transaction:
        """The transaction that the lead publishes in, batch by batch."""
        assert self._transaction is not None, "only the lead publishes"
        return self._transaction

    def begin(self, hung_after: timedelta = HUNG_AFTER) -> None:
        """Show signs of life, or look for those of the lead, until it is closed."""
        if self.leads:
            self.sides.beat()
            self.sides.write_lead(replace(self.sides.lead, ready=True, resting=False))
        self._watch = threading.Thread(
            target=self._watched, args=(hung_after.total_seconds(),), daemon=True, name="standby"
        )
        self._watch.start()

    def before_batch(self) -> None:
        """Refuse one who was taken over; give a standby that asks for it what there is."""
        if not self.leads:
            return
        lead = self.sides.lead
        if lead.term != self._term:
            raise RunError(
                "STANDBY_LEADS",
                f"the standby took over in term {lead.term}, and this run led term {self._term}",
                hint="Its results count, and nothing of this run is lost or doubled: started"
                " again, this one is the standby.",
            )
        seed_wanted(self.sides, self.side)

    def may_publish(self, number: int) -> bool:
        """Wait until the lead has published a batch, or is this one; whether it is."""
        while not self.leads:
            if self.sides.files(other(self.side)).committed >= number:
                return False
            if self._ended.is_set():
                raise RunError(
                    "STANDBY_ENDED",
                    "the standby was stopped while it followed a batch",
                    hint="Nothing is lost: the lead goes on.",
                )
            self._leads.wait(_LOOK_EVERY)
        return True

    @property
    def is_followed(self) -> bool:
        """Whether it leads, and somebody on the other side has come as far."""
        across = other(self.side)
        if not self.leads or is_free(self.sides.side_lock(across)):
            return False
        return self.sides.files(across).committed >= self.sides.files(self.side).committed - 1

    def rest(self) -> None:
        """Say that the job is to rest, so that nobody takes over."""
        if self.leads and self.sides.lead.term == self._term:
            self.sides.write_lead(replace(self.sides.lead, resting=True, ready=False))

    def end(self) -> None:
        """Look no more for signs of life, and wait for nobody."""
        self._ended.set()

    def close(self) -> None:
        """Let go of the side, and of the lead."""
        self._ended.set()
        if self._watch is not None and self._watch is not threading.current_thread():
            self._watch.join()
        if self._transaction is not None:
            # A fenced one cannot even be given up.
            with suppress(PenstockError, OSError):
                self._transaction.close()
            self._transaction = None
        for lock in self._locks:
            lock.close()

    def _watched(self, hung_after: float) -> None:
        while not self._ended.is_set():
            if self.leads:
                self._ended.wait(_BEAT_EVERY)
                self.sides.beat()
                continue
            with suppress(PenstockError, OSError):
                self._look(hung_after)
            self._ended.wait(_LOOK_EVERY)

    def _look(self, hung_after: float) -> None:
        lead = self.sides.lead
        self._term = lead.term
        dead = self._is_free(lead.term)
        hung = self._takes_hung and lead.ready and self.sides.silent_for() > hung_after
        # It may have gone to rest between the two looks.
        if (dead or hung) and not self.sides.lead.resting:
            self._take_over(lead, hung=not dead)

    def _take_over(self, lead: Lead, *, hung: bool) -> None:
        assert self._fence is not None
        noticed_at = SYSTEM_CLOCK.now()
        # The lock of one that died is looked for every few milliseconds.
        died_at = noticed_at - round(1000 * self.sides.silent_for()) if hung else noticed_at
        with held(self.sides.lock("join")):
            if self.sides.lead != lead:
                return
            lock = self.sides.lead_lock(lead.term + 1)
            if not lock.acquire(0):
                return
            try:
                self._transaction = self._fence()
                own, old = self.sides.files(self.side), self.sides.files(lead.side)
                batch = old.begun
                behind = records_of(planned(own, own.committed), planned(old, batch))
                self.sides.beat()
                self.sides.write_lead(Lead(self.side, lead.term + 1, batch, ready=True))
            except BaseException:
                lock.close()
                raise
            self._locks.append(lock)
            self._term = lead.term + 1
        self.takeover = Takeover(died_at, noticed_at, SYSTEM_CLOCK.now(), batch, behind, hung=hung)
        self._leads.set()
        self.sides.forget_term(lead.term)
        self.on_takeover(self.takeover)

    def _is_free(self, term: int) -> bool:
        return is_free(self.sides.lead_lock(term))


def join(checkpoint: Path, *, follow: bool = False) -> Station | None:
    """Take the lead of a job where nobody has it, or else the place of its standby.

    One that is only to `follow` gets none where there is nobody.
    """
    sides = Sides(checkpoint.absolute())
    with held(sides.lock("join")):
        lead = sides.lead
        leading = sides.lead_lock(lead.term)
        # Whoever asks whether somebody leads, or is at a side, holds its lock for a moment.
        if leading.acquire(_ASKED):
            if follow:
                leading.close()
                return None
            lead = replace(lead, ready=False, resting=False)
            side, locks = lead.side, [leading]
            sides.write_lead(lead)
        else:
            leading.close()
            side, locks = other(lead.side), []
        own = sides.side_lock(side)
        if not own.acquire(_ASKED):
            for lock in locks:
                lock.close()
            own.close()
            raise RunError(
                "STANDBY_TAKEN",
                f'both sides of the checkpoint "{checkpoint}" are in use',
                hint="A job has one lead and one standby; see them with `penstock jobs list`.",
            )
        return Station(sides, side, lead, [*locks, own])

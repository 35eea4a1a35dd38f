"""A seat in a group of the embedded log.

There is no coordinator process: each member changes the group's state itself, under the
group's lock. A partition passes to its next owner only when the present one has released
it, left or died, so two live members never hold it at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from penstock.clock import Clock
from penstock.errors import GroupError
from penstock.log.embedded.decisions import TransactionDecisions
from penstock.log.embedded.group_files import GroupFiles
from penstock.log.embedded.group_state import GroupState, Member, decode_state
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.embedded.watchdog import Watchdog
from penstock.log.port import Rebalance
from penstock.log.record import TopicPartition
from penstock.log.storage import Lock, Watch

_NOTHING: frozenset[TopicPartition] = frozenset()


class EmbeddedMembership:
    """One consumer's seat; threads may share it."""

    def __init__(
        self,
        files: GroupFiles,
        member: Member,
        lock: Lock,
        *,
        clock: Clock,
        partitions_of: Callable[[str], int],
        decisions: TransactionDecisions,
    ) -> None:
        self._files = files
        self._id = member.member_id
        self._session_timeout = member.session_timeout
        self._instance_id = member.instance_id
        self._lock = lock
        self._clock = clock
        self._partitions_of = partitions_of
        self._decisions = decisions
        self._guard = threading.RLock()
        self._watching = threading.Lock()
        self._watch: Watch | None = None
        self._watchdog = Watchdog()
        self._content = b""
        self._state = GroupState()
        self._has_seat = True
        self._owned = member.owned
        self._beats = 0
        self._beaten_at = 0
        self._beat(clock.now())

    @property
    def member_id(self) -> str:
        """The name of this member within its group."""
        return self._id

    @property
    def generation(self) -> int:
        """The generation this member has seen last."""
        return self._state.generation

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """The partitions this member may read and commit now."""
        return self._owned

    def heartbeat(self) -> Rebalance | None:
        """Say "alive"; learn what to give up (until it is released) and what was given."""
        with self._guard, self._coded("a heartbeat"):
            self._look()
            now = self._clock.now()
            if not 0 <= now - self._beaten_at < self._session_timeout // 3:
                self._beat(now)
            gone = self._lost_neighbours(now)
            if gone:
                self._expel(gone)
            assigned = self._claim() if self._state.takeable(self._id) else _NOTHING
            revoked = self._owned - self._state.members[self._id].target
            return Rebalance(revoked, assigned) if revoked or assigned else None

    def wait(self, timeout: float) -> bool:
        """Block until the group's members or their partitions change, or the time is over."""
        with self._watching, self._coded("waiting"):
            if not self._has_seat:
                return True
            if self._watch is None:
                self._watch = self._files.watch()
                # What changed before the watch began would go unnoticed.
                if self._files.state_content() != self._content:
                    return True
            return self._watch.wait(timeout)

    def release(self, partitions: Iterable[TopicPartition]) -> None:
        """Give revoked partitions to whoever is to have them next."""
        with self._guard, self._coded("a release"), self._files.locked():
            me = self._look()
            self._save(self._state.with_member(replace(me, owned=me.owned.difference(partitions))))

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Store the next offsets to read; a member that lost them is fenced."""
        with self._guard, self._coded("a commit"), self._files.locked():
            me = self._look()
            for place in offsets:
                if place not in me.owned:
                    raise self._fenced(f'does not hold "{place}"')
            stored = self._files.offsets().settled(self._decisions)
            self._files.save_offsets(stored.with_committed(offsets))

    def leave(self) -> None:
        """Give up all partitions and the seat; a static member's seat waits for its return."""
        with self._guard, self._coded("leaving"):
            if self._has_seat:
                self._give_up_seat()
        with self._watching:
            if self._watch is not None:
                self._watch.close()
                self._watch = None
        self._files.close()

    def _give_up_seat(self) -> None:
        try:
            with self._files.locked():
                self._refresh()
                me = self._state.members.get(self._id)
                if me is not None and self._instance_id is not None:
                    self._save(self._state.with_member(replace(me, owned=_NOTHING)))
                elif me is not None:
                    self._save(self._state.without([self._id]).shared_out(self._partitions_of))
                    self._files.sweep(self._state.members)
        finally:
            # Where the disk refused, the others find the seat empty as after a crash.
            self._lose_seat()

    def _look(self) -> Member:
        """See the newest state and this member's part in it; refused where it has none."""
        if self._has_seat:
            self._refresh()
            me = self._state.members.get(self._id)
            if me is not None:
                self._owned = me.owned
                return me
            self._lose_seat()
            self._refuse_twin()
        raise self._fenced("has no seat any more")

    def _refresh(self) -> None:
        content = self._files.state_content()
        if content != self._content:
            self._content = content
            self._state = decode_state(content)

    def _save(self, state: GroupState) -> None:
        self._files.save_state(state)
        self._refresh()
        me = state.members.get(self._id)
        self._owned = _NOTHING if me is None else me.owned

    def _claim(self) -> frozenset[TopicPartition]:
        with self._files.locked():
            me = self._look()
            assigned = self._state.takeable(self._id)
            if assigned:
                self._save(self._state.with_member(replace(me, owned=me.owned | assigned)))
            return assigned

    def _expel(self, gone: frozenset[str]) -> None:
        with self._files.locked():
            self._look()
            if gone & self._state.members.keys():
                self._save(self._state.without(gone).shared_out(self._partitions_of))
                self._files.sweep(self._state.members)

    def _lost_neighbours(self, now: int) -> frozenset[str]:
        """The members after this one, up to the first that lives, that are dead or stuck.

        In a ring each member needs to look after one other only, however many there are.
        """
        names = sorted(self._state.members)
        here = names.index(self._id)
        gone = set()
        for name in names[here + 1 :] + names[:here]:
            member = self._state.members[name]
            alive = self._files.is_alive(name)
            if not alive and member.instance_id is None:
                gone.add(name)
                continue
            beat = self._files.last_beat(name)
            if self._watchdog.is_stuck(name, beat, now=now, session_timeout=member.session_timeout):
                gone.add(name)
            elif alive:
                break
        return frozenset(gone)

    def _beat(self, now: int) -> None:
        self._beats += 1
        self._beaten_at = now
        self._files.beat(self._id, self._beats, now)

    def _lose_seat(self) -> None:
        self._has_seat = False
        self._owned = _NOTHING
        self._lock.close()

    def _refuse_twin(self) -> None:
        """Tell apart a seat that was lost from one that another of the same instance took."""
        for member in self._state.members.values():
            if self._instance_id is not None and member.instance_id == self._instance_id:
                raise GroupError(
                    "GROUP_INSTANCE_TAKEN",
                    f'instance "{self._instance_id}" of group "{self._files.group}" is now'
                    f' member "{member.member_id}"',
                    hint="Two consumers run under one instance id: stop this one or rename it.",
                )

    def _coded(self, doing: str) -> AbstractContextManager[None]:
        return coded_storage_errors(f'{doing} in group "{self._files.group}"')

    def _fenced(self, reason: str) -> GroupError:
        return GroupError(
            "GROUP_FENCED",
            f'member "{self._id}" of group "{self._files.group}" {reason}',
            hint="It was silent for too long or left: join again and read from what is committed.",
        )

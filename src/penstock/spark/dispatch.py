"""Parcels on their way out of a task: one packet for each bucket, and one for the sink."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from penstock.kernel.decode import Decoders
from penstock.kernel.parcel import NO_BUCKET, Parcel, origin_of
from penstock.kernel.port import Frame
from penstock.kernel.program import Program
from penstock.log.port import Log
from penstock.schema.codec.codec_cache import CodecCache
from penstock.spark.aside import Staging, staged_outputs
from penstock.spark.batch import Batch
from penstock.spark.handle import worker_codecs, worker_log
from penstock.spark.packet import Packet
from penstock.spark.slot import Slots
from penstock.spark.stored_program import load_program


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Sends what the tasks of one program have worked out."""

    program: Program
    slots: Slots
    home: str
    staging: str
    codecs: CodecCache
    decoders: Decoders
    log_of: Callable[[str], Log] = worker_log

    def send(
        self,
        parcels: Iterable[Parcel],
        packet: Packet,
        batch: Batch,
        *,
        told: Sequence[int] = (),
        lane: int = 0,
    ) -> list[tuple[int, Packet]]:
        """Give packets by slot; `packet` says what the sink gets beside the rows.

        Who is `told` the time gets a packet even without rows.
        """
        by_slot: dict[int, list[tuple[str, Frame]]] = {slot: [] for slot in told}
        others: list[tuple[str, Frame]] = []
        for parcel in parcels:
            if parcel.bucket == NO_BUCKET:
                others.append((parcel.target, parcel.frame))
            else:
                slot = self.slots.of(parcel.target, parcel.bucket)
                by_slot.setdefault(slot, []).append((parcel.target, parcel.frame))
        plain = replace(packet, account=None)
        sent = [(slot, replace(plain, parcels=tuple(found))) for slot, found in by_slot.items()]
        return [*sent, (self.slots.passing(lane), self._to_sink(others, packet, batch, lane))]

    def _to_sink(
        self, others: list[tuple[str, Frame]], packet: Packet, batch: Batch, lane: int
    ) -> Packet:
        if any(origin_of(target) is not None for target, _ in others):
            # Chains come next, in a stage of their own, which must know the time.
            return replace(packet, parcels=tuple(others), batch=batch)
        where = Staging(self.home, self.staging, lane, batch.clock, self.codecs)
        staged = staged_outputs(others, self.program.physical, self.log_of, where)
        return replace(packet, parcels=() if staged else tuple(others), staged=staged)


def slots_of(program: Program) -> Slots:
    """Give the numbers that Spark groups a program's packets by."""
    physical = program.physical
    operators = tuple(keyed.id for keyed in physical.operators)
    return Slots(operators, physical.settings.buckets, physical.settings.parallelism)


@lru_cache(maxsize=8)
def dispatch_of(program: str, home: str, staging: str) -> Dispatch:
    """Give what the tasks of a stored program send with; once a process."""
    loaded = load_program(program)
    codecs = worker_codecs(home, loaded.physical.settings.registry)
    decoders = Decoders(loaded.physical, codecs)
    return Dispatch(loaded, slots_of(loaded), home, staging, codecs, decoders)

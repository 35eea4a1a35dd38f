"""Transactions of Kafka: a producer by its transactional id, and a note with each commit.

The note is the metadata of an offset that is committed with the records, in a group named after
the id. docs/decisions/0022-kafka.md says why.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka import TopicPartition as KafkaPartition

from penstock.errors import PenstockError, RecordError, TransactionError
from penstock.log.kafka.clients import PATIENCE, Clients
from penstock.log.kafka.failures import FENCED, REFUSED_RECORD, coded, error_of
from penstock.log.kafka.given_time import in_time
from penstock.log.kafka.groups import NOTE_PLACE, Groups, note_group
from penstock.log.kafka.offsets import Offsets
from penstock.log.kafka.writer import SETTINGS, Sendable, Sent, send, settle
from penstock.log.port import Appended
from penstock.log.record import TopicPartition

if TYPE_CHECKING:
    import pyarrow as pa

_LONGEST_NOTE = 4000
_PAUSE = 0.1
_MOMENT = 0.5
# A producer that waits for a group's coordinator which left the cluster, or stands still, waits
# for ever, whatever time it was given: who takes the id anew finds the next one.
_COORDINATION = 15.0
_LIFETIME = "300000"


@dataclass(slots=True)
class Holder:
    """Who holds a transactional id: its producer, and what was noted last."""

    name: str
    producer: Producer
    note: str = ""
    commits: int = 0


@dataclass(frozen=True, slots=True)
class Transacting:
    """What transactions ask of their log."""

    clients: Clients
    offsets: Offsets
    groups: Groups
    records: Callable[[TopicPartition, pa.Table], Sendable]
    """Checks rows and gives them as they are sent."""
    keep: Callable[[Holder], None]
    """Takes a holder whose transaction is over, to be used again."""

    def hold(self, transactional_id: str) -> Holder:
        """Take over an id: earlier holders are fenced, what they left open is aborted."""
        doing = f'taking over transactional id "{transactional_id}"'
        settings = {
            **SETTINGS,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": _LIFETIME,
        }
        with self.clients.errors(doing):
            producer = self.clients.producer(settings)
            _stubbornly(producer.init_transactions)
        # Not before: what an earlier holder committed last is decided only now.
        note, commits = self.groups.note(transactional_id)
        return Holder(transactional_id, producer, note, commits)


@dataclass(slots=True)
class _Open:
    """What the open transaction has touched."""

    sent: dict[TopicPartition, list[Sent]] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)
    fenced: BaseException | None = None


class KafkaTransaction:
    """Appends over several partitions and topics that readers see all or none of."""

    def __init__(self, transacting: Transacting, holder: Holder) -> None:
        self._by = transacting
        self._holder: Holder | None = holder
        self._name = holder.name
        self._note = holder.note
        self._open: _Open | None = None

    @property
    def note(self) -> str:
        """The note of the last transaction committed under this id ("" before the first)."""
        return self._note

    def begin(self) -> None:
        """Open a transaction; one at a time for each id."""
        if self._open is not None:
            raise TransactionError(
                "TRANSACTION_OPEN",
                f'transaction "{self._name}" is open already',
                hint="Commit or abort it before the next begin.",
            )
        holder = self._held()
        with self._by.clients.errors(self._doing("beginning")):
            holder.producer.begin_transaction()
        self._open = _Open()

    def append(self, topic: str, partition: int, rows: pa.Table) -> Appended:
        """Append rows that nobody sees before `commit`."""
        sent = self._send(topic, partition, rows)
        self._settle([sent])
        return sent.appended if sent.offsets else Appended(-1, -1)

    def append_all(self, items: Iterable[tuple[str, int, pa.Table]]) -> None:
        """Append rows to several partitions; brokers are waited for once, at the commit."""
        for topic, partition, rows in items:
            self._send(topic, partition, rows)

    def commit_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Let a group's offsets become committed together with the records."""
        self._require_open().groups.add(group)
        places = [KafkaPartition(*place, at) for place, at in offsets.items()]
        self._add_offsets(group, places)

    def commit(self, note: str = "") -> None:
        """Make everything visible at once, with a note that `note` gives back after a restart."""
        touched = self._require_open()
        holder = self._held()
        if touched.fenced is not None:
            self._give_up()
            raise touched.fenced
        if note != self._note:
            _check_note(note)
            place = KafkaPartition(*NOTE_PLACE, holder.commits + 1, metadata=note)
            self._add_offsets(note_group(self._name), [place])
        self._decide(holder.producer.commit_transaction)
        if note != self._note:
            holder.note, holder.commits = note, holder.commits + 1
        self._note = note
        self._open = None
        self._await_visible(touched)

    def abort(self) -> None:
        """Make everything vanish."""
        touched = self._require_open()
        holder = self._held()
        try:
            self._decide(holder.producer.abort_transaction)
        except TransactionError as refusal:
            if refusal.code != "TRANSACTION_UNDECIDED":
                raise
            # It was never to be committed: what is left of it ends when the id is taken anew.
            return
        self._open = None
        self._await_visible(touched)

    def close(self) -> None:
        """Abort what is open and let go of the id."""
        if self._open is not None and self._holder is not None:
            with contextlib.suppress(PenstockError):
                self.abort()
        holder, self._holder = self._holder, None
        if holder is not None:
            self._by.keep(holder)

    def _send(self, topic: str, partition: int, rows: pa.Table) -> Sent:
        touched = self._require_open()
        place = TopicPartition(topic, partition)
        records = self._by.records(place, rows)
        sent = Sent()
        if touched.fenced is None:
            try:
                with self._by.clients.errors(self._doing("appending to")):
                    sent = send(self._held().producer, place, records)
            except TransactionError as refusal:
                # Nobody will see anything of it: that is said at the commit.
                touched.fenced = refusal
        touched.sent.setdefault(place, []).append(sent)
        return sent

    def _settle(self, several: Iterable[Sent]) -> None:
        touched = self._require_open()
        for sent in several:
            try:
                with self._by.clients.errors(self._doing("appending to")):
                    settle(self._held().producer, sent)
                    if sent.error is not None:
                        raise KafkaException(_reason(sent.error))
            except TransactionError as refusal:
                touched.fenced = refusal

    def _add_offsets(self, group: str, places: list[KafkaPartition]) -> None:
        touched = self._require_open()
        metadata = self._by.groups.metadata(group)
        producer = self._held().producer
        try:
            with self._by.clients.errors(self._doing("adding offsets to")):
                try:
                    in_time(
                        lambda: _stubbornly(
                            lambda left: producer.send_offsets_to_transaction(
                                places, metadata, left
                            ),
                            seconds=_COORDINATION,
                        ),
                        seconds=_COORDINATION + _MOMENT,
                    )
                except KafkaException as failure:
                    raise _first_reason(producer, failure) from failure
        except TransactionError as refusal:
            touched.fenced = refusal
        except PenstockError as refusal:
            if refusal.code == "KAFKA_TIMEOUT":
                # It would not even end what is open: who takes the id anew does.
                self._give_up()
            raise

    def _decide(self, decide: Callable[[float], None]) -> None:
        """End the transaction; where that failed, the next begin takes the id over anew."""
        try:
            with self._by.clients.errors(self._doing("ending")):
                _stubbornly(decide)
        except PenstockError as refusal:
            cause = None if refusal.__cause__ is None else error_of(refusal.__cause__)
            refused = self._refused_record()
            self._give_up(abort=cause is not None and cause.txn_requires_abort())
            if refused is not None:
                # The commit only says that it cannot be: the record's own error says why.
                raise coded(self._doing("ending"), refused) from refusal
            if cause is not None and _leaves_open(cause):
                raise TransactionError(
                    "TRANSACTION_UNDECIDED",
                    f'whether transaction "{self._name}" was committed is not known:'
                    f" {refusal.fact}",
                    hint="Take the id again when the brokers are up: its note tells.",
                ) from refusal
            raise

    def _refused_record(self) -> KafkaError | None:
        """Give why a broker took a record not; then nothing of the transaction stands."""
        several = () if self._open is None else self._open.sent.values()
        errors = (sent.error for each in several for sent in each)
        return next((e for e in errors if e is not None and e.code() in REFUSED_RECORD), None)

    def _give_up(self, *, abort: bool = False) -> None:
        holder, self._holder = self._holder, None
        self._open = None
        if holder is not None:
            if abort:
                with contextlib.suppress(KafkaException):
                    holder.producer.abort_transaction(PATIENCE)
            holder.producer.purge(blocking=False)

    def _held(self) -> Holder:
        """Give the holder; after a failure that left things open, a new one."""
        if self._holder is None:
            self._holder = self._by.hold(self._name)
            self._note = self._holder.note
        return self._holder

    def _await_visible(self, touched: _Open) -> None:
        """Wait a moment for the markers, which are written after the decision.

        Not longer: another transaction that is open may hold back what is visible, and a leader
        may be away. What is decided stands all the same.
        """
        ends = {
            place: max(max(sent.offsets) for sent in several if sent.offsets) + 1
            for place, several in touched.sent.items()
            if any(sent.offsets for sent in several)
        }
        deadline = time.monotonic() + _MOMENT
        with contextlib.suppress(PenstockError):
            while ends and time.monotonic() < deadline:
                found = self._by.offsets.ends(ends, "committed", seconds=_MOMENT)
                ends = {place: end for place, end in ends.items() if found[place] < end + 1}
                time.sleep(0.002 if ends else 0)
            for group in sorted(touched.groups):
                self._by.groups.committed(group, stable=True)

    def _require_open(self) -> _Open:
        if self._open is None:
            raise TransactionError(
                "TRANSACTION_NOT_OPEN",
                f'transaction "{self._name}" is not open',
                hint="Call begin() first.",
            )
        return self._open

    def _doing(self, what: str) -> str:
        return f'{what} transaction "{self._name}"'


_UNDECIDED = {
    KafkaError._TIMED_OUT,  # noqa: SLF001  # librdkafka's own
    KafkaError._TRANSPORT,  # noqa: SLF001
    # What a coordinator says that is asked to end what it has ended: the first answer got lost.
    KafkaError.INVALID_TXN_STATE,
}


def _leaves_open(error: KafkaError) -> bool:
    """Whether an attempt to end a transaction may have succeeded although it failed."""
    return error.code() in _UNDECIDED or (error.fatal() and error.code() not in FENCED)


def _first_reason(producer: Producer, failure: KafkaException) -> KafkaException:
    """Say why a transaction failed: what comes after that only says that it has."""
    error = error_of(failure)
    if error is None or not error.txn_requires_abort():
        return failure
    try:
        # Nothing can be committed any more; to try is the way to be told the reason.
        producer.commit_transaction(PATIENCE)
    except KafkaException as told:
        return told
    return failure


def _reason(error: KafkaError) -> KafkaError:
    """Say that a producer was fenced where it only says that it cannot go on."""
    fatal = error.code() == KafkaError._FATAL or error.code() in FENCED  # noqa: SLF001
    return KafkaError(KafkaError._FENCED, error.str()) if fatal else error  # noqa: SLF001


def _stubbornly(act: Callable[[float], None], *, seconds: float = 2 * PATIENCE) -> None:
    """Do, in the seconds that are left, what may be done again after some failures."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            act(max(_PAUSE, deadline - time.monotonic()))
        except KafkaException as failure:
            error = error_of(failure)
            over = time.monotonic() + _PAUSE > deadline
            if error is None or not error.retriable() or over:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _check_note(note: str) -> None:
    if len(note.encode()) > _LONGEST_NOTE:
        raise RecordError(
            "NOTE_TOO_LARGE",
            f"the note of a transaction has {len(note.encode())} bytes, Kafka keeps"
            f" {_LONGEST_NOTE}",
            hint="Note a number, or the name of where the rest is.",
        )

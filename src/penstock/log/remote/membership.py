"""A seat in a group of a log's server; it lives as long as the connection it was taken on."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.errors import GroupError, StorageError
from penstock.log.port import Rebalance
from penstock.log.record import TopicPartition
from penstock.log.remote.exchange import UNREACHABLE, Exchange, Line
from penstock.log.remote.values import (
    decode_places,
    decode_rebalance,
    encode_offsets,
    encode_places,
)
from penstock.log.remote.wire import Message


class RemoteMembership:
    """One consumer's seat; threads may share it. A lost connection is a lost seat."""

    def __init__(self, exchange: Exchange, group: str, asked: dict[str, Any]) -> None:
        self._exchange = exchange
        self._guard = threading.RLock()
        self._group = group
        self._id = ""
        self._generation = 0
        self._owned: frozenset[TopicPartition] = frozenset()
        self._connection: Line | None = exchange.take()
        try:
            answer = exchange.ask_on(self._connection, _question("join", group=group, **asked))
        except BaseException:
            self._let_go()
            raise
        self._id = answer.header["result"]
        self._see(answer)

    @property
    def member_id(self) -> str:
        """The name of this member within its group."""
        return self._id

    @property
    def generation(self) -> int:
        """The generation this member has seen last."""
        return self._generation

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """The partitions this member may read and commit now."""
        return self._owned

    def heartbeat(self) -> Rebalance | None:
        """Say "alive"; learn what to give up (until it is released) and what was given."""
        return decode_rebalance(self._ask("seat.heartbeat"))

    def wait(self, timeout: float) -> bool:
        """Block until the group may have news for `heartbeat`, or the time is over."""
        if self._connection is None:
            return True
        # On another connection: a heartbeat or a commit must not wait until this is over.
        asked = {"member_id": self._id, "timeout": timeout}
        answer = self._exchange.ask("seat.wait", asked, repeatable=True, waiting=timeout)
        return bool(answer.header["result"])

    def release(self, partitions: Iterable[TopicPartition]) -> None:
        """Give revoked partitions to whoever is to have them next."""
        self._ask("seat.release", places=encode_places(partitions))

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Store the next offsets to read; a member that lost them is fenced."""
        self._ask("seat.commit", offsets=encode_offsets(offsets))

    def leave(self) -> None:
        """Give up all partitions and the seat; where the connection is lost, that is done."""
        with self._guard:
            try:
                if self._connection is not None and self._connection.is_usable:
                    self._exchange.ask_on(self._connection, _question("seat.leave"))
            except StorageError as failure:
                if failure.code != UNREACHABLE:
                    raise
            finally:
                self._let_go()

    def _ask(self, method: str, **arguments: object) -> Any:  # noqa: ANN401  # what JSON holds
        with self._guard:
            connection = self._connection
            if connection is None:
                raise self._fenced("has no seat any more")
            try:
                answer = self._exchange.ask_on(connection, _question(method, **arguments))
            except StorageError as failure:
                if failure.code != UNREACHABLE:
                    raise
                # The server gives up a seat whose connection is gone, as a group does whose
                # member died: a consumer that hears so takes a new one, when it can.
                self._let_go()
                raise self._fenced("lost the connection to its server") from failure
            except GroupError:
                self._see(self._exchange.ask_on(connection, _question("seat.look")))
                raise
            self._see(answer)
            return answer.header["result"]

    def _see(self, answer: Message) -> None:
        seat = answer.header["seat"]
        self._generation = seat["generation"]
        self._owned = frozenset(decode_places(seat["owned"]))

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        self._owned = frozenset()
        if connection is not None:
            self._exchange.discard(connection)

    def _fenced(self, reason: str) -> GroupError:
        return GroupError(
            "GROUP_FENCED",
            f'member "{self._id}" of group "{self._group}" {reason}',
            hint="Join again and read from what is committed.",
        )


def _question(method: str, **arguments: object) -> Message:
    return Message({"method": method, "arguments": arguments})

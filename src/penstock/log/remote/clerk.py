"""The server's side of one client: does what is asked, and ends with it what it opened."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from penstock.errors import PenstockError
from penstock.log.port import Chunk, Log, Membership, Transaction
from penstock.log.remote.failure import encode_failure, server_failure
from penstock.log.remote.methods import (
    LOG_METHODS,
    SEAT_METHODS,
    TRANSACTION_METHODS,
    Asked,
    join,
    seat_state,
)
from penstock.log.remote.values import decode_offsets
from penstock.log.remote.wire import Message, decode_rows, encode_rows, malformed

# How late a wait notices that its client is gone or that the server is to stop.
_SLICE = 0.5


class Clerk:
    """Answers the questions of one connection, on which one transaction or seat may be open.

    `seats` are those of all connections: a member waits on another one than it beats on.
    """

    def __init__(
        self, log: Log, seats: dict[str, Membership], client_gone: Callable[[], bool]
    ) -> None:
        self._log = log
        self._seats = seats
        self._client_gone = client_gone
        self._transaction: Transaction | None = None
        self._seat: Membership | None = None

    def answer(self, question: Message) -> Message:
        """Do what is asked; whatever goes wrong is the answer."""
        method = str(question.header.get("method"))
        try:
            asked = dict(question.header["arguments"])
            if question.body is not None:
                asked["rows"] = decode_rows(question.body)
            return self._do(method, asked)
        except PenstockError as error:
            return Message({"error": encode_failure(error)})
        except Exception as error:  # noqa: BLE001  # the client is to hear of it, whatever it is
            return Message({"error": encode_failure(server_failure(method, error))})

    def close(self) -> None:
        """Abort the transaction and give up the seat of a client that is gone."""
        if self._transaction is not None:
            # There is nobody to tell; the next holder of the id aborts what could not be.
            with suppress(PenstockError):
                self._transaction.close()
            self._transaction = None
        if self._seat is not None:
            self._seats.pop(self._seat.member_id, None)
            with suppress(PenstockError):
                self._seat.leave()
            self._seat = None

    def _do(self, method: str, asked: Asked) -> Message:
        if method in LOG_METHODS:
            return _reply(LOG_METHODS[method](self._log, asked))
        if method in TRANSACTION_METHODS and self._transaction is not None:
            return _reply(TRANSACTION_METHODS[method](self._transaction, asked))
        if method in SEAT_METHODS and self._seat is not None:
            return _reply_with_seat(SEAT_METHODS[method](self._seat, asked), self._seat)
        return self._do_here(method, asked)

    def _do_here(self, method: str, asked: Asked) -> Message:
        """Do what concerns the connection itself: to open something on it, or to hold it up."""
        match method:
            case "wait":
                return self._wait(asked)
            case "seat.wait":
                return self._wait_for_group(asked)
            case "transaction":
                return self._open_transaction(asked)
            case "join":
                return self._take_seat(asked)
            case _:
                raise malformed(f'nothing can be asked by "{method}" here')

    def _open_transaction(self, asked: Asked) -> Message:
        self.close()
        self._transaction = self._log.transaction(asked["transactional_id"])
        return _reply(self._transaction.note)

    def _take_seat(self, asked: Asked) -> Message:
        self.close()
        seat = self._seat = join(self._log, asked)
        self._seats[seat.member_id] = seat
        return _reply_with_seat(seat.member_id, seat)

    def _wait(self, asked: Asked) -> Message:
        positions = decode_offsets(asked["positions"])
        return self._wait_patiently(asked["timeout"], lambda left: self._log.wait(positions, left))

    def _wait_for_group(self, asked: Asked) -> Message:
        seat = self._seats.get(asked["member_id"])
        if seat is None:
            return _reply(result=True)
        return self._wait_patiently(asked["timeout"], seat.wait)

    def _wait_patiently(self, timeout: float, wait: Callable[[float], bool]) -> Message:
        deadline = time.monotonic() + timeout
        while True:
            left = deadline - time.monotonic()
            if wait(max(0.0, min(left, _SLICE))):
                return _reply(result=True)
            if left <= _SLICE or self._client_gone():
                return _reply(result=False)


def _reply_with_seat(result: object, seat: Membership) -> Message:
    return Message({"result": result, "seat": seat_state(seat)})


def _reply(result: Any) -> Message:  # noqa: ANN401  # what JSON holds
    if isinstance(result, Chunk):
        return Message({"result": result.next_offset}, encode_rows(result.rows))
    return Message({"result": result})

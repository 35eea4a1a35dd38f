"""What every transport of records offers a program that sends: the log's and the channel's."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple, Protocol

from penstock.log.record import Headers, Value


class Receipt(NamedTuple):
    """Where a record went; a transport that stores nothing has no offset to give."""

    topic: str
    partition: int
    offset: int | None
    timestamp: int


class Delivery(Protocol):
    """The fate of one sent record, to be waited for or awaited."""

    def done(self) -> bool:
        """Whether the fate is known, so that `result` does not wait."""
        ...

    def result(self, timeout: float | None = None) -> Receipt:
        """Wait for the fate: a receipt, or the error that kept the record from being taken."""
        ...

    def __await__(self) -> Generator[object, None, Receipt]:
        """Wait for the fate without holding up the event loop."""
        ...


class Sender(Protocol):
    """Sends records by topic, so that one program runs on the log and on direct channels."""

    def send(
        self,
        topic: str,
        value: Value,
        *,
        key: bytes | None = None,
        timestamp: int | None = None,
        headers: Headers = (),
        partition: int | None = None,
    ) -> Delivery:
        """Take a record to be sent; the delivery tells when and where it went."""
        ...

    def flush(self) -> None:
        """Return when everything sent so far has its fate."""
        ...

    def close(self) -> None:
        """Flush and let go; closing twice is harmless."""
        ...

"""The fate of sent records, known by the batch and asked for by the record."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from penstock.log.sender import Receipt


class BatchReceipt(NamedTuple):
    """Where each record of a batch went."""

    topic: str
    partitions: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    timestamps: npt.NDArray[np.int64]


class BatchFuture(Future[BatchReceipt]):
    """The fate of a batch, and whether anybody has asked for it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False


class BatchDelivery:
    """One record's share in the fate of its batch; also awaitable."""

    __slots__ = ("_batch", "_index")

    def __init__(self, batch: BatchFuture, index: int) -> None:
        self._batch = batch
        self._index = index

    def done(self) -> bool:
        """Whether the fate is known, so that `result` does not wait."""
        return self._batch.done()

    def result(self, timeout: float | None = None) -> Receipt:
        """Wait for the fate: a receipt, or the error that kept the record from being taken."""
        self._batch.seen = True
        return self._receipt(self._batch.result(timeout))

    def __await__(self) -> Generator[object, None, Receipt]:
        """Wait for the fate without holding up the event loop."""
        self._batch.seen = True
        batch = yield from asyncio.wrap_future(self._batch).__await__()
        return self._receipt(batch)

    def _receipt(self, batch: BatchReceipt) -> Receipt:
        index = self._index
        return Receipt(
            batch.topic,
            int(batch.partitions[index]),
            int(batch.offsets[index]),
            int(batch.timestamps[index]),
        )


def failed_delivery(error: Exception) -> BatchDelivery:
    """The fate of a record that was refused at once."""
    batch = BatchFuture()
    batch.set_exception(error)
    return BatchDelivery(batch, 0)

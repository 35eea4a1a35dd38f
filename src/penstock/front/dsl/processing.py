"""What rows that were brought together by key offer for processes of the user's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, TypeVar

from penstock.errors import ModelError
from penstock.front.dsl.place import placed
from penstock.front.dsl.processes import (
    ProcessorLike,
    ProcessWords,
    StateLike,
    TimerFunction,
    batch_process_of,
    process_of,
)
from penstock.model.process import Process
from penstock.model.processor import BatchProcessor
from penstock.model.relation import Relation
from penstock.model.trigger import Trigger
from penstock.model.window import Window
from penstock.schema.annotation import SchemaLike

Processed = TypeVar("Processed")


class Processing(ABC, Generic[Processed]):
    """Rows of a key, waiting to be told what is done with them one by one."""

    __slots__ = ()

    source: Relation
    keys: tuple[str, ...]
    where: Window | None
    when: Trigger | None

    @placed
    def process(  # noqa: PLR0913  # all that one may say about a process
        self,
        processor: ProcessorLike,
        *,
        schema: SchemaLike | None = None,
        sides: Mapping[str, SchemaLike] | None = None,
        state: Mapping[str, StateLike] | None = None,
        on_timer: TimerFunction | None = None,
        in_order: bool | None = None,
        changelog: bool | None = None,
        name: str | None = None,
    ) -> Processed:
        """Call a function with the rows of each key, one by one, with state and timers.

        It is a subclass of `Processor`, an object of one, or a function of the row, the state
        and the context, which has its `state` by name and perhaps a function for timers beside
        it. `schema` says the columns of its results, `sides` those of its side outputs. With
        `in_order` a row waits until the watermark has passed it, and rows and timers come by
        their times; else rows come as they arrive. `changelog` says that rows may be taken
        back. Its stored state is known by its `name`: by default that of the class or function.
        """
        words = ProcessWords(
            schema=schema,
            sides=sides or {},
            state=state or {},
            on_timer=on_timer,
            in_order=in_order,
            changelog=changelog,
            name=name,
        )
        self._refuse_windows()
        return self._processed(process_of(self.source, self.keys, processor, words))

    @placed
    def process_batches(
        self,
        function: BatchProcessor,
        *,
        schema: SchemaLike,
        state: Mapping[str, StateLike] | None = None,
        changelog: bool | None = None,
        name: str | None = None,
    ) -> Processed:
        """Call a function with the rows of many keys and the state of these keys, as tables.

        It takes two polars frames, the rows and the state with one row a key, and gives two:
        the results and the new state. A key that the new state leaves out is forgotten. The
        results have as many rows, in order, or else the column `_time` of those they are of.
        """
        words = ProcessWords(schema=schema, state=state or {}, changelog=changelog, name=name)
        self._refuse_windows()
        return self._processed(batch_process_of(self.source, self.keys, function, words))

    def _refuse_windows(self) -> None:
        if self.where is not None or self.when is not None:
            raise ModelError(
                "STEP_ORDER",
                "a process is given a window or a trigger",
                hint="Leave them out: a process decides by its state and its timers.",
            )

    @abstractmethod
    def _processed(self, step: Process) -> Processed:
        """Give the results of a process."""

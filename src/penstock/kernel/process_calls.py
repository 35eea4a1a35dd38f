"""The one place where a process of the user is called: row by row, timer by timer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from types import GeneratorType
from typing import Any, TypeAlias

from penstock.errors import ModelError, RunError
from penstock.kernel.dead import Failure, failure_of
from penstock.kernel.port import END_OF_TIME
from penstock.kernel.process_context import CallContext
from penstock.kernel.process_handle import Handle, split
from penstock.kernel.process_output import ResultShape, Taker
from penstock.kernel.process_queue import Queue
from penstock.model.process import Punctuation
from penstock.model.processor import Calls, Context, Row, RowCall, Timer, TimerCall

_MILLISECOND = timedelta(milliseconds=1)
Pair: TypeAlias = tuple[Any, int | None]
"""A row or a timer, and its time."""


class Caller:
    """Calls the user's functions for one key after the other, and keeps what they give.

    A call that raises leaves no trace but its failure.
    """

    def __init__(
        self,
        calls: Calls,
        context: CallContext,
        handles: Sequence[Handle],
        shape: ResultShape,
        punctuations: Sequence[Punctuation],
    ) -> None:
        self._process: RowCall = calls.process
        self._on_timer: TimerCall = calls.on_timer or _unheard
        self._punctuate = calls.punctuate
        self._punctuations: Mapping[str, Punctuation] = {
            punctuation_timer(item): item for item in punctuations
        }
        self._context = context
        self._handles = tuple(handles)
        self._plain, self._logged = split(handles)
        self._shape = shape
        self.begin(frozenset())

    def begin(self, checked: frozenset[int]) -> None:
        """Forget the step before; what the keys of these numbers give is looked at at once."""
        self._checked = checked
        self.results: list[Any] = []
        self.failures: list[Failure] = []
        """Their places are the numbers of calls."""
        self.fired: list[int] = []
        """Of each timer fired three numbers: the call, the key and the time."""
        self.standing: dict[str, set[int]] = {}
        """The keys that each punctuation has a timer for."""

    def open(self, number: int) -> None:
        """Turn to a key."""
        self._context.number = number
        for handle in self._handles:
            handle.load(number)

    def close(self) -> None:
        """Keep what the calls left of a key."""
        for handle in self._handles:
            handle.store(self._context.number)

    def take(self, rows: Iterable[Row], times: Iterable[int | None]) -> None:
        """Let the key's rows be processed."""
        self._call(self._process, zip(rows, times, strict=False))

    def take_in_order(self, rows: Iterable[Row], times: Iterable[int | None], queue: Queue) -> None:
        """Let the key's rows be processed, and before each the timers up to its time."""
        self._call(self._process, self._between(rows, times, queue))

    def fire(self, timers: Iterator[Timer], queue: Queue) -> None:
        """Let timers of the key fire, and those that they set and that are due."""
        function: Any = self._dispatch if self._punctuations else self._on_timer
        self._call(function, self._due(timers, queue))

    def ensure_punctuated(self, time: int | None) -> None:
        """Set the timers of punctuations where the key has none, from a row's time on."""
        context = self._context
        for name, item in self._punctuations.items():
            start = context.clock if item.domain == "processing" else time
            if context.number not in self.standing[name] and start is not None:
                context.wishes += (context.number, item.domain, name, _after(start, item))
                self.standing[name].add(context.number)

    def _call(self, function: Any, pairs: Iterable[Pair]) -> None:  # noqa: ANN401
        context, results, take = self._context, self.results, self._shape.take
        plain, logged = self._plain, self._logged
        calls, wishes = context.calls, context.wishes
        checked = context.number in self._checked
        for argument, time in pairs:
            context.time = time
            wished = len(wishes)
            for state in plain:
                state.saved = state.value
            try:
                given = function(argument, context)
                if given is not None:
                    if given.__class__ is GeneratorType:
                        results.extend(map(take, given))
                    else:
                        _add(results, given, take)
                if checked:
                    self._check()
            except Exception as error:  # noqa: BLE001  # whatever the user's code raises
                self._undo(wished, error)
            for log in logged:
                if log.log:
                    log.log.clear()
            calls.append(len(results))

    def _undo(self, wished: int, error: Exception) -> None:
        context = self._context
        call = len(context.calls)
        del self.results[context.calls[-1] if call else 0 :]
        del context.wishes[wished:]
        while context.beside and context.beside[-1][0] == call:
            context.beside.pop()
        for state in self._plain:
            state.value = state.saved
        for log in self._logged:
            log.undo()
        self.failures.append(failure_of(call, error))

    def _check(self) -> None:
        context = self._context
        call = len(context.calls)
        self._shape.check(self.results[context.calls[-1] if call else 0 :])
        for number, side, row in reversed(context.beside):
            if number != call:
                break
            self._shape.check([row], side)
        for handle in self._handles:
            handle.check()

    def _between(
        self, rows: Iterable[Row], times: Iterable[int | None], queue: Queue
    ) -> Iterator[Pair]:
        wishes, standing = self._context.wishes, self.standing
        for row, time in zip(rows, times, strict=False):
            assert time is not None, "a row without a time does not wait for it"
            if queue.next_at <= time:
                self.fire(queue.until(time, clock=False), queue)
            wished = len(wishes)
            if standing:
                self.ensure_punctuated(time)
            yield row, time
            if len(wishes) > wished:
                queue.take_wishes(wishes[wished:], of_row=True)

    def _due(self, timers: Iterator[Timer], queue: Queue) -> Iterator[Pair]:
        context, wishes, calls = self._context, self._context.wishes, self._context.calls
        punctuated, number, fired = bool(self._punctuations), context.number, self.fired
        wished = len(wishes)
        for timer in timers:
            context.by_clock = timer.domain == "processing"
            fired += (len(calls), number, timer.time)
            if queue.stuck:
                self._call_off(timer)
                break
            yield timer, timer.time
            if punctuated and timer.name in self._punctuations:
                self._again(timer)
            if len(wishes) > wished:
                queue.take_wishes(wishes[wished:])
                wished = len(wishes)
        context.by_clock = False

    def _call_off(self, timer: Timer) -> None:
        error = RunError(
            "TIMER_LOOP",
            f"timers of one key set one another again and again for {timer.time} and before",
            hint="Let a timer set the next one for a later time; those still due are dropped.",
        )
        self.failures.append(failure_of(len(self._context.calls), error))
        self._context.calls.append(len(self.results))

    def _again(self, timer: Timer) -> None:
        """Set a punctuation's timer for the next time while there is something to remember."""
        name, context = timer.name or "", self._context
        item = self._punctuations[name]
        if not any(handle.held for handle in self._handles):
            self.standing.get(name, set()).discard(context.number)
            return
        if item.domain == "processing":
            start = context.clock
        elif context.watermark >= END_OF_TIME:
            return
        else:
            start = timer.time
        context.wishes += (context.number, item.domain, timer.name, _after(start, item))

    def _dispatch(self, timer: Timer, context: Context) -> Any:  # noqa: ANN401
        item = self._punctuations.get(timer.name or "")
        if item is None:
            return self._on_timer(timer, context)
        return self._punctuate[item.name](timer, context)


def punctuation_timer(item: Punctuation) -> str:
    """Give the name of the timer that a punctuation is called by."""
    return f"punctuate:{item.name}"


def _after(time: int, item: Punctuation) -> int:
    every = item.every // _MILLISECOND
    return (time // every + 1) * every


def _add(results: list[Any], given: Any, take: Taker) -> None:  # noqa: ANN401
    """Take what a function returned: one row, or several."""
    several = isinstance(given, list | Iterator)
    if several or (isinstance(given, tuple) and not hasattr(given, "_fields")):
        results.extend(map(take, given))
    else:
        results.append(take(given))


def _unheard(timer: Timer, _: Context) -> Any:  # noqa: ANN401
    raise ModelError(
        "TIMER_UNHEARD",
        f"a timer for {timer.time} is due, and the process has no function for timers",
        hint="Write a method on_timer(self, timer, ctx), or give on_timer=... with a function.",
    )

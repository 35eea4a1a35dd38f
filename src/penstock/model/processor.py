"""What a function of the user meets when it is called with a row or a timer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, MutableSequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

Value = TypeVar("Value")
Name = TypeVar("Name")
Domain: TypeAlias = Literal["event", "processing"]
"""Whose time a timer waits for: that of the rows, told by the watermark, or that of the clock."""


class ValueState(Protocol[Value]):
    """One value a key: read it, assign it. None, or `clear`, forgets it."""

    value: Value

    def clear(self) -> None:
        """Forget the value: the next one to read it finds the default."""


class ListState(MutableSequence[Value], Generic[Value]):
    """A list a key."""

    __slots__ = ()


class MapState(MutableMapping[Name, Value], Generic[Name, Value]):
    """A map a key."""

    __slots__ = ()


class Timer(NamedTuple):
    """A timer that has come due: the time it was set for."""

    time: int
    domain: Domain = "event"
    name: str | None = None


class Context(Protocol):
    """Where a call stands: its key, both times, and what it may ask for. Times are ms."""

    time: int
    """The event time of the row, or the time a timer was set for. Results carry it."""
    watermark: int
    """How far event time is: rows before it have come, those that still come are late."""
    clock: int
    """The processing time."""
    weight: int
    """1, or -1 for a row that is taken back."""

    @property
    def key(self) -> Any:  # noqa: ANN401
        """The value of the key's column; a tuple where there are several."""

    @property
    def ended(self) -> bool:
        """Whether the input has ended and the last timers are fired."""

    def set_timer(self, time: int, *, name: str | None = None, domain: Domain = "event") -> None:
        """Ask to be called at a time.

        A timer with a name replaces the one of the same name; others stand beside one another,
        once for each time. When the input has ended, one that a timer sets beyond the last that
        stood is dropped: a chain of them would never end.
        """

    def delete_timer(
        self, time: int | None = None, *, name: str | None = None, domain: Domain = "event"
    ) -> None:
        """Take back the timer of a name, or the one without a name at a time."""

    def side(self, name: str, row: Any) -> None:  # noqa: ANN401
        """Give a row to the side output of a name."""


Row: TypeAlias = dict[str, Any]
RowCall: TypeAlias = Callable[[Row, Context], Any]
TimerCall: TypeAlias = Callable[[Timer, Context], Any]


@dataclass(frozen=True, slots=True)
class Calls:
    """The functions of a user that one operator calls."""

    process: RowCall
    on_timer: TimerCall | None = None
    punctuate: Mapping[str, TimerCall] = field(default_factory=dict)


class RowProcessor(Protocol):
    """What the user gave, not yet bound to a state."""

    def open(self, state: Mapping[str, Any]) -> Calls:
        """Give the functions to call, which find the state of the key at hand in `state`."""


class BatchProcessor(Protocol):
    """A function of the user's for the rows of many keys at once, as tables."""

    def __call__(self, rows: Any, state: Any, /) -> tuple[Any, Any]:  # noqa: ANN401
        """Give the results, and the new state of the keys, one row each."""

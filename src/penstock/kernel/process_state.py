"""What a user's function holds in its hands: the state of the key that is being processed.

A handle is loaded with one key after the other. What a call changed can be undone until it is
kept. Values that cannot change themselves are copied before each call by whoever calls; all
else keeps a log of what it was.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Protocol

from typing_extensions import override

from penstock.kernel.process_column import StateColumn, copied

_MILLISECOND = timedelta(milliseconds=1)


class Moment(Protocol):
    """When a call happens: a row may have no time, and a time of the clock is none of events."""

    time: int | None
    by_clock: bool
    watermark: int


class Plain:
    """A value that cannot change itself and is kept for ever: the fastest to read and write."""

    __slots__ = ("_column", "_default", "_loaded", "saved", "value")

    def __init__(self, column: StateColumn) -> None:
        self._column = column
        self._default = column.field.default
        self.value: Any = None
        self.saved: Any = None
        """What it was before the call: `value` is set to it to undo the call."""
        self._loaded: Any = None

    @property
    def held(self) -> bool:
        """Whether there is anything to remember."""
        return self.value is not None and self.value != self._default

    @property
    def raw(self) -> Any:  # noqa: ANN401
        """What is to be stored."""
        return self.value

    def check(self) -> None:
        """Refuse a value that is not of the declared type."""
        self._column.check(self.value)

    def clear(self) -> None:
        """Forget the value."""
        self.value = self._default

    def load(self, key: int) -> None:
        """Turn to the key of a number."""
        found = self._column.values[key]
        self.value = self._loaded = self._default if found is None else found

    def store(self, key: int) -> None:
        """Keep what the calls for a key left."""
        if self.value is not self._loaded:
            self._column.put(key, self.value, None)


class Logged:
    """A state whose changes are logged, and which may be forgotten after a time."""

    __slots__ = ("_column", "_dirty", "_moment", "_nested", "_ttl", "_written", "log")

    def __init__(self, column: StateColumn, moment: Moment) -> None:
        ttl = column.field.ttl
        self._column = column
        self._moment = moment
        self._nested = column.nested
        self._ttl = None if ttl is None else ttl // _MILLISECOND
        self._written: int | None = None
        self._dirty = False
        self.log: list[Any] = []
        """What undoes the call, last step first; empty where nothing changed."""

    @property
    def held(self) -> bool:
        """Whether there is anything to remember."""
        return bool(self.raw) and not self._expired()

    @property
    def raw(self) -> Any:  # noqa: ANN401
        """What is to be stored."""
        raise NotImplementedError

    def load(self, key: int) -> None:
        """Turn to the key of a number."""
        self._written = self._column.written[key] if self._ttl is not None else None
        self._dirty = False
        self._put(self._column.values[key])

    def store(self, key: int) -> None:
        """Keep what the calls for a key left."""
        if self._dirty:
            self._column.put(key, self.raw, self._written)

    def check(self) -> None:
        """Refuse a value that is not of the declared type."""
        self._column.check(self.raw)

    def undo(self) -> None:
        """Be as before the call."""
        for step in reversed(self.log):
            self._undo(step)
        self.log.clear()

    def _put(self, found: Any) -> None:  # noqa: ANN401
        raise NotImplementedError

    def _undo(self, step: Any) -> None:  # noqa: ANN401
        raise NotImplementedError

    def _now(self) -> int:
        moment = self._moment
        return moment.watermark if moment.by_clock or moment.time is None else moment.time

    def _expired(self) -> bool:
        return (
            self._ttl is not None
            and self._written is not None
            and self._now() >= self._written + self._ttl
        )

    def _write(self) -> int | None:
        """Note a write; give when the one before was."""
        before = self._written
        self._dirty = True
        if self._ttl is not None:
            now = self._now()
            self._written = now if before is None else max(before, now)
        return before


class WatchedValue(Logged):
    """A value that is forgotten after a time, or that may change itself, as a struct does."""

    __slots__ = ("_default", "_value")

    def __init__(self, column: StateColumn, moment: Moment) -> None:
        super().__init__(column, moment)
        self._default = column.field.default
        self._value: Any = None

    @property
    @override
    def raw(self) -> Any:
        return self._value

    @property
    @override
    def held(self) -> bool:
        return self._value is not None and self._value != self._default and not self._expired()

    @property
    def value(self) -> Any:  # noqa: ANN401
        """The value, or the default where there is none any more."""
        if self._value is None or self._expired():
            if not self._nested or self._default is None:
                return self._default
            self.value = copied(self._default)
            return self._value
        if self._nested and not self.log:
            self.log.append((copied(self._value), self._written))
            self._dirty = True
        return self._value

    @value.setter
    def value(self, new: Any) -> None:  # noqa: ANN401
        old, before = self._value, self._written
        if old is not None and self._expired():
            self._written = None
        self._write()
        if not self.log:
            self.log.append((old, before))
        self._value = new

    def clear(self) -> None:
        """Forget the value."""
        self.value = None

    @override
    def _put(self, found: Any) -> None:
        self._value = found

    @override
    def _undo(self, step: Any) -> None:
        self._value, self._written = step

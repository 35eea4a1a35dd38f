"""Where a call of a user's function stands, and what it asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.errors import ModelError, UsageError, did_you_mean
from penstock.kernel.port import END_OF_TIME, START_OF_TIME
from penstock.model.processor import Domain

DOMAINS: tuple[Domain, Domain] = ("event", "processing")
DELETE = "delete "
"""In front of the domain: the timer is to be deleted."""
WISH = 4
"""A wish for a timer is four items in a row: key, domain, name, time."""


class CallContext:
    """One context for all calls of an operator, turned to one row or timer after the other."""

    __slots__ = (
        "_key_list",
        "_keys",
        "_sides",
        "_wish",
        "beside",
        "by_clock",
        "calls",
        "clock",
        "number",
        "time",
        "watermark",
        "weight",
        "wishes",
    )

    def __init__(self, sides: Mapping[str, Callable[[Any], Any]]) -> None:
        self._sides = sides
        self.time: int | None = 0
        self.weight = 1
        self.watermark = START_OF_TIME
        self.clock = 0
        self.by_clock = False
        """Whether `time` is one of the clock."""
        self.number = 0
        """Of the key."""
        self.begin(lambda: (), START_OF_TIME, 0)

    def begin(self, keys: Callable[[], Sequence[Any]], watermark: int, clock: int) -> None:
        """Forget what the calls of the step before asked for."""
        self._keys = keys
        self._key_list: Sequence[Any] | None = None
        self.watermark, self.clock = watermark, clock
        self.wishes: list[Any] = []
        """What was asked of timers: see `WISH`."""
        self._wish = self.wishes.extend
        self.beside: list[tuple[int, str, Any]] = []
        """Rows for side outputs: the number of the call, the side, the row."""
        self.calls: list[int] = []
        """For each call so far, how many results there were after it."""

    @property
    def key(self) -> Any:  # noqa: ANN401
        """The value of the key's column; a tuple where there are several."""
        if self._key_list is None:
            self._key_list = self._keys()
        return self._key_list[self.number]

    @property
    def ended(self) -> bool:
        """Whether the input has ended and the last timers are fired."""
        return self.watermark >= END_OF_TIME

    def set_timer(self, time: int, *, name: str | None = None, domain: Domain = "event") -> None:
        """Ask to be called at a time."""
        if time.__class__ is not int or domain not in DOMAINS:
            raise _refused(time, domain)
        self._wish((self.number, domain, name, time))

    def delete_timer(
        self, time: int | None = None, *, name: str | None = None, domain: Domain = "event"
    ) -> None:
        """Take back the timer of a name, or the one without a name at a time."""
        if (name is None) == (time is None):
            raise UsageError(
                "TIMER_DELETE",
                "a timer is to be deleted by its name or by its time",
                hint='Write delete_timer(name="timeout") or delete_timer(time).',
            )
        if domain not in DOMAINS:
            raise _refused(time, domain)
        self._wish((self.number, DELETE + domain, name, time))

    def side(self, name: str, row: Any) -> None:  # noqa: ANN401
        """Give a row to the side output of a name."""
        take = self._sides.get(name)
        if take is None:
            raise ModelError(
                "SIDE_MISSING",
                f'a row is given to the side output "{name}", which is not declared',
                hint=did_you_mean(name, self._sides) or f"Declare it: sides={{{name!r}: ...}}.",
            )
        self.beside.append((len(self.calls), name, take(row)))


def _refused(time: object, domain: str) -> UsageError:
    if domain not in DOMAINS:
        return UsageError(
            "TIMER_DOMAIN",
            f'a timer is set in the time domain "{domain}"',
            hint='Give domain="event" or domain="processing".',
        )
    return UsageError(
        "TIMER_TIME",
        f"a timer is set for {time!r}",
        hint="Give milliseconds as a whole number, as in ctx.set_timer(ctx.time + 60_000).",
    )

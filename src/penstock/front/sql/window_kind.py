"""WINDOW as a window of the model: its kind, its size and what else it says."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeAlias

from penstock.errors import ModelError, SqlError
from penstock.front.sql.expression import Resolver
from penstock.front.sql.tree import Duration, Name
from penstock.front.sql.tree_expression import Column as ColumnNode
from penstock.front.sql.tree_window import (
    DeltaSize,
    PunctuationSize,
    RowsSize,
    WindowSize,
)
from penstock.front.sql.tree_window import Window as Said
from penstock.model.expr import Column, Expr
from penstock.model.window import (
    Buffered,
    ByCount,
    ByDelta,
    ByPunctuation,
    ByTime,
    Global,
    Hopping,
    Policy,
    Session,
    Sliding,
    Tumbling,
    Window,
)

_NONE = timedelta(0)
_HINT = "Use TUMBLING (SIZE n), HOPPING (SIZE n, ADVANCE BY m) or SESSION (n)."
_Options: TypeAlias = dict[str, object]


def window_of(said: Said, resolver: Resolver) -> Window:
    """Read a window; what its kind has no use for is refused."""
    try:
        return _Reading(said, resolver).window()
    except ModelError as refusal:
        raise SqlError(
            "SQL_WINDOW", resolver.scope.text.shown(refusal.fact, said.span), hint=refusal.hint
        ) from refusal


def has_bounds(window: Window) -> bool:
    """Whether a window has bounds that tell it from others of its key."""
    return isinstance(window, Tumbling | Hopping | Session)


class _Reading:
    def __init__(self, said: Said, resolver: Resolver) -> None:
        self._said = said
        self._resolver = resolver

    def window(self) -> Window:
        kind = self._said.kind
        if kind == "global":
            self._only()
            return Global(self._said.domain)
        if kind == "session":
            self._only("gap", "max_size", "grace", "retention")
            return self._session()
        if self._said.size is None:
            raise self._refused("has no size", _HINT)
        if kind == "tumbling":
            return self._tumbling(self._said.size)
        return self._moving(self._said.size)

    def _tumbling(self, size: WindowSize) -> Window:
        if isinstance(size, Duration):
            self._only("size", "offset", "grace", "retention")
            return Tumbling(self._above_zero(size), self._offset(), self._said.domain)
        self._only("size")
        return Buffered("tumbling", self._policy(size), domain=self._said.domain)

    def _moving(self, size: WindowSize) -> Window:
        """Read a hopping window, or one that slides: over time, or over a buffer."""
        said = self._said
        if said.kind == "hopping" and isinstance(size, Duration):
            self._only("size", "advance", "offset", "grace", "retention")
            return self._hopping(self._above_zero(size))
        if said.kind == "hopping" and said.advance is None:
            raise self._refused("has no ADVANCE BY", "Say by how much it advances.")
        if isinstance(size, Duration) and said.advance is None and not said.full_only:
            self._only("size", "grace")
            return Sliding(self._above_zero(size), said.domain)
        self._only("size", "advance", "full_only")
        fire = None if said.advance is None else self._policy(said.advance)
        partial = not said.full_only
        return Buffered("sliding", self._policy(size), fire, partial, said.domain)

    def _hopping(self, size: timedelta) -> Hopping:
        advance = self._said.advance
        slide = advance.delta if isinstance(advance, Duration) else _NONE
        if not _NONE < slide <= size:
            raise self._refused(f"of {size} advances by {slide}", "At most its size, and above 0.")
        return Hopping(size, slide, self._offset(), self._said.domain)

    def _session(self) -> Session:
        said = self._said
        if said.gap is None:
            raise self._refused("has no gap", _HINT)
        longest = None if said.max_size is None else said.max_size.delta
        if isinstance(said.gap, Duration):
            return Session(self._above_zero(said.gap), longest, domain=said.domain)
        gap = self._resolver.typed(said.gap)
        if gap.type is None or not gap.type.integral:
            raise SqlError(
                "SQL_WINDOW",
                self._resolver.scope.text.shown(
                    "the gap of a session is no whole number", said.gap.span
                ),
                hint="Give milliseconds as INT or BIGINT, or a duration.",
            )
        return Session(gap.expr, longest, domain=said.domain)

    def _policy(self, size: WindowSize) -> Policy:
        match size:
            case RowsSize(count):
                return ByCount(count)
            case DeltaSize(amount, column):
                return ByDelta(self._column(column), float(amount.value))  # type: ignore[union-attr]
            case PunctuationSize(condition):
                return ByPunctuation(self._resolver.condition(condition, "UNTIL").expr)
            case Duration():
                return ByTime(self._above_zero(size))

    def _column(self, name: Name) -> str:
        found: Expr = self._resolver.typed(ColumnNode(name, span=name.span)).expr
        if not isinstance(found, Column):
            raise self._refused(f'measures "{name.text}", which is no column', "Name a column.")
        return found.name

    def _above_zero(self, size: Duration) -> timedelta:
        if size.delta <= _NONE:
            raise self._refused(f"of {size.delta} cannot be", _HINT)
        return size.delta

    def _offset(self) -> timedelta:
        return _NONE if self._said.offset is None else self._said.offset.delta

    def _only(self, *known: str) -> None:
        """Refuse options that this window has no use for."""
        said = self._said
        given: _Options = {
            "size": said.size,
            "advance": said.advance,
            "gap": said.gap,
            "retention": said.retention,
            "grace": said.grace,
            "offset": said.offset,
            "max_size": said.max_size,
            "full_only": said.full_only or None,
        }
        for name, value in given.items():
            if value is not None and name not in known:
                word = _WORDS.get(name, name.upper().replace("_", " "))
                raise self._refused(f"has no {word}", "Leave it out, or use another window.")

    def _refused(self, fact: str, hint: str) -> SqlError:
        said = self._said
        shown = self._resolver.scope.text.shown(f"a {said.kind} window {fact}", said.span)
        return SqlError("SQL_WINDOW", shown, hint=hint)


_WORDS = {"advance": "ADVANCE BY", "grace": "GRACE PERIOD"}

"""WINDOW and EMIT: where results lie, when they are given, and how they relate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from penstock.errors import ModelError, SqlError
from penstock.front.sql.emission_setting import trigger_by_setting
from penstock.front.sql.emitting import Emission, emission_of, is_ksql
from penstock.front.sql.expression import Resolver
from penstock.front.sql.source import ROW_TIME, WINDOW_END, WINDOW_START, KeyWindow
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Span
from penstock.front.sql.tree_emit import Emit
from penstock.front.sql.tree_statement import SourceKind
from penstock.front.sql.tree_window import Window as Said
from penstock.front.sql.window_kind import has_bounds, window_of
from penstock.model import aggregate as model
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call, Cast, Column, Expr, Literal
from penstock.model.measure import Measure
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Named, Project, Restamp
from penstock.model.trigger import AfterWatermark, Trigger
from penstock.model.window import Buffered, Global, Hopping, Session, Window
from penstock.schema.types import INT64

BOUNDS = (WINDOW_START, WINDOW_END)
_DAY = timedelta(days=1)
_MILLISECOND = timedelta(milliseconds=1)
_NONE = timedelta(0)
_LATEST = "_latest"
_NOWHERE = Span(0, 0)
_EACH_PANE = Refinement(empty_on_time=False, empty_final=False, stamp="latest")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a query says of its results, and what it makes of them, where that is known."""

    window: Said | None
    emit: Emit | None
    kind: SourceKind | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """Where results lie, when they come, and how they relate.

    In a window of ksqlDB's a result carries the latest time of its rows, and nothing is said of
    windows without rows; where EMIT gives triggers both are as the refinement says.
    """

    window: Window | None
    trigger: Trigger | None
    refinement: Refinement
    ksql: bool = True
    table: bool = True
    """Whether a newer result takes the place of an older one of its key and window."""
    keys: KeyWindow | None = None
    retention: timedelta | None = None
    waits: timedelta = _NONE
    """How long rows are waited for before a window is complete."""
    place: Span = _NOWHERE

    @property
    def bounds(self) -> tuple[str, ...]:
        """The columns that, with the key, tell results apart."""
        return () if self.keys is None else BOUNDS

    @property
    def retracts(self) -> bool:
        """Whether results are taken back."""
        return self.refinement.mode == "retracting"

    def taken_back(self) -> Placed:
        """Give the same with results that are taken back, for what must know the one before."""
        return replace(self, refinement=replace(self.refinement, mode="retracting"))

    def closing(self) -> Placed:
        """Give the same with results that come once, when a window has closed, by its end."""
        once = Refinement(keep_late=_NONE, empty_on_time=False)
        return replace(
            self, trigger=AfterWatermark(), refinement=once, ksql=False, table=False, waits=_NONE
        )

    def aggregate(
        self, source: Relation, keys: tuple[str, ...], measures: tuple[Measure, ...]
    ) -> Relation:
        """Give the results of each key and window, whose bounds are columns in milliseconds."""
        timed = self.window is not None and (self.ksql or self._ends_by_row)
        latest = Measure(_LATEST, "max", (Column(ROW_TIME),), site="GROUP BY")
        folded = Aggregate(
            source,
            keys,
            (*measures, latest) if timed else measures,
            self.window,
            self.trigger,
            self.refinement,
            site="GROUP BY",
        )
        if self.window is None:
            return folded
        same = [Named(name, Column(name)) for name in keys]
        same += [Named(measure.name, Column(measure.name)) for measure in measures]
        told = [Named(name, Cast(expr, INT64)) for name, expr in self._told_bounds()]
        if not self.ksql:
            return Project(folded, (*same, *told), "WINDOW")
        stamp = Named(ROW_TIME, Column(_LATEST))
        # A result carries the latest time of all of its rows, those behind the watermark too.
        shown: Relation = Restamp(Project(folded, (*same, *told, stamp), "WINDOW"), ROW_TIME)
        if isinstance(self.window, Hopping):
            # Time begins with 1970: no window does before.
            shown = Filter(shown, Call("ge", (Column(WINDOW_START), Literal(0))), "WINDOW")
        return shown

    @property
    def _ends_by_row(self) -> bool:
        """Whether only its rows tell when the last of them was."""
        window = self.window
        if not isinstance(window, Session) or window.domain != "event":
            return False
        return window.max_size is not None or not isinstance(window.gap, timedelta)

    def _told_bounds(self) -> tuple[tuple[str, Expr], ...]:
        """Give the bounds; a session's end is the time of its last row."""
        end: Expr = Call("millis", (Column(model.WINDOW_END),))
        if self._ends_by_row:
            end = Column(_LATEST)
        elif isinstance(self.window, Session) and isinstance(self.window.gap, timedelta):
            end = Call("subtract", (end, Literal(self.window.gap // _MILLISECOND)))
        return ((WINDOW_START, Call("millis", (Column(model.WINDOW_START),))), (WINDOW_END, end))


def placed(asked: Asked, resolver: Resolver, setting: str = "") -> Placed:
    """Read WINDOW and EMIT; `setting` says how often results come where EMIT does not."""
    text = resolver.scope.text
    try:
        if is_ksql(asked.emit) and _of_ksql(asked.window):
            return _ksql(asked, resolver, setting)
        return _said(asked, resolver, setting)
    except ModelError as refusal:
        place = _place(asked)
        raise SqlError("SQL_EMIT", text.shown(refusal.fact, place), hint=refusal.hint) from refusal


def _of_ksql(said: Said | None) -> bool:
    """Whether results of a window are a table as ksqlDB has them."""
    return said is None or said.kind != "sliding"


def _ksql(asked: Asked, resolver: Resolver, setting: str) -> Placed:
    """Read what ksqlDB has too: every update, or the last one of each window."""
    said, text = asked.window, resolver.scope.text
    final = asked.emit is not None and asked.emit.mode == "final"
    trigger = trigger_by_setting(setting, text, _place(asked))
    if said is None:
        if final and asked.emit is not None:
            raise SqlError(
                "SQL_EMIT",
                text.shown("EMIT FINAL is asked for without WINDOW", asked.emit.span),
                hint="Add a window.",
            )
        return Placed(None, trigger, Refinement("accumulating"))
    window = window_of(said, resolver)
    if isinstance(window, Global) and not final:
        return Placed(window, trigger, _EACH_PANE, table=asked.kind != "stream")
    if not has_bounds(window):
        return _said(asked, resolver, setting)
    size = _size(window)
    grace = max(_NONE, _DAY - size) if said.grace is None else said.grace.delta
    if final and said.grace is None:
        grace = _NONE
    session = isinstance(window, Session)
    made = Placed(
        window,
        trigger,
        # A row that comes a gap and the grace after a session's end still belongs to it.
        replace(_EACH_PANE, keep_late=grace + (_MILLISECOND if session else _NONE)),
        keys=_key_window(window),
        retention=_retention(said, size, grace, text),
        place=_place(asked),
    )
    made = made.taken_back() if session else made
    if final:
        # The end comes with grace: nothing is given before, and nothing is taken after.
        last = replace(made.refinement, keep_late=_NONE)
        made = replace(made, trigger=AfterWatermark(), refinement=last, waits=grace)
    return made


def _said(asked: Asked, resolver: Resolver, setting: str) -> Placed:
    """Read what only Penstock has: windows of other kinds, triggers and refinements."""
    said, emit, text = asked.window, asked.emit, resolver.scope.text
    window = None if said is None else window_of(said, resolver)
    if emit is not None and emit.mode == "final":
        raise SqlError(
            "SQL_EMIT",
            text.shown("EMIT FINAL is asked of a window without an end", emit.span),
            hint="Leave it out, or use TUMBLING, HOPPING or SESSION with durations.",
        )
    grace = None if said is None else said.grace
    if emit is None or emit.mode == "changes":
        emission = Emission(None, Refinement(keep_late=None if grace is None else grace.delta))
    else:
        emission = emission_of(emit, grace, resolver)
    trigger = emission.trigger
    if trigger is None and window is None:
        trigger = trigger_by_setting(setting, text, _place(asked))
    _fitting(window, emit, text)
    table = asked.kind == "table"
    waits = emission.refinement.keep_late or _NONE
    made = Placed(
        window,
        trigger,
        emission.refinement,
        ksql=False,
        table=table,
        keys=None if window is None or not has_bounds(window) else _key_window(window),
        retention=None if said is None else _retention(said, _size(window), waits, text),
        place=_place(asked),
    )
    if table and made.refinement.mode == "discarding":
        raise SqlError(
            "SQL_EMIT",
            text.shown("results that tell only what is new are no table", _place(asked)),
            hint="Write CREATE STREAM, or EMIT ACCUMULATING or RETRACTING.",
        )
    # A session that was merged has left: a table must not go on to show it.
    return made.taken_back() if table and isinstance(window, Session) else made


def _fitting(window: Window | None, emit: Emit | None, text: SourceText) -> None:
    """Refuse what has no meaning for a buffer, which gives out its rows by itself."""
    if not isinstance(window, Buffered) or emit is None or is_ksql(emit):
        return
    raise SqlError(
        "SQL_EMIT",
        text.shown("a window of rows decides itself when it gives results, each once", emit.span),
        hint="Leave out EMIT, or write EMIT CHANGES; ADVANCE BY says how often a window is given.",
    )


def _place(asked: Asked) -> Span:
    if asked.emit is not None:
        return asked.emit.span
    return Span(0, 6) if asked.window is None else asked.window.span


def _size(window: Window | None) -> timedelta:
    if isinstance(window, Session):
        return window.gap if isinstance(window.gap, timedelta) else _NONE
    return _NONE if window is None else getattr(window, "size", _NONE)


def _key_window(window: Window) -> KeyWindow:
    if isinstance(window, Session):
        return KeyWindow("session")
    kind = "hopping" if isinstance(window, Hopping) else "tumbling"
    return KeyWindow(kind, _size(window))  # type: ignore[arg-type]


def _retention(said: Said, size: timedelta, grace: timedelta, text: SourceText) -> timedelta | None:
    """Give how long results are kept; not for less long than rows may still change them."""
    if said.retention is None:
        return None
    if said.retention.delta < size + (grace if said.grace is not None else _NONE):
        raise SqlError(
            "SQL_WINDOW",
            text.shown("a window is kept for less than its size and its grace", said.span),
            hint="Give a greater RETENTION.",
        )
    return said.retention.delta

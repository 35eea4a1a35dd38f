"""WINDOW and EMIT: where in time a query's results lie, and when they are given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from penstock.errors import SqlError
from penstock.front.sql.sessions import left_sessions
from penstock.front.sql.source import ROW_TIME, WINDOW_END, WINDOW_START, KeyWindow, WindowKind
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Duration
from penstock.front.sql.tree_emit import Emit
from penstock.front.sql.tree_window import Window as Said
from penstock.model import aggregate as model
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call, Cast, Column, Expr, Literal
from penstock.model.measure import Measure
from penstock.model.refine import Mode, Refinement
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Named, Project, Restamp
from penstock.model.trigger import EACH_ROW, AfterWatermark, Trigger
from penstock.model.window import Hopping, Session, Tumbling, Window
from penstock.schema.types import INT64

_DAY = timedelta(days=1)
_MILLISECOND = timedelta(milliseconds=1)
_NONE = timedelta(0)
_LATEST = "_latest"


@dataclass(frozen=True, slots=True)
class Placed:
    """Where results lie, and when they come."""

    window: Window
    keys: KeyWindow
    keep_late: timedelta
    trigger: Trigger
    gap: timedelta = _NONE
    """By how much a session's end lies behind its last row."""

    def aggregate(
        self, source: Relation, keys: tuple[str, ...], measures: tuple[Measure, ...]
    ) -> Relation:
        """Give the results of each key and window, whose bounds are columns in milliseconds."""
        session = isinstance(self.window, Session)
        latest = Measure(_LATEST, "max", (Column(ROW_TIME),), site="GROUP BY")
        mode: Mode = "retracting" if session else "accumulating"
        refinement = Refinement(
            mode, self.keep_late, empty_on_time=False, empty_final=False, stamp="latest"
        )
        folded = Aggregate(
            source,
            keys,
            (*measures, latest),
            self.window,
            self.trigger,
            refinement,
            site="GROUP BY",
        )
        end = Call("millis", (Column(model.WINDOW_END),))
        if self.gap:
            end = Call("subtract", (end, Literal(self.gap // _MILLISECOND)))
        bounds: tuple[tuple[str, Expr], ...] = (
            (WINDOW_START, Call("millis", (Column(model.WINDOW_START),))),
            (WINDOW_END, end),
        )
        same = [Named(name, Column(name)) for name in keys]
        same += [Named(measure.name, Column(measure.name)) for measure in measures]
        told = [Named(name, Cast(expr, INT64)) for name, expr in bounds]
        timed = Named(ROW_TIME, Column(_LATEST))
        # A result carries the latest time of all of its rows, those behind the watermark too.
        shown: Relation = Restamp(Project(folded, (*same, *told, timed), "WINDOW"), ROW_TIME)
        if isinstance(self.window, Hopping):
            # Time begins with 1970: no window does before.
            shown = Filter(shown, Call("ge", (Column(WINDOW_START), Literal(0))), "WINDOW")
        return left_sessions(shown, keys) if session else shown


def placed(said: Said | None, emit: Emit | None, text: SourceText) -> Placed | None:
    """Read WINDOW and EMIT; none where there is no window."""
    final = emit is not None and emit.mode == "final"
    if emit is not None and emit.mode not in ("changes", "final"):
        raise SqlError("SQL_UNSUPPORTED", text.shown("this EMIT cannot be run here yet", emit.span))
    if said is None:
        if final and emit is not None:
            raise SqlError(
                "SQL_EMIT",
                text.shown("EMIT FINAL is asked for without WINDOW", emit.span),
                hint="Add a window.",
            )
        return None
    window = _window(said, text)
    size = _size(said)
    grace = max(_NONE, _DAY - size) if said.grace is None else said.grace.delta
    if final and said.grace is None:
        grace = _NONE
    kind: WindowKind = said.kind  # type: ignore[assignment]
    session = kind == "session"
    keys = KeyWindow(kind, None if session else size)
    gap = size if session else _NONE
    if final:
        # The end comes with grace: nothing is given before.
        return Placed(window, keys, _NONE, AfterWatermark(), gap)
    # A row that comes a gap and the grace after a session's end still belongs to it.
    late = grace + (_MILLISECOND if session else _NONE)
    return Placed(window, keys, late, EACH_ROW, gap)


def _size(said: Said) -> timedelta:
    found = said.gap if said.kind == "session" else said.size
    return found.delta if isinstance(found, Duration) else _NONE


def _window(said: Said, text: SourceText) -> Window:
    size = _size(said)
    plain = said.offset is None and said.max_size is None and said.domain == "event"
    if size <= _NONE or not plain or said.kind not in ("tumbling", "hopping", "session"):
        raise SqlError(
            "SQL_WINDOW",
            text.shown(f"a {said.kind} window of {size} cannot be", said.span),
            hint="Use TUMBLING (SIZE n), HOPPING (SIZE n, ADVANCE BY m) or SESSION (n).",
        )
    if said.kind == "tumbling":
        return Tumbling(size)
    if said.kind == "session":
        return Session(size)
    slide = said.advance.delta if isinstance(said.advance, Duration) else _NONE
    if not _NONE < slide <= size:
        raise SqlError(
            "SQL_WINDOW",
            text.shown(f"a hopping window advances by {slide}", said.span),
            hint="At most its size.",
        )
    return Hopping(size, slide)

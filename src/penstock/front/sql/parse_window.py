"""From what the grammar gave to WINDOW and EMIT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.errors import SqlError
from penstock.front.sql.parse_branch import (
    branch_at,
    branches,
    duration_in,
    inner,
    integer_in,
    maybe_at,
    name_in,
    span_of,
    token_at,
    word_of,
)
from penstock.front.sql.parse_expression import ExpressionBuilder
from penstock.front.sql.tree import Duration, Name
from penstock.front.sql.tree_emit import (
    AfterDelay,
    AfterRow,
    AfterRows,
    AfterWatermark,
    Always,
    EachBatch,
    EachRow,
    Emit,
    EveryPeriod,
    EveryRows,
    Never,
    Repeat,
    Several,
    Trigger,
    Until,
    WhenClosed,
    WhenComplete,
)
from penstock.front.sql.tree_window import (
    DeltaSize,
    PunctuationSize,
    RowsSize,
    Window,
    WindowKind,
    WindowSize,
)

if TYPE_CHECKING:
    from penstock.front.sql.parse_grammar import Branch

_KINDS: dict[str, WindowKind] = {
    "tumbling": "tumbling",
    "hopping": "hopping",
    "sliding": "sliding",
    "session": "session",
}
_PLAIN: dict[str, Callable[[], Trigger]] = {
    "when_closed": WhenClosed,
    "when_complete": WhenComplete,
    "after_watermark": AfterWatermark,
    "each_batch": EachBatch,
    "always": Always,
    "never": Never,
}


class WindowBuilder(ExpressionBuilder):
    """Makes windows, and what EMIT says."""

    def window_clause(self, branch: Branch) -> Window:
        """Make the window of WINDOW, with its name if it has one."""
        name = maybe_at(branch, 0)
        made = self.window(branch_at(branch, 1))
        named: Name | None = None if name is None else name_in(name)
        return replace(made, name=named, span=span_of(branch))

    def window(self, branch: Branch) -> Window:
        """Make a window of its kind and its options."""
        options = branches(branch)
        kind: WindowKind = "global"
        if branch.data == "window":
            kind = _KINDS[word_of(options.pop(0))]
        return Window(kind, **self._once(options, self._option), span=span_of(branch))

    def _once(
        self, options: list[Branch], made: Callable[[Branch], tuple[str, Any]]
    ) -> dict[str, Any]:
        """Give what options say by name; one that is said twice is refused."""
        found: dict[str, Any] = {}
        for option in options:
            name, value = made(option)
            if name in found:
                raise SqlError(
                    "SQL_CLAUSE",
                    self.source.shown("this is said twice", span_of(option)),
                    hint="Say it once.",
                )
            found[name] = value
        return found

    def _option(self, branch: Branch) -> tuple[str, Any]:
        match branch.data:
            case "size" | "advance":
                return branch.data, self._size(branch_at(branch, 0))
            case "gap":
                return "gap", self._gap(branch_at(branch, 0))
            case "full_only":
                return "full_only", True
            case "by_time":
                return "domain", word_of(branch_at(branch, 0))
            case _:
                return branch.data, self.duration(branch_at(branch, 0))

    def duration(self, branch: Branch) -> Duration:
        """Make a duration."""
        return duration_in(self.source, branch)

    def _gap(self, branch: Branch) -> Any:  # noqa: ANN401  # a duration or an expression
        if branch.data in ("duration", "negative_duration"):
            return self.duration(branch)
        return self.expression(branch)

    def _size(self, branch: Branch) -> WindowSize:
        place = span_of(branch)
        match branch.data:
            case "rows_size":
                return RowsSize(integer_in(self.source, token_at(branch)), span=place)
            case "delta_size":
                amount, column = branches(branch)
                return DeltaSize(self.literal(amount), name_in(column), span=place)
            case "until_size":
                return PunctuationSize(self.expression(branch_at(branch, 0)), span=place)
            case _:
                return self.duration(branch)

    # --- EMIT

    def emit(self, branch: Branch) -> Emit:
        """Make what EMIT says."""
        place = span_of(branch)
        match branch.data:
            case "emit_changes":
                return Emit("changes", span=place)
            case "emit_final":
                return Emit("final", span=place)
            case _:
                options = [part for part in branches(branch) if part.data != "mode"]
                said = self._once(options, self._emit_option)
                mode = inner(branch, "mode")
                if mode is not None:
                    said["mode"] = word_of(mode)
                made = Emit(**said, span=place)
        self._check_closing(made)
        return made

    def _check_closing(self, emit: Emit) -> None:
        """Refuse EARLY and LATE beside a trigger that has no such parts."""
        parts = emit.early is not None or emit.late is not None
        if parts and emit.trigger is not None and not isinstance(emit.trigger, WhenClosed):
            raise SqlError(
                "SQL_CLAUSE",
                self.source.shown("EARLY and LATE belong to WHEN CLOSED", emit.trigger.span),
                hint="Write WHEN CLOSED, or put both together as ANY OF (...).",
            )

    def _emit_option(self, branch: Branch) -> tuple[str, Any]:
        match branch.data:
            case "on_trigger":
                return "trigger", self._trigger(branch_at(branch, 0))
            case "early" | "late":
                return branch.data, self._trigger(branch_at(branch, 0))
            case "keep_late":
                return "keep_late", self.duration(branch_at(branch, 0))
            case "stamped":
                return "stamp", word_of(branch_at(branch, 0))
            case _:
                return branch.data.removeprefix("no_"), not branch.data.startswith("no_")

    def _trigger(self, branch: Branch) -> Trigger:
        if branch.data in _PLAIN:
            return replace(_PLAIN[branch.data](), span=span_of(branch))
        made: Trigger = getattr(self, f"_{branch.data}")(branch)
        return made

    def _triggers(self, branch: Branch) -> tuple[Trigger, ...]:
        return tuple(map(self._trigger, branches(branch_at(branch, 0))))

    def _each_row(self, branch: Branch) -> EachRow:
        condition = maybe_at(branch, 0)
        made = None if condition is None else self.expression(condition)
        return EachRow(made, span=span_of(branch))

    def _after_row(self, branch: Branch) -> AfterRow:
        return AfterRow(self.expression(branch_at(branch, 0)), span=span_of(branch))

    def _every_rows(self, branch: Branch) -> EveryRows:
        return EveryRows(integer_in(self.source, token_at(branch)), span=span_of(branch))

    def _after_rows(self, branch: Branch) -> AfterRows:
        return AfterRows(integer_in(self.source, token_at(branch)), span=span_of(branch))

    def _after_delay(self, branch: Branch) -> AfterDelay:
        return AfterDelay(self.duration(branch_at(branch, 0)), span=span_of(branch))

    def _every_period(self, branch: Branch) -> EveryPeriod:
        period, offset = branch_at(branch, 0), maybe_at(branch, 1)
        origin = None if offset is None else self.duration(offset)
        return EveryPeriod(self.duration(period), origin, span=span_of(branch))

    def _every_event_time(self, branch: Branch) -> EveryPeriod:
        period = self.duration(branch_at(branch, 0))
        return EveryPeriod(period, event_time=True, span=span_of(branch))

    def _repeat(self, branch: Branch) -> Repeat:
        return Repeat(self._trigger(branch_at(branch, 0)), span=span_of(branch))

    def _any_of(self, branch: Branch) -> Several:
        return Several("any", self._triggers(branch), span=span_of(branch))

    def _all_of(self, branch: Branch) -> Several:
        return Several("all", self._triggers(branch), span=span_of(branch))

    def _sequence(self, branch: Branch) -> Several:
        return Several("sequence", self._triggers(branch), span=span_of(branch))

    def _until_trigger(self, branch: Branch) -> Until:
        first, end = map(self._trigger, branches(branch))
        return Until(first, end, span=span_of(branch))

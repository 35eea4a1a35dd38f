"""WINDOW and EMIT as SQL text."""

from __future__ import annotations

from penstock.front.sql.format_expression import (
    format_expression,
    format_literal,
    format_value,
)
from penstock.front.sql.format_name import format_duration, format_name
from penstock.front.sql.tree import Duration
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
    WindowSize,
)

_SEVERAL = {"any": "ANY OF", "all": "ALL OF", "sequence": "SEQUENCE"}


def format_window(window: Window) -> str:
    """Write a window, without the word WINDOW."""
    said = [_sized("SIZE", window.size), _sized("ADVANCE BY", window.advance)]
    if isinstance(window.gap, Duration):
        said.append(format_duration(window.gap))
    elif window.gap is not None:
        said.append(f"GAP {format_value(window.gap)}")
    times = {
        "RETENTION": window.retention,
        "GRACE PERIOD": window.grace,
        "OFFSET": window.offset,
        "MAX SIZE": window.max_size,
    }
    said += [f"{word} {format_duration(time)}" for word, time in times.items() if time is not None]
    said += ["FULL ONLY"] if window.full_only else []
    said += [] if window.domain == "event" else [f"BY {window.domain.upper()} TIME"]
    options = ", ".join(filter(None, said))
    name = "" if window.name is None else f"{format_name(window.name)} "
    return f"{name}{window.kind.upper()}{f' ({options})' if options else ''}"


def _sized(word: str, size: WindowSize | None) -> str:
    match size:
        case None:
            return ""
        case Duration():
            return f"{word} {format_duration(size)}"
        case RowsSize(count):
            return f"{word} {count} ROWS"
        case DeltaSize(amount, column):
            return f"{word} {format_literal(amount)} OF {format_name(column)}"
        case PunctuationSize(condition):
            return f"{word} UNTIL {format_expression(condition)}"


def format_emit(emit: Emit) -> str:
    """Write what EMIT says, with the word."""
    options = [] if emit.trigger is None else [_trigger(emit.trigger)]
    options += [] if emit.early is None else [f"EARLY {_trigger(emit.early)}"]
    options += [] if emit.late is None else [f"LATE {_trigger(emit.late)}"]
    options += [] if emit.keep_late is None else [f"KEEP LATE {format_duration(emit.keep_late)}"]
    options += [] if emit.stamp is None else [f"STAMP {emit.stamp.upper()}"]
    options += _switched(emit.empty_on_time, "EMPTY ON TIME")
    options += _switched(emit.empty_final, "EMPTY FINAL")
    words = ["EMIT"] if emit.mode is None else ["EMIT", emit.mode.upper()]
    return " ".join([*words, *filter(None, [", ".join(options)])])


def _switched(said: bool | None, words: str) -> list[str]:  # noqa: FBT001  # what the tree holds
    if said is None:
        return []
    return [words if said else f"NO {words}"]


def _trigger(trigger: Trigger) -> str:
    match trigger:
        case WhenClosed() | WhenComplete() | AfterWatermark() | EachBatch() | Always() | Never():
            return _PLAIN[type(trigger)]
        case Repeat(inner):
            return f"REPEAT ({_trigger(inner)})"
        case Several(how, parts):
            return f"{_SEVERAL[how]} ({', '.join(map(_trigger, parts))})"
        case Until(inner, end):
            last = f"({_trigger(end)})" if isinstance(end, Until) else _trigger(end)
            return f"{_trigger(inner)} UNTIL {last}"
        case _:
            return _measured(trigger)


def _measured(
    trigger: EachRow | AfterRow | EveryRows | AfterRows | EveryPeriod | AfterDelay,
) -> str:
    match trigger:
        case EachRow(condition):
            where = "" if condition is None else f" WHERE {format_expression(condition)}"
            return f"EACH ROW{where}"
        case AfterRow(condition):
            return f"AFTER ROW WHERE {format_expression(condition)}"
        case EveryRows(count):
            return f"EVERY {count} ROWS"
        case AfterRows(count):
            return f"AFTER {count} ROWS"
        case EveryPeriod(period, offset, event_time):
            begin = "" if offset is None else f" OFFSET {format_duration(offset)}"
            return f"EVERY {format_duration(period)}{begin}{' OF EVENT TIME' if event_time else ''}"
        case AfterDelay(delay):
            return f"AFTER {format_duration(delay)}"


_PLAIN: dict[type, str] = {
    WhenClosed: "WHEN CLOSED",
    WhenComplete: "WHEN COMPLETE",
    AfterWatermark: "AFTER WATERMARK",
    EachBatch: "EACH BATCH",
    Always: "ALWAYS",
    Never: "NEVER",
}

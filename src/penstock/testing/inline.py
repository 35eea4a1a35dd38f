"""Programs described in a transcript: streams, and what is computed of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeAlias, cast, get_args

from penstock.errors import UsageError, did_you_mean
from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.duration import duration_of
from penstock.model.expr import Column
from penstock.model.measure import Function, Measure
from penstock.model.plan import Plan, Sink
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Union
from penstock.model.top_n import TopN
from penstock.model.trigger import (
    DEFAULT,
    EACH_ROW,
    AfterDelay,
    AfterEventTime,
    AfterRows,
    AfterWatermark,
    AllOf,
    Always,
    AnyOf,
    Never,
    Repeat,
    Sequence,
    Trigger,
    Until,
    WhenClosed,
)
from penstock.model.watermark import BoundedDisorder, Perfect, Punctuated, Watermark
from penstock.model.window import Global, Hopping, Session, Sliding, Tumbling, Window
from penstock.schema.schema import Field, Schema
from penstock.schema.text import parse_type

Described: TypeAlias = Mapping[str, Any]

_MEASURE = re.compile(r"(\w+)(?:\((\w*)\))?")


def inline_plan(name: str, described: Described, site: str) -> Plan:
    """Make the program that a transcript describes; `site` is where it is written."""
    known: dict[str, Relation] = {}
    for topic, stream in _part(described, "streams", site).items():
        known[topic] = _stream(topic, stream, site)
    sinks = []
    for topic, output in _part(described, "outputs", site).items():
        known[topic] = _relation(output, known, site)
        sinks.append(Sink(known[topic], topic, site=site))
    return Plan(name, tuple(sinks))


def _stream(topic: str, described: Described, site: str) -> Stream:
    columns = _part(described, "columns", site)
    fields = tuple(Field(name, parse_type(kind)) for name, kind in columns.items())
    return Stream(
        topic,
        Schema(fields),
        described.get("event_time"),
        _watermark(described),
        changelog=bool(described.get("changelog", False)),
        site=site,
    )


def _watermark(described: Described) -> Watermark:
    given = described.get("watermark", {})
    common = {name: _span(described[name]) for name in ("idle", "max_ahead") if name in described}
    if given == "perfect":
        return Perfect(**common)
    if "punctuated" in given:
        return Punctuated(given["punctuated"], **common)  # type: ignore[arg-type]
    return BoundedDisorder(_span(given.get("delay", "0")) or timedelta(0), **common)


def _relation(described: Described, known: Mapping[str, Relation], site: str) -> Relation:
    source = _source(described, known, site)
    match described:
        case {"dedup": {"keys": keys, **rest}}:
            return Dedup(source, tuple(keys), _span(rest.get("within")), site=site)
        case {"top_n": {"keys": keys, "by": by, "n": n, **rest}}:
            return TopN(source, tuple(keys), by, n, bool(rest.get("descending", True)), site=site)
        case {"measures": measures}:
            return Aggregate(
                source,
                tuple(described.get("group_by", ())),
                tuple(_measure(name, text, site) for name, text in measures.items()),
                _window(described.get("window"), site),
                _trigger(described["trigger"], site) if "trigger" in described else None,
                _refinement(described.get("refine", "accumulating")),
                panes=bool(described.get("panes", False)),
                site=site,
            )
        case _:
            return source


def _source(described: Described, known: Mapping[str, Relation], site: str) -> Relation:
    names = _part(described, "from", site)
    names = [names] if isinstance(names, str) else names
    for name in names:
        if name not in known:
            raise _refused(f'"{name}" is neither a stream nor an output above', site, name, known)
    found = tuple(known[name] for name in names)
    return found[0] if len(found) == 1 else Union(found, site=site)


def _measure(name: str, given: str | Described, site: str) -> Measure:
    text = given if isinstance(given, str) else str(given.get("measure", ""))
    found = _MEASURE.fullmatch(text)
    functions = get_args(Function)
    if not found or found[1] not in functions:
        raise _refused(f'measure "{text}" is not written as sum(column)', site, text, functions)
    settings = () if isinstance(given, str) else tuple(given.items())
    return Measure(
        name,
        cast("Function", found[1]),
        (Column(found[2]),) if found[2] else (),
        tuple(item for item in settings if item[0] != "measure"),
        site=site,
    )


def _window(given: str | Described | None, site: str) -> Window | None:
    if given is None:
        return None
    name, value = _single(given, site)
    makers: dict[str, Callable[..., Window]] = {
        "tumbling": Tumbling,
        "hopping": Hopping,
        "sliding": Sliding,
        "session": Session,
        "global": Global,
    }
    if name not in makers:
        raise _refused(f'window "{name}" does not exist', site, name, makers)
    first = {"session": "gap"}.get(name, "size")
    parts = value if isinstance(value, Mapping) else {} if value is None else {first: value}
    plain = ("domain", "touching")
    return makers[name](**{k: v if k in plain else _span(v) for k, v in parts.items()})


def _trigger(given: str | Described, site: str) -> Trigger:
    name, value = _single(given, site)

    def inner(part: str | Described | None) -> Trigger | None:
        return None if part is None else _trigger(part, site)

    def several() -> tuple[Trigger, ...]:
        return tuple(_trigger(part, site) for part in value)

    makers: dict[str, Callable[[], Trigger]] = {
        "after_delay": lambda: _delay(value),
        "after_event_time": lambda: AfterEventTime(_known_span(value)),
        "after_rows": lambda: AfterRows(int(value)),
        "after_watermark": AfterWatermark,
        "all": lambda: AllOf(several()),
        "always": Always,
        "any": lambda: AnyOf(several()),
        "default": lambda: DEFAULT,
        "each_row": lambda: EACH_ROW,
        "every": lambda: Repeat(_delay(value)),
        "never": Never,
        "repeat": lambda: Repeat(_trigger(value, site)),
        "sequence": lambda: Sequence(several()),
        "until": lambda: Until(*several()),
        "when_closed": lambda: WhenClosed(
            inner((value or {}).get("early")), inner((value or {}).get("late"))
        ),
    }
    if name not in makers:
        raise _refused(f'trigger "{name}" does not exist', site, name, makers)
    return makers[name]()


def _delay(value: str | Described) -> AfterDelay:
    if not isinstance(value, Mapping):
        return AfterDelay(_known_span(value))
    return AfterDelay(**{name: _known_span(part) for name, part in value.items()})


def _refinement(given: str | Described) -> Refinement:
    if isinstance(given, str):
        return Refinement(mode=cast("Any", given))
    spans = {"keep_late": _span(given["keep_late"])} if "keep_late" in given else {}
    return Refinement(**{**given, **spans})


def _single(given: str | Described, site: str) -> tuple[str, Any]:
    if isinstance(given, str):
        return given, None
    if len(given) != 1:
        raise _refused(f"{dict(given)} should have one name", site, "", ())
    return next(iter(given.items()))


def _part(described: Described, name: str, site: str) -> Any:  # noqa: ANN401
    if not isinstance(described, Mapping) or name not in described:
        raise _refused(f'"{name}" is missing', site, "", ())
    return described[name]


def _span(value: object) -> timedelta | None:
    return None if value in (None, "none") else _known_span(value)


def _known_span(value: object) -> timedelta:
    return timedelta(milliseconds=value) if isinstance(value, int) else duration_of(str(value))


def _refused(fact: str, site: str, name: str, known: Any) -> UsageError:  # noqa: ANN401
    return UsageError(
        "TRANSCRIPT_PROGRAM",
        f"in the program of a transcript, {fact} ({site})",
        hint=did_you_mean(name, known) or "docs/testing.md shows how programs are described.",
    )

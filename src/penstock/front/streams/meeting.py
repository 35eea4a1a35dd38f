"""Records that must meet others with the same key: aggregates and joins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from penstock.errors import ModelError
from penstock.front.streams.node import (
    Aggregated,
    Codec,
    Count,
    Flow,
    Fold,
    Frames,
    Joined,
    Joiner,
    Repartitioned,
    What,
    windowed,
)
from penstock.front.streams.program import Program
from penstock.front.streams.serde import Serde, Serdes
from penstock.model.duration import Duration, duration_of
from penstock.model.join import How
from penstock.model.join_bound import AsOf, Bound, Interval, Whole
from penstock.model.site import user_site
from penstock.model.window import Session, Window

Within: TypeAlias = Duration | tuple[Duration, Duration]
"""How far apart records may be, or how far before and after the left one the right one may lie."""


@dataclass(frozen=True, slots=True)
class Group:
    """Records to be aggregated by key, the serdes they have, and where in event time."""

    program: Program
    flow: Flow
    codec: Codec
    frames: Frames | None = None


def frames_of(window: Window | None, grace: Duration | None) -> Frames | None:
    """Give where in event time records are aggregated; a grace without a window is refused."""
    if window is None:
        if grace is not None:
            raise ModelError(
                "REFINE_WINDOW",
                f"late records are to be waited for, and there is no window ({user_site()})",
                hint="Add a window, or leave out grace.",
            )
        return None
    if not isinstance(window, Window):
        raise ModelError(
            "STEP_ARGUMENT",
            f"a window is given as {window!r} ({user_site()})",
            hint='Give a value such as penstock.tumbling("1 minute").',
        )
    return Frames(window, timedelta(0) if grace is None else duration_of(grace))


def aggregated(group: Group, what: What, store: str | None, values: Serde | None) -> Flow:
    """Give the table of an aggregate; with a `store` it can be asked by that name."""
    program, taken, frames = group.program, group.codec, group.frames
    if isinstance(what, Fold) and what.merger is None and _merges(frames):
        raise ModelError(
            "STREAMS_MERGER",
            f"sessions are to be merged, and the aggregate cannot be ({user_site()})",
            hint="Give aggregate(..., merger=lambda one, other: ...).",
        )
    kind = type(what).__name__.lower()
    name = program.name(kind) if store is None else program.claim(store)
    result = taken.changed(values=Serdes.long() if isinstance(what, Count) else values)
    codec = result if frames is None else windowed(result)
    flow = together(group.flow, name, taken)
    node = Aggregated(flow, what, name, taken, codec, frames, user_site())
    if store is not None:
        program.tables.append(node)
    return Flow(node, codec, changelog=True)


def stream_join(program: Program, flows: tuple[Flow, Flow], words: tuple[How, Joiner]) -> Flow:
    """Give what a stream finds in a table, or, with `within`, in another stream."""
    left, right = flows
    how, joiner = words
    name = program.name("join")
    met = together(left, f"{name}-left", left.codec)
    return Flow(Joined(met, right, how, AsOf(), joiner, user_site()), met.codec)


def interval_join(
    program: Program, flows: tuple[Flow, Flow], words: tuple[How, Joiner], within: Within
) -> Flow:
    """Give the pairs of records of two streams that are not too far apart."""
    how, joiner = words
    name = program.name("join")
    left, right = (
        together(flow, f"{name}-{side}", flow.codec)
        for flow, side in zip(flows, ("left", "right"), strict=True)
    )
    return Flow(Joined(left, right, how, _interval(within), joiner, user_site()), left.codec)


def table_join(flows: tuple[Flow, Flow], words: tuple[How, Joiner]) -> Flow:
    """Give the table of two tables with the same keys."""
    left, right = flows
    node = Joined(left, right, words[0], Whole(), words[1], user_site())
    return Flow(node, left.codec, changelog=True)


def together(flow: Flow, name: str, codec: Codec) -> Flow:
    """Let records with equal keys meet: through a topic, where their key may have changed."""
    if not flow.rekeyed:
        return flow
    return Flow(Repartitioned(flow, name, codec, user_site()), codec)


def _merges(frames: Frames | None) -> bool:
    return frames is not None and isinstance(frames.window, Session)


def _interval(within: Within) -> Bound:
    before, after = within if isinstance(within, tuple) else (within, within)
    return Interval(duration_of(before), duration_of(after))

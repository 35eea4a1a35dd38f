"""Whether the answers of an aggregate, where, when and how, fit its input and one another."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from penstock.errors import ModelError
from penstock.model.condition import require_condition
from penstock.model.parts import triggers_in
from penstock.model.signature import expr_type
from penstock.model.trigger import (
    AfterEventTime,
    AfterRow,
    AfterWatermark,
    Trigger,
    WhenClosed,
    WhenWatermark,
)
from penstock.model.window import (
    Buffered,
    ByDelta,
    ByPunctuation,
    Policy,
    Session,
    Sliding,
    Window,
)
from penstock.schema.schema import Schema
from penstock.schema.types import Kind


def check_window(window: Window | None, schema: Schema, *, retracts: bool, site: str) -> None:
    """Refuse a window that needs columns which the rows do not have, or keeps no changelog."""
    if isinstance(window, Session) and not isinstance(window.gap, timedelta):
        found = expr_type(window.gap, schema, site)
        if not found.integral:
            raise ModelError(
                "WINDOW_GAP",
                f"the gap of a session window is of type {found} ({site})",
                hint="Give a duration, or an expression in whole milliseconds.",
            )
    if isinstance(window, Buffered):
        if retracts:
            raise ModelError(
                "WINDOW_CHANGELOG",
                f"a buffer by count, delta or punctuation cannot take rows back ({site})",
                hint="Use a time window, or aggregate before the results are refined.",
            )
        for policy in _policies(window):
            _check_policy(policy, schema, site)


def check_trigger(
    trigger: Trigger | None, window: Window | None, schema: Schema, site: str
) -> None:
    """Refuse a trigger that the window never asks, or that waits for what never comes."""
    if trigger is None:
        return
    if isinstance(window, (Buffered, Sliding)):
        raise ModelError(
            "TRIGGER_WINDOW",
            f"a {_called(window)} window decides itself when it gives results ({site})",
            hint="Leave out the trigger; `fire` of `buffered_window` says when a buffer fires.",
        )
    for part in triggers_in(trigger):
        if window is None and isinstance(part, _NEED_END):
            raise ModelError(
                "TRIGGER_WINDOW",
                f"a trigger waits for the end of a window, and there is none ({site})",
                hint="Add .window(...), or use a trigger by rows or by the clock.",
            )
        if isinstance(part, AfterRow):
            require_condition(part.condition, schema, site)


_NEED_END = (AfterWatermark, AfterEventTime, WhenClosed, WhenWatermark)


def _policies(window: Buffered) -> Iterator[Policy]:
    yield window.evict
    if window.fire is not None:
        yield window.fire


def _check_policy(policy: Policy, schema: Schema, site: str) -> None:
    if isinstance(policy, ByPunctuation):
        require_condition(policy.condition, schema, site)
    if isinstance(policy, ByDelta):
        found = schema.field(policy.column, role="delta column", site=site).type
        if not found.numeric and found.kind is not Kind.TIMESTAMP:
            raise ModelError(
                "WINDOW_DELTA",
                f'delta column "{policy.column}" is of type {found} ({site})',
                hint="It must be a number, or a timestamp (then the size is in milliseconds).",
            )


def _called(window: Buffered | Sliding) -> str:
    return "sliding" if isinstance(window, Sliding) else f"buffered {window.kind}"

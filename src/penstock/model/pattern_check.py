"""Patterns that contradict themselves are refused where they are written."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.errors import ModelError, did_you_mean
from penstock.model.expr import Expr
from penstock.model.navigation import Navigation, navigations_in
from penstock.model.pattern_part import (
    Absent,
    Gap,
    InOrder,
    OneOf,
    Part,
    PatternStep,
    Times,
    denied_in,
    may_be_empty,
    parts_in,
    size_of,
    steps_in,
    until_in,
)

_MOST_PLACES = 1_000
_MOST_CONDITIONS = 60


def check_parts(body: Part, *, bounded: bool) -> None:
    """Refuse a pattern that cannot match, always matches, or has no meaning."""
    _check_names(body)
    _check_times(body)
    _check_gaps(body)
    _check_absent(body, bounded=bounded)
    _check_size(body)
    if may_be_empty(body):
        raise ModelError(
            "PATTERN_EMPTY",
            "the pattern matches where there is no row",
            hint="Let one step at least be there once: one_or_more() instead of zero_or_more().",
        )
    names = tuple(step.name for step in steps_in(body))
    for step in (*steps_in(body), *denied_in(body)):
        if step.condition is not None:
            _check_condition(step.condition, (*names, step.name), step.site)
    for until in until_in(body):
        _check_condition(until, names, "")


def check_reach(navigations: Iterable[Navigation], names: tuple[str, ...], site: str) -> None:
    """Refuse to ask for rows of steps that are not there, or that come later."""
    for navigation in navigations:
        for name in navigation.steps:
            if name not in names:
                raise ModelError(
                    "PATTERN_STEP_MISSING",
                    f'the pattern has no step "{name}"{_at(site)}',
                    hint=did_you_mean(name, names) or f"Its steps: {', '.join(names)}.",
                )
        if navigation.offset < 0 or navigation.back < 0:
            raise ModelError(
                "PATTERN_REACH",
                f"{navigation.function} is asked for a row that comes later{_at(site)}",
                hint="Count rows from 0 on: those that come later are not known yet.",
            )


def _check_condition(condition: Expr, names: tuple[str, ...], site: str) -> None:
    navigations = tuple(navigations_in(condition))
    check_reach(navigations, names, site)
    for navigation in navigations:
        if navigation.final or navigation.function in ("classifier", "match_number"):
            raise ModelError(
                "PATTERN_REACH",
                f"a condition asks for {navigation.function} of a whole match{_at(site)}",
                hint="Ask for rows matched so far, or use it in emit=.",
            )


def _check_names(body: Part) -> None:
    known: dict[str, PatternStep] = {}
    for step in (*(p for p in parts_in(body) if isinstance(p, PatternStep)), *denied_in(body)):
        if not step.name.isidentifier():
            raise ModelError(
                "PATTERN_STEP_NAME",
                f'a step is called "{step.name}"{_at(step.site)}',
                hint="Use letters, digits and underscores, a letter first.",
            )
        if known.setdefault(step.name, step) != step:
            raise ModelError(
                "PATTERN_STEP_TWICE",
                f'step "{step.name}" has two conditions{_at(step.site)}',
                hint="Give one of them another name.",
            )


def _check_times(body: Part) -> None:
    for part in parts_in(body):
        if isinstance(part, OneOf | InOrder) and not part.parts:
            raise ModelError(
                "PATTERN_EMPTY", "a group of the pattern has no part", hint="Give it a step."
            )
        if not isinstance(part, Times):
            continue
        least, most = part.least, part.most
        if least < 0 or (most is not None and most < max(1, least)):
            raise ModelError(
                "PATTERN_TIMES",
                f"a part is to come {least} to {'any' if most is None else most} times",
                hint="Give a number from 0, and a greater one up to which it may come.",
            )


def _check_gaps(body: Part) -> None:
    for part in parts_in(body):
        inside = part.parts if isinstance(part, InOrder) else ()
        alone = isinstance(part, OneOf) and any(isinstance(item, Gap) for item in part.parts)
        if alone or isinstance(body, Gap) or any(isinstance(p, Gap) for p in _ends(inside)):
            raise ModelError(
                "PATTERN_ORDER",
                "rows are to be left out at the edge of a part",
                hint="Put followed_by between two steps.",
            )


def _ends(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return (parts[0], parts[-1]) if parts else ()


def _check_absent(body: Part, *, bounded: bool) -> None:
    """Let steps that do not come stand at the very end only, and only before an end."""
    rest = _without_end(body)
    misplaced = any(isinstance(part, Absent) for item in rest for part in parts_in(item))
    if misplaced:
        raise ModelError(
            "PATTERN_NEGATION",
            "not_followed_by stands before a part that follows directly, or inside of another",
            hint="Go on with followed_by, or let it be the last of the whole pattern.",
        )
    if not bounded and any(isinstance(part, Absent) for part in parts_in(body)):
        raise ModelError(
            "PATTERN_NEGATION",
            "the pattern ends with not_followed_by, and its time has no end",
            hint='Add .within("10 minutes"): only then it is known that nothing followed.',
        )


def _without_end(body: Part) -> tuple[Part, ...]:
    if not isinstance(body, InOrder):
        return (body,)
    parts = list(body.parts)
    while len(parts) > 1 and isinstance(parts[-1], Absent):
        parts.pop()
    if len(parts) < len(body.parts) or not isinstance(parts[-1], InOrder):
        return tuple(parts)
    return (*parts[:-1], *_without_end(parts[-1]))


def _check_size(body: Part) -> None:
    places = size_of(body)
    conditions = {step.condition for step in (*steps_in(body), *denied_in(body))}
    count = len(conditions | set(until_in(body)))
    if places > _MOST_PLACES or count > _MOST_CONDITIONS:
        raise ModelError(
            "PATTERN_SIZE",
            f"the pattern has {places} places for rows and {count} conditions",
            hint=f"At most {_MOST_PLACES} and {_MOST_CONDITIONS}: repeat less, or aggregate first.",
        )


def _at(site: str) -> str:
    return f" ({site})" if site else ""

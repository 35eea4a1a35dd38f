"""Processes: a function of the user that is called with every row and every timer of a key.

```python
class Absence(ps.Processor[Alert]):
    seen = ps.value_state(int, default=0)

    def process(self, row, ctx):
        self.seen.value += 1
        ctx.set_timer(ctx.time + 60_000, name="absent")

    def on_timer(self, timer, ctx):
        yield {"user": ctx.key, "visits": self.seen.value}


visits.group_by("user").process(Absence)
```
"""

from __future__ import annotations

import copy
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import isclass
from types import SimpleNamespace
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from penstock.errors import ModelError, did_you_mean
from penstock.front.dsl.states import Declared, state_fields
from penstock.model.duration import Duration, duration_of
from penstock.model.expr import Call, Column, Literal
from penstock.model.process import SIDE, Process, Punctuation, Side
from penstock.model.processor import BatchProcessor, Calls, Context, Domain, Row, Timer
from penstock.model.relation import Relation
from penstock.model.site import user_site
from penstock.model.stateless import Filter, Named, Project
from penstock.schema.annotation import SchemaLike, result_of, schema_of
from penstock.schema.schema import Schema

Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])
StateLike: TypeAlias = object
"""What `value_state`, `list_state` and `map_state` give, or the type of a value."""
RowFunction: TypeAlias = Callable[[Row, Any, Context], Any]
TimerFunction: TypeAlias = Callable[[Timer, Any, Context], Any]
_PUNCTUATION = "_penstock_punctuation"


class Processor(Generic[Result]):
    """What is done with the rows of one key, one after the other.

    States declared in the class are those of the key at hand. What it remembers elsewhere does
    not survive a restart, and is shared by all keys of a task.
    """

    changelog: ClassVar[bool] = False
    """Whether it heeds `ctx.weight`, and so can read rows that are taken back."""
    in_order: ClassVar[bool] = False
    """Whether rows wait for the watermark, to come in the order of their times."""

    def process(self, row: Row, ctx: Context) -> Any:  # noqa: ANN401
        """Take one row: give no result, one, or several, or yield them.

        A result is a dictionary or an object with the columns of the schema.
        """
        raise NotImplementedError

    def on_timer(self, timer: Timer, ctx: Context) -> Any:  # noqa: ANN401, ARG002
        """Take a timer that has come due; results as of `process`."""
        raise ModelError(
            "TIMER_UNHEARD",
            f"a timer for {timer.time} is due, and {type(self).__name__} has no on_timer",
            hint="Write a method on_timer(self, timer, ctx).",
        )


def punctuate(*, every: Duration, domain: Domain = "event") -> Callable[[Function], Function]:
    """Let a method be called again and again for each key that remembers something.

    It is called as `on_timer` is: by event time at each multiple of `every`, or by the clock.
    """
    asked = (duration_of(every), domain)

    def marked(function: Function) -> Function:
        vars(function)[_PUNCTUATION] = asked
        return function

    return marked


@dataclass(frozen=True, slots=True)
class OfClass:
    """A processor that is an object of a user's class."""

    user: Processor[Any]

    def open(self, state: Mapping[str, Any]) -> Calls:
        """Bind a copy of the object to states."""
        own = copy.copy(self.user)
        vars(own).update(state)
        names = [item.name for item in punctuations_of(type(own))]
        return Calls(own.process, own.on_timer, {name: getattr(own, name) for name in names})


@dataclass(frozen=True, slots=True)
class OfFunctions:
    """A processor that is a function of a row, and perhaps another of timers."""

    function: RowFunction
    on_timer: TimerFunction | None = None

    def open(self, state: Mapping[str, Any]) -> Calls:
        """Bind the functions to states."""
        held = SimpleNamespace(**state)
        function, on_timer = self.function, self.on_timer
        timed = None if on_timer is None else lambda timer, ctx: on_timer(timer, held, ctx)
        return Calls(lambda row, ctx: function(row, held, ctx), timed)


ProcessorLike: TypeAlias = type[Processor[Any]] | Processor[Any] | RowFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessWords:
    """What a user says of a process beside its function."""

    schema: SchemaLike | None = None
    sides: Mapping[str, SchemaLike] = field(default_factory=dict)
    state: Mapping[str, StateLike] = field(default_factory=dict)
    on_timer: TimerFunction | None = None
    in_order: bool | None = None
    changelog: bool | None = None
    name: str | None = None


def process_of(
    source: Relation, keys: tuple[str, ...], given: ProcessorLike, words: ProcessWords
) -> Process:
    """Give the step that a class, an object or a function of the user stands for."""
    sides = tuple(Side(name, schema_of(schema)) for name, schema in words.sides.items())
    if isclass(given) or isinstance(given, Processor):
        return _of_class(source, keys, _instance(given), words, sides)
    if not callable(given):
        raise ModelError(
            "PROCESS_FORM",
            f"{given!r} is given to be called with rows",
            hint="Give a subclass of Processor, an object of it, or function(row, state, ctx).",
        )
    name = words.name or getattr(given, "__name__", type(given).__name__).strip("<>")
    return Process(
        source,
        keys,
        name,
        OfFunctions(given, words.on_timer),
        _gives(words.schema, given, name),
        state_fields(dict(words.state)),
        sides=sides,
        in_order=bool(words.in_order),
        changelog=bool(words.changelog),
        site=user_site(),
    )


def batch_process_of(
    source: Relation, keys: tuple[str, ...], given: BatchProcessor, words: ProcessWords
) -> Process:
    """Give the step that a function of tables stands for."""
    name = words.name or getattr(given, "__name__", type(given).__name__).strip("<>")
    return Process(
        source,
        keys,
        name,
        given,
        _gives(words.schema, given, name),
        state_fields(dict(words.state)),
        vectorised=True,
        changelog=bool(words.changelog),
        site=user_site(),
    )


def main_output(step: Process) -> Relation:
    """Give the results of a process that are not beside it."""
    if not step.sides:
        return step
    return _output(step, "", {name: name for name in step.gives.names})


def side_output(step: Process, name: str) -> Relation:
    """Give the results of a process for one of its side outputs."""
    for side in step.sides:
        if side.name == name:
            names = side.schema.names
            return _output(step, name, {column: side.column(column) for column in names})
    known = [side.name for side in step.sides]
    raise ModelError(
        "SIDE_MISSING",
        f'process "{step.name}" has no side output "{name}"',
        hint=did_you_mean(name, known) or f"Declare it: sides={{{name!r}: ...}}.",
    )


def punctuations_of(kind: type) -> tuple[Punctuation, ...]:
    """Give the methods of a class that are called again and again."""
    found = ((name, getattr(getattr(kind, name), _PUNCTUATION, None)) for name in dir(kind))
    return tuple(Punctuation(name, *asked) for name, asked in found if asked is not None)


def _of_class(
    source: Relation,
    keys: tuple[str, ...],
    user: Processor[Any],
    words: ProcessWords,
    sides: tuple[Side, ...],
) -> Process:
    kind = type(user)
    if words.state or words.on_timer is not None:
        raise ModelError(
            "PROCESS_FORM",
            f"{kind.__name__} is a class, and state or on_timer is given beside it",
            hint="Declare its states in the class, and write a method on_timer.",
        )
    name = words.name or kind.__name__
    said = words.schema if words.schema is not None else _said_of(kind)
    return Process(
        source,
        keys,
        name,
        OfClass(user),
        _gives(said, kind.process, name),
        state_fields(dict(_declared(kind))),
        sides=sides,
        punctuations=punctuations_of(kind),
        in_order=kind.in_order if words.in_order is None else words.in_order,
        changelog=kind.changelog if words.changelog is None else words.changelog,
        site=user_site(),
    )


def _instance(given: object) -> Processor[Any]:
    made = given() if isclass(given) and issubclass(given, Processor) else given
    if not isinstance(made, Processor):
        raise ModelError(
            "PROCESS_FORM",
            f"{getattr(given, '__name__', given)!r} is no subclass of Processor",
            hint="Write class Name(ps.Processor[Result]) with a method process(self, row, ctx).",
        )
    return made


def _declared(kind: type) -> Iterator[tuple[str, Declared]]:
    """Give the states of a class and of those it extends, theirs first."""
    found: dict[str, Declared] = {}
    for owner in reversed(kind.__mro__):
        found |= {name: item for name, item in vars(owner).items() if isinstance(item, Declared)}
    yield from found.items()


def _said_of(kind: type) -> SchemaLike | None:
    """Give what a class says between brackets: `Processor[Alert]`."""
    for owner in kind.__mro__:
        for form in getattr(owner, "__orig_bases__", ()):
            origin = typing.get_origin(form)
            if isclass(origin) and issubclass(origin, Processor):
                found = typing.get_args(form)[0]
                if not isinstance(found, TypeVar) and found not in (Any, dict):
                    return typing.cast(SchemaLike, found)
    return None


def _gives(said: SchemaLike | None, function: Callable[..., Any], name: str) -> Schema:
    if said is not None:
        return schema_of(said)
    found = result_of(function, many=True) or result_of(function)
    if found is None:
        raise ModelError(
            "FUNCTION_SCHEMA",
            f'the columns that process "{name}" gives are not said',
            hint="Add schema=..., or write class Name(ps.Processor[Result]).",
        )
    return found


def _output(step: Process, side: str, columns: Mapping[str, str]) -> Relation:
    mine = Filter(step, Call("eq", (Column(SIDE), Literal(side))), step.site)
    named = tuple(Named(name, Column(column)) for name, column in columns.items())
    return Project(mine, named, step.site)

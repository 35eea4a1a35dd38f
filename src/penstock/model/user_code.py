"""Functions whose text is a part of the plan: written in a statement, run wherever the plan is.

The text travels and counts, not an object: every process compiles it for itself, once.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import linecache
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias

from typing_extensions import override

Batch: TypeAlias = Literal["", "polars", "arrow"]
_MODULE = re.compile(r"\s*([A-Za-z_][\w.]*):([A-Za-z_][\w.]*)\s*")
_DEFINED = (ast.FunctionDef, ast.ClassDef)
AGGREGATE_STEPS = ("init", "add", "merge", "retract", "result")


@dataclass(frozen=True, slots=True)
class UserCode:
    """Python text and how it is called.

    `text` is `module:name`, an expression of the parameters, or a text that defines functions.
    With `batch` it takes and gives whole columns. Without `nulls` it is not called where an
    argument is null, and gives null. `collected` columns hold the values of a group as a list.
    """

    name: str
    text: str
    parameters: tuple[str, ...]
    batch: Batch = ""
    nulls: bool = False
    collected: bool = False

    @property
    def file(self) -> str:
        """The name that its lines have in a traceback."""
        mark = hashlib.sha256(self.text.encode()).hexdigest()[:8]
        return f"<function {self.name} {mark}>"


class CodeAggregate:
    """An aggregate of the user's own whose steps are those of a text.

    A state is known by the name of its aggregate, as that of a class is: a corrected text goes on
    with the state there is.
    """

    def __init__(self, code: UserCode) -> None:
        self.code = code
        self.__qualname__ = code.name

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodeAggregate) and other.code == self.code

    @override
    def __hash__(self) -> int:
        return hash(self.code)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        # Only the steps that the text has, so that one without `retract` can be told.
        if name not in AGGREGATE_STEPS:
            raise AttributeError(name)
        step = getattr(loaded(self.code), name)
        if self.code.nulls or name not in ("add", "retract"):
            return step
        return _Skipping(step)


@dataclass(frozen=True, slots=True)
class _Skipping:
    """A step of an aggregate that leaves rows out which have a null."""

    step: Callable[..., Any]

    def __call__(self, accumulator: Any, *values: Any) -> Any:  # noqa: ANN401
        """Give the accumulator, changed by a row without nulls only."""
        if any(value is None for value in values):
            return accumulator
        return self.step(accumulator, *values)


@dataclass(frozen=True, slots=True)
class Trial:
    """Says whether an aggregate can take a row, by giving it the row alone."""

    code: UserCode

    def __call__(self, *values: Any) -> bool:  # noqa: ANN401
        """Raise what the aggregate raises of the row."""
        steps = loaded(self.code)
        steps.add(steps.init(), *values)
        return True


@lru_cache(maxsize=256)
def loaded(code: UserCode) -> Any:  # noqa: ANN401  # a function, or an object with steps
    """Give what the text defines; it raises what Python raises of the text."""
    found = _MODULE.fullmatch(code.text)
    if found is not None:
        made: Any = importlib.import_module(found[1])
        for part in found[2].split("."):
            made = getattr(made, part)
        return made() if isinstance(made, type) else made
    _remember_lines(code)
    lambda_ = _expression(code)
    if lambda_ is not None:
        return lambda_
    tree = ast.parse(textwrap.dedent(code.text), code.file)
    names = [node.name for node in tree.body if isinstance(node, _DEFINED)]
    space: dict[str, Any] = {"__name__": f"function_{code.name.lower()}"}
    exec(compile(tree, code.file, "exec", dont_inherit=True), space)  # noqa: S102  # the user's own
    return _entry(code, names, space)


def _remember_lines(code: UserCode) -> None:
    """Let tracebacks show the lines of the text."""
    lines = code.text.splitlines(keepends=True)
    linecache.cache[code.file] = (len(code.text), None, lines, code.file)


def _expression(code: UserCode) -> Callable[..., Any] | None:
    """Give the function of a text that is one expression of the parameters."""
    try:
        tree = ast.parse(code.text.strip(), code.file, "eval")
    except SyntaxError:
        return None
    names = ", ".join(code.parameters)
    whole = ast.parse(f"lambda {names}: 0", code.file, "eval")
    assert isinstance(whole.body, ast.Lambda)
    whole.body.body = tree.body
    space = {"__name__": f"function_{code.name.lower()}"}
    made: Callable[..., Any] = eval(compile(whole, code.file, "eval", dont_inherit=True), space)  # noqa: S307
    return made


def _entry(code: UserCode, names: list[str], space: dict[str, Any]) -> Any:  # noqa: ANN401
    same = [name for name in names if name.lower() == code.name.lower()]
    if not same and {"init", "add", "merge", "result"} <= set(names):
        return SimpleNamespace(**{name: space[name] for name in AGGREGATE_STEPS if name in space})
    if not names:
        fact = "the text defines no function"
        raise NameError(fact)
    made = space[(same or names)[-1]]
    return made() if isinstance(made, type) else made

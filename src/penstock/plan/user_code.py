"""What stands for the user's own code in a fingerprint.

A function counts by its module, its name, its text without comments and layout, what it holds,
and the functions and constants it uses of its own file and of the modules beside it. Where its text
cannot be found, as of one typed at a prompt, its bytecode counts, which another version of Python
may write differently.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import sys
from collections.abc import Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from penstock.plan.token import Token, token

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Constant = bool | int | float | str | bytes | Decimal | date | time | timedelta
_own_places: set[Path] = set()


def own_directory(directory: Path) -> None:
    """Take the modules below a directory for the user's own: a program holds what it uses of them.

    All others, as those of packages that are installed, count by their names.
    """
    _own_places.add(directory.resolve())


def own_modules() -> tuple[ModuleType, ...]:
    """Give the modules that were imported from the user's own directories."""
    return tuple(module for module in (*sys.modules.values(),) if _is_own(module))


def _is_own(module: ModuleType | None) -> bool:
    file = getattr(module, "__file__", None)
    return bool(_own_places) and isinstance(file, str) and _lies_in(file, frozenset(_own_places))


@functools.lru_cache(maxsize=16_384)
def _lies_in(file: str, places: frozenset[Path]) -> bool:
    # There are thousands of modules, and to resolve a path asks the disk.
    if "site-packages" in file:
        return False
    return not places.isdisjoint(Path(file).resolve().parents)


def by_name(value: object) -> Token:
    """Stand for a function or object by where it is defined."""
    known = value if isinstance(value, type) or hasattr(value, "__qualname__") else type(value)
    return ("user", _module(known), str(getattr(known, "__qualname__", "")))


def by_text(value: object, seen: frozenset[int] = frozenset()) -> Token:
    """Stand for a function by its name and text; for an object by its class and what it holds."""
    if isinstance(value, functools.partial):
        return ("partial", by_text(value.func, seen), token((value.args, value.keywords), by_name))
    function = inspect.unwrap(value) if callable(value) else value
    function = getattr(function, "__func__", function)
    if isinstance(function, FunctionType):
        return (*by_name(function), *_text_of_function(function, seen), *_held(function))
    if isinstance(value, type):
        return (*by_name(value), *_text_of_class(value, seen))
    held = token(dict(getattr(value, "__dict__", {})), by_name)
    return (*by_name(value), *_text_of_class(type(value), seen), held)


def look_again() -> None:
    """Forget the texts of files: one that is loaded again may have changed."""
    linecache.checkcache()
    _definitions.cache_clear()


def by_bytecode(value: object, seen: frozenset[int] = frozenset()) -> Token:
    """Stand for a function by what it was compiled to: one out of a file that has changed since.

    The values and functions of its own module that it uses count, too.
    """
    if isinstance(value, functools.partial):
        return ("partial", by_bytecode(value.func, seen), token(value.args, by_name))
    function = inspect.unwrap(value) if callable(value) else value
    function = getattr(function, "__func__", function)
    if isinstance(function, FunctionType):
        return (*by_name(function), _compiled(function, seen), *_held(function))
    kind = value if isinstance(value, type) else type(value)
    methods = [
        (name, _compiled(member, seen))
        for name, item in sorted(vars(kind).items())
        if isinstance(member := getattr(item, "__func__", item), FunctionType)
    ]
    held = () if isinstance(value, type) else token(dict(getattr(value, "__dict__", {})), by_name)
    return (*by_name(value), *methods, held)


def _compiled(function: FunctionType, seen: frozenset[int]) -> Token:
    code = function.__code__
    if id(code) in seen:
        return by_name(function)
    below = seen | {id(code)}

    def used(value: object) -> Token:
        is_own = isinstance(value, FunctionType) and _counts(value, function)
        return by_bytecode(value, below) if is_own else by_name(value)

    known = function.__globals__
    names = sorted({name for name in _names(code) if name in known})
    return (_bytecode(code), *((name, token(known[name], used)) for name in names))


def _counts(value: object, function: FunctionType) -> bool:
    """Whether what a function uses is of its own module, or of one beside it."""
    name = getattr(value, "__module__", None)
    return name == function.__module__ or _is_own(sys.modules.get(str(name)))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from _names(item)


def _module(known: object) -> str:
    """Give the name of the file, however it was started: as a script, by path or by import."""
    name = str(getattr(known, "__module__", "")).rpartition(".")[2]
    if name != "__main__":
        return name
    members = [known, *vars(known).values()] if isinstance(known, type) else [known]
    codes = (getattr(member, "__code__", None) for member in members)
    return next((Path(code.co_filename).stem for code in codes if code is not None), name)


def _held(function: FunctionType) -> Iterator[Token]:
    """Give what a function remembers: its defaults, and the values around it."""
    # Functions among them count by name only: one that calls itself is among its own.
    yield token(function.__defaults__ or (), by_name)
    yield token(function.__kwdefaults__ or {}, by_name)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield (name, token(cell.cell_contents, by_name))
        except ValueError:  # a cell that is not filled yet
            yield (name,)


def _text_of_class(kind: type, seen: frozenset[int]) -> Iterator[Token]:
    for name, member in sorted(vars(kind).items()):
        function = getattr(member, "__func__", member)
        if isinstance(function, FunctionType):
            yield (name, *_text_of_function(function, seen))


def _text_of_function(function: FunctionType, seen: frozenset[int]) -> Iterator[object]:
    """Give a function's text, and what it uses of its own file and of the modules beside it."""
    code = function.__code__
    if id(code) in seen:
        return
    yield _text_of_code(code)
    known = function.__globals__
    for name in sorted({name for name in _names(code) if name in known}):
        value = known[name]
        if isinstance(value, FunctionType | type) and _counts(value, function):
            yield (name, by_text(value, seen | {id(code)}))
        elif isinstance(value, _Constant):
            yield (name, token(value, by_name))


def _text_of_code(code: CodeType) -> str:
    found = [
        node for node in _definitions(code.co_filename) if _first_line(node) == code.co_firstlineno
    ]
    # Two lambdas on one line cannot be told apart by it.
    return ast.unparse(found[0]) if len(found) == 1 else repr(_bytecode(code))


@functools.lru_cache(maxsize=64)
def _definitions(file: str) -> tuple[_Definition, ...]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return tuple(node for node in ast.walk(tree) if isinstance(node, kinds))


def _first_line(node: _Definition) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min((node.lineno, *(item.lineno for item in decorators)))


def _bytecode(code: CodeType) -> Token:
    constants = tuple(
        _bytecode(item) if isinstance(item, CodeType) else repr(item) for item in code.co_consts
    )
    return (code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars)

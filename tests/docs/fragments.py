"""Python that stands for itself on a page: what it imports is there, and takes what it is given."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module


def problems(code: str) -> Iterator[str]:
    """Say what is wrong with a piece of Python that is not run."""
    tree = ast.parse(code)
    known: dict[str, object] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from _taken(node, known)
        elif isinstance(node, ast.Import):
            known |= {name.asname or name.name: import_module(name.name) for name in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _misuse(node, known)


def _taken(node: ast.ImportFrom, known: dict[str, object]) -> Iterator[str]:
    module = import_module(node.module or "")
    for name in node.names:
        if not hasattr(module, name.name):
            yield f"{node.module} has no {name.name}"
        known[name.asname or name.name] = getattr(module, name.name, None)


def _misuse(call: ast.Call, known: dict[str, object]) -> Iterator[str]:
    function = _found(call.func, known)
    if function is None or any(isinstance(item, ast.Starred) for item in call.args):
        return
    try:
        signature = inspect.signature(function)  # type: ignore[arg-type]
        named = {item.arg: None for item in call.keywords if item.arg}
        signature.bind(*([None] * len(call.args)), **named)
    except TypeError as error:
        yield f"{ast.unparse(call.func)}: {error}"
    except ValueError:
        return  # a function of C does not tell what it takes


def _found(node: ast.expr, known: dict[str, object]) -> object | None:
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        holder = _found(node.value, known)
        return getattr(holder, node.attr, None) if inspect.ismodule(holder) else None
    return None

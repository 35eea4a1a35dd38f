"""Schemas and values that have too many parts inside of one another: refused, never a crash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penstock.errors import SchemaError

_HINT = "Use a schema and values that are less deep."


@contextmanager
def depth_guarded(error: Callable[[], SchemaError]) -> Iterator[None]:
    """Turn Python's limit of calls inside of one another into an error of ours."""
    try:
        yield
    except RecursionError:
        raise error() from None


def deep_schema() -> SchemaError:
    """Give the error for a schema that is too deep."""
    fact = "a schema has too many types inside of one another"
    return SchemaError("AVRO_SCHEMA", fact, hint=_HINT)


def deep_bytes() -> SchemaError:
    """Give the error for bytes whose value is too deep."""
    fact = "the bytes say a value with too many parts inside of one another"
    return SchemaError("AVRO_BYTES", fact, hint=_HINT)


def deep_json() -> SchemaError:
    """Give the error for JSON whose value is too deep."""
    fact = "the JSON says a value with too many parts inside of one another"
    return SchemaError("AVRO_JSON", fact, hint=_HINT)


def deep_value() -> SchemaError:
    """Give the error for a value that is too deep to be written."""
    fact = "a value has too many parts inside of one another"
    return SchemaError("VALUE_ENCODE", fact, hint=_HINT)

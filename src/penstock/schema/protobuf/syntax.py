"""Reads the text of a .proto file."""

from __future__ import annotations

from typing import NoReturn

from proto_schema_parser import ast
from proto_schema_parser.parser import Parser

from penstock.schema.protobuf.refusal import refused


def parse_proto(text: str) -> ast.File:
    """Give what a .proto text says; one with a mistake is refused with its line."""
    if not text.strip():
        raise refused("it is empty")
    try:
        return Parser(setup_lexer=_strict, setup_parser=_strict).parse(text)
    except RecursionError:
        raise refused("it is nested too deeply") from None
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        # The library takes some texts apart that its own grammar let pass.
        raise refused(str(error)) from None


class _Strict:
    """Stops at the first mistake, where the library would print it and guess on."""

    def syntaxError(  # noqa: N802  # as the library calls it
        self, _: object, symbol: object, line: int, column: int, message: str, error: object
    ) -> NoReturn:
        del symbol, error
        # What could have stood there is a list of every word of the language.
        said = message.partition(" expecting {")[0]
        raise refused(f"line {line}, column {column + 1}: {said}")

    def reportAmbiguity(self, *_: object) -> None:  # noqa: N802
        """Leave to the grammar what can be read in two ways."""

    reportAttemptingFullContext = reportAmbiguity  # noqa: N815
    reportContextSensitivity = reportAmbiguity  # noqa: N815


def _strict(reader: object) -> None:
    reader.removeErrorListeners()  # type: ignore[attr-defined]
    reader.addErrorListener(_Strict())  # type: ignore[attr-defined]

"""Leaving ksqlDB: its statements tried on ours, one by one, and written down as a project."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import PenstockError, SqlError
from penstock.front.sql import tree_statement as tree
from penstock.front.sql.source_text import SourceText
from penstock.sql.definitions import Definitions, replayed, with_settings
from penstock.sql.old_spelling import resolved_as_said
from penstock.sql.script import pieces_of, read_piece, script_text
from penstock.sql.working_order import done_in_working_order

_DEFINES = (
    tree.CreateSource,
    tree.CreateAs,
    tree.CreateType,
    tree.CreateFunction,
    tree.InsertSelect,
)
_NO_FILE_NAME = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Tried:
    """A statement as it was written, what it makes, and why it is refused if it is."""

    text: str
    makes: str = ""
    refusal: PenstockError | None = None
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Waiting:
    text: str
    statement: tree.Statement
    settings: tuple[tuple[str, str], ...]


def scripts_of(place: Path) -> Iterator[str]:
    """Give the texts of a script, or of a directory of migrations in the order of their names."""
    files = sorted(place.glob("**/*.sql")) if place.is_dir() else [place]
    if not files:
        raise SqlError(
            "SQL_PROJECT",
            f'"{place}" has no .sql files',
            hint="Give a script, a directory of migrations, or the address of a ksqlDB server.",
        )
    for file in files:
        yield script_text(file)


def tried(texts: Iterable[str]) -> tuple[Tried, ...]:
    """Try all statements that define something, in an order that works where there is one."""
    found: list[Tried] = []
    waiting: list[_Waiting] = []
    for text in texts:
        _read(text, waiting, found)
    scratch = replayed(())
    refused = done_in_working_order(
        waiting, lambda item: found.append(_made(item, scratch)), PenstockError
    )
    found += [Tried(item.text, _name(item.statement), why) for item, why in refused]
    return tuple(found)


def write_project(directory: Path, statements: Sequence[Tried]) -> list[Path]:
    """Write the statements that run as a project, and the others beside it with the reason."""
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()):
        raise SqlError(
            "SQL_PROJECT",
            f'"{directory}" is not empty',
            hint="Name a directory that is new, so that nothing of yours is written over.",
        )
    written = []
    for number, item in enumerate(statements, 1):
        stem = _NO_FILE_NAME.sub("-", item.makes.lower()).strip("-") or "statement"
        if item.refusal is None:
            settings = "".join(f"SET '{name}' = '{value}';\n" for name, value in item.settings)
            path, text = directory / f"{number:03}-{stem}.sql", f"{settings}{item.text};\n"
        else:
            reason = "".join(f"-- {line}\n" for line in str(item.refusal).splitlines())
            path, text = directory / f"{number:03}-{stem}.refused", f"{reason}{item.text};\n"
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def _read(text: str, waiting: list[_Waiting], found: list[Tried]) -> None:
    variables: dict[str, str] = {}
    settings: dict[str, str] = {}
    for piece in pieces_of(text):
        said = piece.text.strip().removesuffix(";")
        try:
            statement = read_piece(piece, variables)
        except PenstockError as refusal:
            found.append(Tried(said, "", refusal))
            continue
        match statement:
            case tree.Define():
                variables[statement.name.text.upper()] = statement.value
            case tree.SetProperty():
                settings[statement.name] = statement.value
            case tree.UnsetProperty():
                settings.pop(statement.name, None)
            case _ if isinstance(statement, _DEFINES):
                plain = _filled(piece, statement, variables)
                waiting.append(_Waiting(plain, statement, tuple(sorted(settings.items()))))
            case _:
                found.append(Tried(said, "", _no_definition(statement)))


def _filled(piece: SourceText, statement: tree.Statement, variables: dict[str, str]) -> str:
    """Give the text of a statement; where it uses variables, as it was read."""
    text = statement.source.text if variables else piece.text
    return text.strip().removesuffix(";")


def _made(item: _Waiting, scratch: Definitions) -> Tried:
    with_settings(scratch.catalog, dict(item.settings))
    resolved_as_said(item.statement, scratch.session)
    return Tried(item.text, _name(item.statement), None, item.settings)


def _name(statement: tree.Statement) -> str:
    match statement:
        case tree.CreateSource() | tree.CreateAs():
            return f"{statement.kind} {statement.name.text}"
        case tree.CreateType():
            return f"type {statement.name.text}"
        case tree.CreateFunction():
            return f"function {statement.name.text}"
        case tree.InsertSelect():
            return f"insert into {statement.name.text}"
        case _:
            return ""


def _no_definition(statement: tree.Statement) -> SqlError:
    return SqlError(
        "SQL_PROJECT",
        statement.source.shown("this statement does not say what there is to be", statement.span),
        hint="It is left out: run it by hand with `penstock sql -e`.",
    )

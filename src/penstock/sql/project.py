"""A directory of .sql files as the catalog is to be: what differs, and how it is brought about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from penstock.errors import SqlError
from penstock.front.sql import tree_statement as tree
from penstock.front.sql.format import format_statement
from penstock.sql.definitions import Definitions, replayed_partly, with_settings
from penstock.sql.old_spelling import resolved_as_said
from penstock.sql.plain_statement import Kept, plain_statement
from penstock.sql.script import pieces_of, read_piece, script_text
from penstock.sql.working_order import done_in_working_order

Does: TypeAlias = Literal["create", "replace", "keep", "leave"]


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one thing: made, replaced, kept as it is, or left though no file has it."""

    does: Does
    key: str
    text: str
    statement: Kept | None = None
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def changes(self) -> bool:
        """Whether it is to be done."""
        return self.does in {"create", "replace"}


@dataclass(frozen=True, slots=True)
class _Wanted:
    path: Path
    statement: Kept
    settings: tuple[tuple[str, str], ...]


def steps_to(directory: Path, known: Definitions) -> tuple[Step, ...]:
    """Give the way from a catalog to the files of a directory, in an order that works."""
    wanted = list(_wanted(directory))
    keys = {_key(item.statement) for item in wanted}
    others = [entry for entry in known.entries if not {entry.key, *entry.statements} & keys]
    scratch = replayed_partly(others, known.catalog.schemas, known.catalog.topics)
    steps: list[Step] = []
    refused = done_in_working_order(
        wanted, lambda item: steps.append(_step(item, scratch, known)), SqlError
    )
    if refused:
        item, why = refused[0]
        raise _in_file(item.path, why)
    left = [Step("leave", entry.key, entry.statements[-1]) for entry in others if entry.statements]
    return (*steps, *left)


def _step(item: _Wanted, scratch: Definitions, known: Definitions) -> Step:
    with_settings(scratch.catalog, dict(item.settings))
    _, said, _ = resolved_as_said(item.statement, scratch.session)
    text = format_statement(plain_statement(said))
    key = _key(said)
    there = [entry for entry in known.entries if key in {entry.key, *entry.statements}]
    if not there:
        return Step("create", key, text, item.statement, item.settings)
    if there[0].statements == (text,):
        return Step("keep", key, text)
    statement = item.statement
    if isinstance(statement, tree.CreateSource | tree.CreateAs | tree.CreateFunction):
        statement = replace(statement, or_replace=True, if_not_exists=False)
    return Step("replace", key, text, statement, item.settings)


def _wanted(directory: Path) -> Iterator[_Wanted]:
    files = sorted(directory.glob("**/*.sql")) if directory.is_dir() else []
    if not files:
        raise SqlError(
            "SQL_PROJECT",
            f'"{directory}" has no .sql files',
            hint="Give a directory with statements that create streams, tables and types.",
        )
    for path in files:
        try:
            yield from _of_file(path)
        except SqlError as refusal:
            raise _in_file(path, refusal) from refusal


def _of_file(path: Path) -> Iterator[_Wanted]:
    variables: dict[str, str] = {}
    settings: dict[str, str] = {}
    for piece in pieces_of(script_text(path)):
        statement = read_piece(piece, variables)
        match statement:
            case tree.Define():
                variables[statement.name.text.upper()] = statement.value
            case tree.SetProperty():
                settings[statement.name] = statement.value
            case (
                tree.CreateSource()
                | tree.CreateAs()
                | tree.CreateType()
                | tree.CreateFunction()
                | tree.InsertSelect()
            ):
                yield _Wanted(path, plain_statement(statement), tuple(sorted(settings.items())))
            case _:
                fact = "this statement does not say what there is to be"
                raise SqlError(
                    "SQL_PROJECT",
                    statement.source.shown(fact, statement.span),
                    hint="Files of a project have CREATE, INSERT INTO ... SELECT, SET and DEFINE.",
                )


def _key(statement: Kept) -> str:
    """Give what a statement is known by; a query that inserts has no name but what it says."""
    match statement:
        case tree.CreateType():
            return f"type:{statement.name.text}"
        case tree.CreateFunction():
            return f"function:{statement.name.text.upper()}"
        case tree.InsertSelect():
            return format_statement(statement)
        case _:
            return f"source:{statement.name.text}"


def _in_file(path: Path, refusal: SqlError) -> SqlError:
    if not refusal.fact.startswith(f"{path}: "):
        refusal.fact = f"{path}: {refusal.fact}"
    return refusal

"""From what the grammar gave to statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from penstock.front.sql.parse_branch import (
    branch_at,
    branches,
    has,
    inner,
    inners,
    integer_in,
    maybe_at,
    name_in,
    span_of,
    spelt,
    text_in,
    token_at,
    word_of,
)
from penstock.front.sql.parse_query import QueryBuilder
from penstock.front.sql.tree import Duration, Name
from penstock.front.sql.tree_expression import Expression
from penstock.front.sql.tree_statement import (
    AlterSource,
    AssertSchema,
    AssertSource,
    AssertTopic,
    AssertValues,
    ColumnDefinition,
    Control,
    CreateAs,
    CreateConnector,
    CreateFunction,
    CreateSource,
    CreateType,
    Define,
    Describe,
    DropNamed,
    DropSource,
    Explain,
    InsertSelect,
    InsertValues,
    Parameter,
    Print,
    QueryStatement,
    RunScript,
    SetProperty,
    Show,
    SourceKind,
    Statement,
    Undefine,
    UnsetProperty,
)

if TYPE_CHECKING:
    from penstock.front.sql.parse_grammar import Branch


class StatementBuilder(QueryBuilder):
    """Makes statements; a method has the name of the rule that it is for."""

    def statement(self, branch: Branch) -> Statement:
        """Make whatever statement."""
        made: Statement = getattr(self, f"_{branch.data}")(branch)
        return made

    def _said(self, branch: Branch) -> Any:  # noqa: ANN401  # the arguments that all statements take
        return {"source": self.source, "span": span_of(branch)}

    # --- definitions

    def _create_source(self, branch: Branch) -> CreateSource:
        columns = inner(branch, "columns")
        return CreateSource(
            _kind(branch),
            _name(branch),
            None if columns is None else self._columns(columns),
            self.properties(inner(branch, "with_properties")),
            or_replace=has(branch, "or_replace"),
            if_not_exists=has(branch, "if_not_exists"),
            read_only=has(branch, "read_only"),
            **self._said(branch),
        )

    def _create_as(self, branch: Branch) -> CreateAs:
        return CreateAs(
            _kind(branch),
            _name(branch),
            self.query(branch_at(branch, -1)),
            self.properties(inner(branch, "with_properties")),
            or_replace=has(branch, "or_replace"),
            if_not_exists=has(branch, "if_not_exists"),
            **self._said(branch),
        )

    def _alter_source(self, branch: Branch) -> AlterSource:
        columns = tuple(map(self._column_definition, inners(branch, "added")))
        return AlterSource(_kind(branch), _name(branch), columns, **self._said(branch))

    def _drop_source(self, branch: Branch) -> DropSource:
        return DropSource(
            _kind(branch),
            _name(branch),
            has(branch, "if_exists"),
            has(branch, "delete_topic"),
            **self._said(branch),
        )

    def _create_type(self, branch: Branch) -> CreateType:
        kind = self.type(branch_at(branch, -1))
        once = has(branch, "if_not_exists")
        return CreateType(_name(branch), kind, once, **self._said(branch))

    def _create_function(self, branch: Branch) -> CreateFunction:
        kind, parameters = inner(branch, "function_kind"), inner(branch, "parameters")
        name, language = map(name_in, inners(branch, "name"))
        returns = next(it for it in branches(branch) if str(it.data).endswith("_type"))
        return CreateFunction(
            name,
            () if parameters is None else tuple(map(self._parameter_of, branches(parameters))),
            self.type(returns),
            language,
            text_in(token_at(branch, -1)),
            _function_kind(kind),
            has(branch, "vectorised"),
            self.properties(inner(branch, "with_properties")),
            has(branch, "or_replace"),
            has(branch, "if_not_exists"),
            **self._said(branch),
        )

    def _create_connector(self, branch: Branch) -> CreateConnector:
        return CreateConnector(
            "source" if _inner_word(branch, "connector_kind") == "source" else "sink",
            _name(branch),
            self.properties(inner(branch, "with_properties")),
            has(branch, "if_not_exists"),
            **self._said(branch),
        )

    def _drop_named(self, branch: Branch) -> DropNamed:
        what: dict[str, Literal["type", "connector", "function"]] = {
            "type": "type",
            "connector": "connector",
            "function": "function",
        }
        return DropNamed(
            what[_inner_word(branch, "named_kind")],
            _name(branch),
            has(branch, "if_exists"),
            **self._said(branch),
        )

    def _columns(self, branch: Branch) -> tuple[ColumnDefinition, ...]:
        return tuple(map(self._column_definition, branches(branch)))

    def _column_definition(self, branch: Branch) -> ColumnDefinition:
        name, kind, *roles = branches(branch)
        made = (name_in(name), self.type(kind))
        place = span_of(branch)
        match roles[0].data if roles else "":
            case "key_role":
                return ColumnDefinition(*made, "key", span=place)
            case "primary_key_role":
                return ColumnDefinition(*made, "primary key", span=place)
            case "headers_role":
                return ColumnDefinition(*made, "headers", span=place)
            case "header_role":
                key = text_in(token_at(roles[0]))
                return ColumnDefinition(*made, "header", key, span=place)
            case _:
                return ColumnDefinition(*made, span=place)

    def _parameter_of(self, branch: Branch) -> Parameter:
        name, kind = branches(branch)
        return Parameter(name_in(name), self.type(kind), span=span_of(branch))

    # --- data

    def _query_statement(self, branch: Branch) -> QueryStatement:
        return QueryStatement(self.query(branch_at(branch, 0)), **self._said(branch))

    def _insert_select(self, branch: Branch) -> InsertSelect:
        return InsertSelect(
            _name(branch),
            self.query(branch_at(branch, -1)),
            self.properties(inner(branch, "with_properties")),
            **self._said(branch),
        )

    def _insert_values(self, branch: Branch) -> InsertValues:
        rows = tuple(map(self._row, inners(branch, "row")))
        return InsertValues(_name(branch), rows, _names(branch), **self._said(branch))

    def _row(self, branch: Branch) -> tuple[Expression, ...]:
        return self.expressions(branches(branch))

    # --- inspection

    def _show(self, branch: Branch) -> Show:
        shown = branch_at(branch, 0)
        narrowed: Literal["all", "source", "sink"] | None = None
        if has(shown, "all_topics"):
            narrowed = "all"
        elif has(shown, "connector_kind"):
            narrowed = "source" if _inner_word(shown, "connector_kind") == "source" else "sink"
        what: Any = str(shown.data).removeprefix("show_").replace("_", " ")
        return Show(what, has(shown, "extended"), narrowed, **self._said(branch))

    def _describe_source(self, branch: Branch) -> Describe:
        return Describe("source", _name(branch), has(branch, "extended"), **self._said(branch))

    def _describe_extended(self, branch: Branch) -> Describe:
        return Describe("source", _name(branch), extended=True, **self._said(branch))

    def _describe_streams(self, branch: Branch) -> Describe:
        return Describe("streams", None, has(branch, "extended"), **self._said(branch))

    def _describe_tables(self, branch: Branch) -> Describe:
        return Describe("tables", None, has(branch, "extended"), **self._said(branch))

    def _describe_function(self, branch: Branch) -> Describe:
        part = branch.children[0]
        if isinstance(part, str):
            name = Name(text_in(part).upper(), span=span_of(part))
            return Describe("function", name, **self._said(branch))
        return Describe("function", _name(branch), **self._said(branch))

    def _describe_connector(self, branch: Branch) -> Describe:
        return Describe("connector", _name(branch), **self._said(branch))

    def _print_topic(self, branch: Branch) -> Print:
        interval, limit = maybe_at(branch, 2), maybe_at(branch, 3)
        return Print(
            spelt(branch.children[0]),
            has(branch, "from_beginning"),
            None if interval is None else integer_in(self.source, token_at(interval)),
            None if limit is None else integer_in(self.source, token_at(limit)),
            **self._said(branch),
        )

    def _explain(self, branch: Branch) -> Explain:
        target = self.statement(branch_at(branch, 1))
        return Explain(target, has(branch, "analyze"), **self._said(branch))

    def _explain_query(self, branch: Branch) -> Explain:
        return Explain(_name(branch), **self._said(branch))

    # --- control

    def _control(self, branch: Branch) -> Control:
        verb: Any = _inner_word(branch, "control_verb")
        query = None if has(branch, "all_queries") else _name(branch)
        return Control(verb, query, **self._said(branch))

    def _set_property(self, branch: Branch) -> SetProperty:
        name, value = map(spelt, branch.children)
        return SetProperty(name, value, **self._said(branch))

    def _alter_system(self, branch: Branch) -> SetProperty:
        name, value = map(spelt, branch.children)
        return SetProperty(name, value, system=True, **self._said(branch))

    def _unset_property(self, branch: Branch) -> UnsetProperty:
        return UnsetProperty(text_in(token_at(branch)), **self._said(branch))

    def _define(self, branch: Branch) -> Define:
        return Define(_name(branch), text_in(token_at(branch, 1)), **self._said(branch))

    def _undefine(self, branch: Branch) -> Undefine:
        return Undefine(_name(branch), **self._said(branch))

    def _run_script(self, branch: Branch) -> RunScript:
        return RunScript(text_in(token_at(branch)), **self._said(branch))

    # --- assertions

    def _assert_values(self, branch: Branch) -> AssertValues:
        row = self._row(branch_at(branch, -1))
        return AssertValues(_name(branch), row, _names(branch), **self._said(branch))

    def _assert_null_values(self, branch: Branch) -> AssertValues:
        row = self._row(branch_at(branch, -1))
        return AssertValues(
            _name(branch), row, _names(branch), tombstone=True, **self._said(branch)
        )

    def _assert_source(self, branch: Branch) -> AssertSource:
        columns = inner(branch, "columns")
        return AssertSource(
            _kind(branch),
            _name(branch),
            None if columns is None else self._columns(columns),
            self.properties(inner(branch, "with_properties")),
            **self._said(branch),
        )

    def _assert_topic(self, branch: Branch) -> AssertTopic:
        return AssertTopic(
            spelt(branch.children[1]),
            self.properties(inner(branch, "with_properties")),
            not has(branch, "not_exists"),
            self._timeout(branch),
            **self._said(branch),
        )

    def _assert_schema(self, branch: Branch) -> AssertSchema:
        subject, number = inner(branch, "subject"), inner(branch, "schema_id")
        return AssertSchema(
            None if subject is None else spelt(subject.children[0]),
            None if number is None else integer_in(self.source, token_at(number)),
            not has(branch, "not_exists"),
            self._timeout(branch),
            **self._said(branch),
        )

    def _timeout(self, branch: Branch) -> Duration | None:
        said = inner(branch, "timeout")
        return None if said is None else self.duration(branch_at(said, 0))


def _name(branch: Branch) -> Name:
    """The first name among the parts of a statement."""
    return name_in(inners(branch, "name")[0])


def _names(branch: Branch) -> tuple[Name, ...] | None:
    """The list of columns among the parts of a statement."""
    said = inner(branch, "names")
    return None if said is None else tuple(map(name_in, branches(said)))


def _inner_word(branch: Branch, rule: str) -> str:
    return word_of(inners(branch, rule)[0])


def _kind(branch: Branch) -> SourceKind:
    return "stream" if _inner_word(branch, "kind") == "stream" else "table"


def _function_kind(branch: Branch | None) -> Literal["scalar", "aggregate", "table"]:
    if branch is None:
        return "scalar"
    return "aggregate" if word_of(branch) == "aggregate" else "table"

"""From what the grammar gave to queries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from penstock.errors import SqlError
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
from penstock.front.sql.parse_pattern import PatternBuilder
from penstock.front.sql.tree import Duration
from penstock.front.sql.tree_expression import Expression, Literals, StringLiteral
from penstock.front.sql.tree_query import (
    Aliased,
    AsOf,
    CommonTable,
    FileSource,
    Join,
    Matched,
    Property,
    Query,
    QueryBody,
    Relation,
    Select,
    SelectAll,
    Selected,
    SelectFields,
    SelectItem,
    Source,
    Start,
    Subquery,
    Top,
    Union,
    Within,
    WithinWindow,
)

if TYPE_CHECKING:
    from penstock.front.sql.parse_grammar import Branch

_How = Literal["inner", "left", "right", "full", "semi", "anti"]
_HOW: dict[str, _How] = {
    "inner": "inner",
    "left": "left",
    "right": "right",
    "full": "full",
    "semi": "semi",
    "anti": "anti",
}


class QueryBuilder(PatternBuilder):
    """Makes queries; a method has the name of the rule that it is for."""

    def query(self, branch: Branch) -> Query:
        """Make a whole query."""
        common, body, order, top, emitted, limit = (maybe_at(branch, it) for it in range(6))
        assert body is not None
        emit = None if emitted is None else branch_at(emitted, 0)
        start = None if emitted is None else maybe_at(emitted, 1)
        return Query(
            self._body(body),
            () if common is None else tuple(map(self._common_table, branches(common))),
            () if order is None else self.sort_items(order),
            None if top is None else self._top(top),
            None if emit is None else self.emit(emit),
            self._start_of(body, start),
            None if limit is None else integer_in(self.source, token_at(limit)),
            span=span_of(branch),
        )

    def _common_table(self, branch: Branch) -> CommonTable:
        name, query = branches(branch)
        return CommonTable(name_in(name), self.query(query), span=span_of(branch))

    def _top(self, branch: Branch) -> Top:
        keys = self._grouping(branch_at(branch, 1))
        return Top(integer_in(self.source, token_at(branch)), keys, span=span_of(branch))

    def _start_of(self, body: Branch, last: Branch | None) -> Start | None:
        """Give where reading begins, which is said after the relation or after EMIT."""
        clause = inner(body, "from_clause") if body.data == "select" else None
        first = None if clause is None else maybe_at(clause, 1)
        if first is not None and last is not None:
            raise SqlError(
                "SQL_CLAUSE",
                self.source.shown("where reading begins is said twice", span_of(last)),
                hint="Say it once.",
            )
        said = first or last
        return None if said is None else self._start(said)

    def _start(self, branch: Branch) -> Start:
        place = span_of(branch)
        match branch.data:
            case "start_beginning":
                return Start("beginning", span=place)
            case "start_latest":
                return Start("latest", span=place)
            case "start_time":
                return Start("time", text_in(token_at(branch)), span=place)
            case _:
                return Start("offset", integer_in(self.source, token_at(branch)), span=place)

    def _body(self, branch: Branch) -> QueryBody:
        match branch.data:
            case "select":
                return self._select(branch)
            case "subquery":
                return Subquery(self.query(branch_at(branch, 0)), span=span_of(branch))
            case _:
                left, right = branches(branch)
                for part in (left, right):
                    self._refuse_start(part)
                keep_all = branch.data == "union_all"
                return Union(self._body(left), self._body(right), keep_all, span=span_of(branch))

    def _refuse_start(self, body: Branch) -> None:
        start = self._start_of(body, None)
        if start is not None:
            raise SqlError(
                "SQL_CLAUSE",
                self.source.shown("where reading begins is said of a part of a UNION", start.span),
                hint="Put that SELECT in brackets, or say it once after EMIT.",
            )

    def _select(self, branch: Branch) -> Select:
        distinct, items, clause = (maybe_at(branch, number) for number in range(3))
        assert items is not None
        made = Select(
            tuple(map(self._selected, branches(items))),
            distinct=distinct is not None,
            span=span_of(branch),
        )
        return made if clause is None else self._from(made, clause)

    def _from(self, made: Select, branch: Branch) -> Select:
        relation, _, window, where, group, partition, having = (
            maybe_at(branch, number) for number in range(7)
        )
        assert relation is not None
        return replace(
            made,
            relation=self._relation(relation),
            window=None if window is None else self.window_clause(window),
            where=None if where is None else self.expression(branch_at(where, 0)),
            group_by=None if group is None else self._grouping(branch_at(group, 0)),
            partition_by=None if partition is None else self._grouping(branch_at(partition, 0)),
            having=None if having is None else self.expression(branch_at(having, 0)),
        )

    def _selected(self, branch: Branch) -> Selected:
        place = span_of(branch)
        match branch.data:
            case "select_all":
                return SelectAll(span=place)
            case "select_all_of":
                return SelectAll(name_in(branch_at(branch, 0)), span=place)
            case "select_fields":
                return SelectFields(self.expression(branch_at(branch, 0)), span=place)
            case "selected":
                return SelectItem(self.expression(branch_at(branch, 0)), span=place)
            case _:
                expression, name = branches(branch)
                return SelectItem(self.expression(expression), name_in(name), span=place)

    def _grouping(self, branch: Branch) -> tuple[Expression, ...]:
        return self.expressions(branches(branch))

    # --- relations

    def _relation(self, branch: Branch) -> Relation:
        made: Relation = getattr(self, f"_{branch.data}")(branch)
        return made

    def _source(self, branch: Branch) -> Source:
        return Source(name_in(branch_at(branch, 0)), span=span_of(branch))

    def _source_part(self, branch: Branch) -> Source:
        name, part = map(name_in, branches(branch))
        return Source(name, part, span=span_of(branch))

    def _file_source(self, branch: Branch) -> FileSource:
        properties = self.properties(maybe_at(branch, 1))
        return FileSource(text_in(token_at(branch)), properties, span=span_of(branch))

    def _subquery(self, branch: Branch) -> Subquery:
        return Subquery(self.query(branch_at(branch, 0)), span=span_of(branch))

    def _matched(self, branch: Branch) -> Matched:
        relation, clause = branches(branch)
        return Matched(self._relation(relation), self.match_clause(clause), span=span_of(branch))

    def _aliased(self, branch: Branch) -> Aliased:
        relation, name = branches(branch)
        return Aliased(self._relation(relation), name_in(name), span=span_of(branch))

    def _join(self, branch: Branch) -> Join:
        left, how, right, bound, on = (maybe_at(branch, number) for number in range(5))
        assert left is not None
        assert right is not None
        assert on is not None
        return Join(
            self._relation(left),
            self._relation(right),
            "inner" if how is None else _HOW[how.data],
            self.expression(on),
            None if bound is None else self._bound(bound),
            span=span_of(branch),
        )

    def _as_of_join(self, branch: Branch) -> Join:
        left, before, after, right, bound, on = (maybe_at(branch, number) for number in range(6))
        assert left is not None
        assert right is not None
        assert on is not None
        if before is not None and after is not None:
            raise SqlError(
                "SQL_CLAUSE",
                self.source.shown("the kind of the join is said twice", span_of(after)),
                hint="Write LEFT ASOF JOIN, or ASOF LEFT JOIN.",
            )
        how = before or after
        return Join(
            self._relation(left),
            self._relation(right),
            "inner" if how is None else _HOW[how.data],
            self.expression(on),
            AsOf() if bound is None else self._as_of(bound),
            span=span_of(branch),
        )

    def _as_of(self, branch: Branch) -> AsOf:
        answer, keep = inner(branch, "as_of_answer"), inner(branch, "keep")
        said: Literal["at once", "waiting", "corrected"] = "at once"
        if answer is not None:
            said = "waiting" if word_of(answer) == "waiting" else "corrected"
        return AsOf(
            "arrival" if has(branch, "by_arrival") else "event time",
            said,
            None if keep is None else self.duration(branch_at(keep, 0)),
            span=span_of(branch),
        )

    def _bound(self, branch: Branch) -> Within | WithinWindow:
        place = span_of(branch)
        if branch.data == "within_window":
            return WithinWindow(self.window(branch_at(branch, 0)), span=place)
        grace = inner(branch, "grace")
        times = [self.duration(part) for part in branches(branch) if part.data != "grace"]
        late: Duration | None = None if grace is None else self.duration(branch_at(grace, 0))
        return Within(times[0], times[-1], late, span=place)

    # --- properties

    def properties(self, branch: Branch | None) -> tuple[Property, ...]:
        """Make what stands in the brackets of WITH, which may not be there."""
        if branch is None:
            return ()
        return tuple(map(self._property, inners(branch_at(branch, 0), "property")))

    def _property(self, branch: Branch) -> Property:
        name, value = branch.children
        key = spelt(name)
        unquoted = not isinstance(name, str) and token_at(name).type == "IDENTIFIER"
        assert not isinstance(value, str)
        return Property(
            key.upper() if unquoted else key, self._property_value(value), span=span_of(branch)
        )

    def _property_value(self, branch: Branch) -> Literals:
        if branch.data == "name":
            return StringLiteral(spelt(branch), span=span_of(branch))
        if branch.data == "negative_number":
            return self.literal(branch_at(branch, 0), negative=True)
        return self.literal(branch)

"""MATCH_RECOGNIZE as SQL text."""

from __future__ import annotations

from penstock.front.sql.format_expression import (
    format_expression,
    format_sort_items,
    format_values,
)
from penstock.front.sql.format_name import format_duration, format_name
from penstock.front.sql.tree_pattern import (
    MatchClause,
    PatternChoice,
    PatternGap,
    PatternHidden,
    PatternMeasure,
    PatternNot,
    PatternPart,
    PatternRepeat,
    PatternSequence,
    PatternSkip,
    PatternVariable,
)


def format_match(match: MatchClause) -> str:
    """Write what stands in the brackets of MATCH_RECOGNIZE."""
    words = []
    if match.partition_by:
        words.append(f"PARTITION BY {format_values(match.partition_by)}")
    if match.order_by:
        words.append(f"ORDER BY {format_sort_items(match.order_by)}")
    if match.measures:
        words.append(f"MEASURES {', '.join(map(_measure, match.measures))}")
    words.append("ALL ROWS PER MATCH" if match.rows == "all" else "ONE ROW PER MATCH")
    if match.skip is not None:
        words.append(_skip(match.skip))
    words.append(f"PATTERN ({_part(match.pattern)})")
    if match.within is not None:
        words.append(f"WITHIN {format_duration(match.within)}")
    if match.grace is not None:
        words.append(f"GRACE PERIOD {format_duration(match.grace)}")
    if match.definitions:
        said = (
            f"{format_name(it.name)} AS {format_expression(it.condition)}"
            for it in match.definitions
        )
        words.append(f"DEFINE {', '.join(said)}")
    return " ".join(words)


def _measure(measure: PatternMeasure) -> str:
    before = "FINAL " if measure.final else ""
    return f"{before}{format_expression(measure.expression)} AS {format_name(measure.name)}"


def _skip(skip: PatternSkip) -> str:
    if skip.variable is None:
        return f"AFTER MATCH SKIP {'TO ' if skip.to == 'next row' else ''}{skip.to.upper()}"
    return f"AFTER MATCH SKIP TO {skip.to.upper()} {format_name(skip.variable)}"


def _part(part: PatternPart) -> str:
    match part:
        case PatternVariable(name) | PatternNot(name):
            return f"{'NOT ' if isinstance(part, PatternNot) else ''}{format_name(name)}"
        case PatternGap(rows):
            return "->" if rows == "others" else "=>"
        case PatternSequence(parts):
            return " ".join(map(_in_sequence, parts))
        case PatternChoice(parts):
            return " | ".join(map(_in_choice, parts))
        case PatternRepeat():
            return _repeat(part)
        case PatternHidden(inner):
            return f"{{- {_part(inner)} -}}"


def _in_sequence(part: PatternPart) -> str:
    return f"({_part(part)})" if isinstance(part, PatternSequence | PatternChoice) else _part(part)


def _in_choice(part: PatternPart) -> str:
    return f"({_part(part)})" if isinstance(part, PatternChoice) else _part(part)


def _repeat(repeat: PatternRepeat) -> str:
    compound = isinstance(repeat.part, PatternSequence | PatternChoice | PatternRepeat)
    inner = f"({_part(repeat.part)})" if compound else _part(repeat.part)
    words = [f"{inner}{_times(repeat)}{'' if repeat.greedy else '?'}"]
    words += ["WITH GAPS"] if repeat.gaps else []
    words += [] if repeat.until is None else [f"UNTIL ({format_expression(repeat.until)})"]
    return " ".join(words)


def _times(repeat: PatternRepeat) -> str:
    match repeat.least, repeat.most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case least, most if least == most:
            return f"{{{least}}}"
        case least, most:
            return f"{{{least},{'' if most is None else most}}}"

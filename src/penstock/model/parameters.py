"""What the functions of expressions take: how many arguments, and of which kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from penstock.errors import ModelError
from penstock.schema.types import Kind, Type

_NUMBERS = (Kind.INT32, Kind.INT64, Kind.FLOAT64, Kind.DECIMAL)
_TIMES = (Kind.TIMESTAMP, Kind.DATE)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The kinds that each argument may have, an empty tuple for any, `least` of them needed.

    The last one holds for all that follow where `more`. Arguments from number `alike` on must
    be comparable with one another.
    """

    kinds: tuple[tuple[Kind, ...], ...]
    least: int
    more: bool = False
    alike: int | None = None


def check_arguments(function: str, types: Sequence[Type], site: str) -> None:
    """Refuse arguments that a function cannot take."""
    expected = PARAMETERS[function]
    count = len(types)
    if count < expected.least or (count > len(expected.kinds) and not expected.more):
        raise _refused(function, f"{count} given", f"It takes {_counted(expected)}.", site)
    for number, found in enumerate(types):
        kinds = expected.kinds[min(number, len(expected.kinds) - 1)]
        if kinds and found.kind not in kinds:
            hint = f"Argument {number + 1} must be {_either(kinds)}: choose or cast it."
            raise _refused(function, f"of type {_listed(types)}", hint, site)
    alike = [] if expected.alike is None else types[expected.alike :]
    if not all(comparable(alike[0], found) for found in alike):
        hint = "They must be of one type, or all numbers: cast one of them."
        raise _refused(function, f"of type {_listed(types)}", hint, site)


def comparable(one: Type, other: Type) -> bool:
    """Whether one value can be compared with the other."""
    return one.kind is other.kind or (one.numeric and other.numeric)


def _refused(function: str, fact: str, hint: str, site: str) -> ModelError:
    place = f" ({site})" if site else ""
    return ModelError("FUNCTION_ARGUMENTS", f'arguments of "{function}" {fact}{place}', hint=hint)


def _counted(expected: Parameters) -> str:
    most = len(expected.kinds)
    if expected.more:
        return f"{expected.least} or more"
    return str(most) if expected.least == most else f"{expected.least} to {most}"


def _either(kinds: Sequence[Kind]) -> str:
    return " or ".join(kind.value for kind in kinds)


def _listed(types: Iterable[Type]) -> str:
    return ", ".join(str(found) for found in types)


def _takes(*kinds: tuple[Kind, ...], least: int | None = None) -> Parameters:
    return Parameters(kinds, len(kinds) if least is None else least)


_TEXT = (Kind.STRING,)
_WHOLE = (Kind.INT32, Kind.INT64)
_ARRAY = (Kind.ARRAY,)
_ONE_NUMBER = _takes(_NUMBERS)
_TWO_NUMBERS = _takes(_NUMBERS, _NUMBERS)
_COMPARED = Parameters(((), ()), 2, alike=0)
_TWO_TRUTHS = _takes((Kind.BOOLEAN,), (Kind.BOOLEAN,))
_ANYTHING = _takes(())
_ONE_TEXT = _takes(_TEXT)
_TWO_TEXTS = _takes(_TEXT, _TEXT)

PARAMETERS: Mapping[str, Parameters] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "mod", "power"), _TWO_NUMBERS),
    **dict.fromkeys(("abs", "negate", "sqrt", "exp", "ln", "floor", "ceil", "is_nan"), _ONE_NUMBER),
    "round": _takes(_NUMBERS, _WHOLE, least=1),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "nullif"), _COMPARED),
    **dict.fromkeys(("and", "or"), _TWO_TRUTHS),
    "not": _takes((Kind.BOOLEAN,)),
    **dict.fromkeys(("is_null", "is_not_null"), _ANYTHING),
    "if": Parameters(((Kind.BOOLEAN,), (), ()), 3, alike=1),
    **dict.fromkeys(("coalesce", "greatest", "least"), Parameters(((),), 1, more=True, alike=0)),
    **dict.fromkeys(("contains", "starts_with", "ends_with", "like", "regexp_like"), _TWO_TEXTS),
    **dict.fromkeys(("lower", "upper", "trim"), _ONE_TEXT),
    "concat": Parameters((_TEXT,), 1, more=True),
    "substring": _takes(_TEXT, _WHOLE, _WHOLE, least=2),
    **dict.fromkeys(("replace", "regexp_replace"), _takes(_TEXT, _TEXT, _TEXT)),
    **dict.fromkeys(
        ("regexp_extract", "regexp_extract_all"), _takes(_TEXT, _TEXT, _WHOLE, least=2)
    ),
    **dict.fromkeys(("lpad", "rpad"), _takes(_TEXT, _WHOLE, _TEXT, least=2)),
    "length": _takes((Kind.STRING, Kind.BYTES)),
    "reverse": _takes((Kind.STRING, Kind.ARRAY)),
    "split": _TWO_TEXTS,
    "array_size": _takes(_ARRAY),
    "array_contains": _takes(_ARRAY, ()),
    "element_at": _takes((Kind.ARRAY, Kind.MAP), ()),
    **dict.fromkeys(("year", "month", "day"), _takes(_TIMES)),
    **dict.fromkeys(("hour", "minute", "second", "millis"), _takes((Kind.TIMESTAMP,))),
    "date_trunc": _takes(_TEXT, _TIMES),
    "from_millis": _takes(_WHOLE),
    "to_date": _takes((Kind.TIMESTAMP, Kind.DATE, Kind.STRING)),
}

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from penstock.schema.objects import builder_of, defaults_of, plain


class Point(NamedTuple):
    x: int
    y: int


@dataclass
class Line:
    start: Point
    end: Point | None
    through: list[Point]
    marks: dict[str, Point]
    name: str = ""


LINE = Line(Point(0, 0), None, [Point(1, 1)], {"a": Point(2, 2)})


@pytest.mark.parametrize(
    ("hint", "made"),
    [
        (Point, Point(1, 2)),
        (Line, LINE),
        (list[Point], [Point(1, 2)]),
        (dict[str, Point], {"a": Point(1, 2)}),
        (Point | None, Point(1, 2)),
        (Point | None, None),
    ],
)
def test_what_is_made_plain_can_be_made_again(hint: Any, made: Any) -> None:  # noqa: ANN401
    build = builder_of(hint)
    assert build is not None
    assert build(plain(made)) == made


def test_an_object_is_plain_as_a_dictionary() -> None:
    assert plain((LINE, 5)) == [
        {
            "start": {"x": 0, "y": 0},
            "end": None,
            "through": [{"x": 1, "y": 1}],
            "marks": {"a": {"x": 2, "y": 2}},
            "name": "",
        },
        5,
    ]


@pytest.mark.parametrize("hint", [int, str, list[int], dict[str, int], int | str, "int64", None])
def test_what_is_plain_already_needs_no_maker(hint: object) -> None:
    assert builder_of(hint) is None


class Mark(NamedTuple):
    at: Point
    colour: str = "red"


@dataclass
class Drawing:
    title: str
    marks: list[Mark]
    frame: Mark | None = None
    by_name: dict[str, Mark] = field(default_factory=dict)
    centre: Point = field(default_factory=lambda: Point(1, 2))


def test_what_fields_are_where_nobody_says_is_known_by_their_paths() -> None:
    assert defaults_of(Drawing) == {
        "marks.colour": "red",
        "frame": None,
        "frame.colour": "red",
        "by_name": {},
        "by_name.colour": "red",
        "centre": {"x": 1, "y": 2},
    }
    assert defaults_of(list[Mark]) == {"colour": "red"}
    assert defaults_of("struct<a: int64>") == {}

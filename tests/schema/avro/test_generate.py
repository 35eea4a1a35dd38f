from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest

from penstock.errors import SchemaError
from penstock.schema.avro import record
from penstock.schema.avro.datum_write import DatumWriter
from penstock.schema.avro.generate import generate
from penstock.schema.avro.parse import parse_avro
from penstock.schema.avro.unions import Tagged

USER = {
    "namespace": "example.avro",
    "type": "record",
    "name": "User",
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "favorite_number", "type": ["int", "null"]},
        {"name": "favorite_color", "type": ["string", "null"]},
    ],
}
MODULE = "a_generated_module"


def _logical(type_: str, logical: str, **more: object) -> dict[str, Any]:
    return {"type": type_, "logicalType": logical, **more}


def _field(name: str, type_: object, **more: object) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


THINGS = {
    "type": "record",
    "name": "all.Things",
    "doc": 'With a "quote", a \\ and an end.',
    "fields": [
        _field("class", "int"),
        _field("str", "string", default='it\'s "so"\n'),
        _field("field", {"type": "array", "items": "int"}, default=[1, 2]),
        _field("empty", {"type": "map", "values": "double"}, default={}),
        _field("to_avro", {"type": "map", "values": "double"}, default={"a": 1}),
        _field("__secret", "null"),
        _field(
            "color",
            {"type": "enum", "name": "Color", "symbols": ["RED", "title", "None", "_x_", "mro"]},
            default="title",
        ),
        _field("Color", ["null", "Color"], default=None),
        _field("at", _logical("long", "timestamp-millis"), default=1_500_000_000_123),
        _field("local", ["null", _logical("long", "local-timestamp-micros")]),
        _field("day", _logical("int", "date"), default=5),
        _field("time", _logical("int", "time-millis"), default=3_600_000),
        _field("nanos", _logical("long", "timestamp-nanos"), default=7),
        _field("price", _logical("bytes", "decimal", precision=10, scale=2), default="\x01\x00"),
        _field("id", _logical("fixed", "uuid", name="Id", size=16), default="\x01" * 16),
        _field("doubtful", ["null", "int", "long"], default=None),
        _field("doubtful2", ["int", "long"], default=7),
        _field(
            "clear",
            [
                "int",
                "string",
                {
                    "type": "record",
                    "name": "Inner",
                    "fields": [_field("x", "int"), _field("next", ["null", "Inner"], default=None)],
                },
                "double",
                "boolean",
                "Color",
            ],
            default="s",
        ),
        _field("inner", "Inner", default={"x": 1}),
        _field("raw", "bytes", default="ÿ'\""),
        _field("mixedCase", "boolean", default=True),
    ],
}


@pytest.fixture
def made() -> Iterator[Any]:
    """Give a function that makes a module of a schema."""
    before = sys.modules.pop(MODULE, None)

    def make(said: object) -> Any:  # noqa: ANN401  # a module with classes of its own
        module = ModuleType(MODULE)
        sys.modules[MODULE] = module
        exec(compile(generate(parse_avro(said)), MODULE, "exec"), vars(module))
        return module

    yield make
    sys.modules.pop(MODULE, None)
    if before is not None:
        sys.modules[MODULE] = before


def test_a_user_is_made_changed_and_written(made: Any) -> None:  # noqa: ANN401
    kind = made(USER).User
    user = kind(name="Alyssa")
    user.favorite_number = 256
    assert user.favorite_color is None
    assert user.to_avro().hex(" ") == "0c 41 6c 79 73 73 61 00 80 04 02"
    assert kind.from_avro(user.to_avro()) == user
    assert user.to_json() == (
        '{"name": "Alyssa", "favorite_number": {"int": 256}, "favorite_color": null}'
    )
    assert kind.from_json(user.to_json()) == user


def test_a_user_without_a_name_is_refused(made: Any) -> None:  # noqa: ANN401
    kind = made(USER).User
    with pytest.raises(TypeError, match="name"):
        kind()
    for write in (kind(name=None).to_avro, kind(name=None).to_json):
        with pytest.raises(SchemaError, match="VALUE_ENCODE") as caught:
            write()
        assert "at name" in caught.value.fact
    with pytest.raises(SchemaError, match="AVRO_JSON"):
        kind.from_json("{}")
    with pytest.raises(AttributeError):
        kind(name="x").favourite_color = "red"


def test_a_record_written_with_an_older_schema_is_read(made: Any) -> None:  # noqa: ANN401
    old = {**USER, "fields": [_field("name", "string"), _field("age", "int")]}
    new = {**USER, "fields": [_field("name", "string"), _field("size", "double", default=1.5)]}
    kind = made(new).User
    data = DatumWriter(parse_avro(old)).encode({"name": "a", "age": 3})
    assert kind.from_avro(data, written=json.dumps(old)) == kind(name="a", size=1.5)


def test_the_text_is_what_one_would_write() -> None:
    assert generate(parse_avro(USER)).split("\n\n\n", 1)[1] == (
        "@dataclass(slots=True, kw_only=True)\n"
        "class User(AvroRecord):\n"
        '    """The Avro record example.avro.User."""\n'
        "\n"
        "    avro_schema: ClassVar[str] = _SCHEMA\n"
        '    avro_name: ClassVar[str] = "example.avro.User"\n'
        "\n"
        "    name: str\n"
        "    favorite_number: int | None = None\n"
        "    favorite_color: str | None = None\n"
    )


def test_defaults_and_names_are_those_of_the_schema_where_python_allows(made: Any) -> None:  # noqa: ANN401
    module = made(THINGS)
    thing = module.Things(class_=3)
    assert thing.str_ == 'it\'s "so"\n'
    assert thing.field_ == [1, 2]
    assert thing.to_avro_ == {"a": 1.0}
    assert thing.color is module.Color.title_
    assert thing.at == dt.datetime(2017, 7, 14, 2, 40, 0, 123_000, tzinfo=dt.UTC)
    assert thing.day == dt.date(1970, 1, 6)
    assert thing.time == dt.time(1)
    assert thing.nanos == 7
    assert thing.price == Decimal("2.56")
    assert thing.id == UUID(int=0x01010101010101010101010101010101)
    assert thing.doubtful2 == Tagged("int", 7)
    assert thing.clear == "s"
    assert thing.inner == module.Inner(x=1)
    assert thing.raw == b"\xff'\""
    assert module.Things.from_avro(thing.to_avro()) == thing
    assert module.Things.from_json(thing.to_json()) == thing
    assert list(module.Color) == ["RED", "title", "None", "_x_", "mro"]


def test_each_record_has_defaults_of_its_own(made: Any) -> None:  # noqa: ANN401
    module = made(THINGS)
    module.Things(class_=1).field_.append(3)
    assert module.Things(class_=1).field_ == [1, 2]


def test_values_of_all_kinds_go_there_and_back(made: Any) -> None:  # noqa: ANN401
    module = made(THINGS)
    thing = module.Things(
        class_=1,
        Color_=module.Color.RED,
        at=dt.datetime(1969, 1, 1, tzinfo=dt.UTC),
        local=dt.datetime(2020, 1, 2, 3, 4, 5, 6),  # noqa: DTZ001  # a local time has no zone
        price=Decimal("-12.34"),
        doubtful=Tagged("long", 5),
        inner=module.Inner(x=1, next=module.Inner(x=2)),
    )
    for clear in (1, "x", module.Inner(x=4), 2.5, False, module.Color.RED):
        thing.clear = clear
        again = module.Things.from_avro(thing.to_avro())
        assert again == thing
        assert type(again.clear) is type(clear)
        assert module.Things.from_json(thing.to_json()) == thing


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("price", Decimal("1.234")),
        ("price", Decimal("NaN")),
        ("price", Decimal("1E+12")),
        ("day", "today"),
        ("at", dt.datetime(2020, 1, 1)),  # noqa: DTZ001  # the zone is what is missing
        ("color", "BLUE"),
        ("inner", {"x": 1}),
        ("clear", b"x"),
        ("doubtful", 5),
        ("doubtful", Tagged("string", "x")),
        ("field_", 3),
        ("empty", 3),
        ("class_", None),
    ],
)
def test_a_value_that_does_not_fit_is_refused(made: Any, name: str, value: object) -> None:  # noqa: ANN401
    thing = made(THINGS).Things(class_=1)
    setattr(thing, name, value)
    with pytest.raises(SchemaError, match="VALUE_ENCODE"):
        thing.to_avro()


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (_logical("int", "date"), 2**30),
        (_logical("int", "time-millis"), -1),
        (_logical("long", "timestamp-micros"), 2**62),
    ],
)
def test_what_python_has_no_value_for_is_refused(made: Any, type_: object, value: int) -> None:  # noqa: ANN401
    said = {"type": "record", "name": "R", "fields": [_field("a", type_)]}
    kind = made(said).R
    with pytest.raises(SchemaError, match="AVRO_BYTES"):
        kind.from_avro(DatumWriter(parse_avro(said)).encode({"a": value}))
    with pytest.raises(SchemaError, match="AVRO_GENERATE"):
        generate(parse_avro({**said, "fields": [_field("a", type_, default=value)]}))


def test_two_types_of_one_short_name_have_classes_of_their_own(made: Any) -> None:  # noqa: ANN401
    said = {
        "type": "record",
        "name": "a.R",
        "fields": [_field("other", {"type": "record", "name": "b.R", "fields": []})],
    }
    module = made(said)
    both = module.a_R(other=module.b_R())
    assert module.a_R.from_avro(both.to_avro()) == both


def test_a_class_of_the_users_own_may_stand_on_a_generated_one(made: Any) -> None:  # noqa: ANN401
    kind = made(USER).User

    class Mine(kind):  # type: ignore[misc, valid-type]
        """Has a greeting."""

        def greeting(self) -> str:
            return f"Hello, {self.name}"

    assert Mine.from_avro(kind(name="Ada").to_avro()).greeting() == "Hello, Ada"


@pytest.mark.parametrize("said", [USER, THINGS])
@pytest.mark.parametrize("order", [["check"], ["format", "--check"]])
def test_the_text_is_as_our_own_is(said: object, order: list[str]) -> None:
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.exists():
        pytest.skip("the linter is not here")
    name = Path(record.__file__).with_name("generated.py")
    done = subprocess.run(
        [ruff, *order, "--stdin-filename", name, "-"],
        input=generate(parse_avro(said)),
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_text_passes_the_strictest_check_of_types(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    files = []
    for name, said in (("user", USER), ("things", THINGS)):
        files.append(tmp_path / f"{name}.py")
        files[-1].write_text(generate(parse_avro(said)))
    limit = sys.getrecursionlimit()
    try:
        told, _, status = api.run(["--strict", "--cache-dir", str(tmp_path), *map(str, files)])
    finally:
        # mypy raises it for its whole process, and other tests want to reach it.
        sys.setrecursionlimit(limit)
    assert status == 0, told


def test_a_schema_without_a_record_makes_no_class() -> None:
    with pytest.raises(SchemaError, match="AVRO_GENERATE"):
        generate(parse_avro('"int"'))

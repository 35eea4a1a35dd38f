from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Cli

USER: dict[str, Any] = {
    "type": "record",
    "name": "User",
    "namespace": "shop",
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "visits", "type": "int"},
        {"name": "referrer", "type": ["null", "string"], "default": None},
        {
            "name": "address",
            "type": {
                "type": "record",
                "name": "Address",
                "fields": [{"name": "city", "type": "string"}],
            },
        },
    ],
}
ORDER = 'syntax = "proto3"; message Order { int64 id = 1; oneof pay { string card = 2; } }'
ITEM = '{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}'


def written(name: str, schema: object) -> str:
    """A file in the working directory of the test."""
    Path(name).write_text(schema if isinstance(schema, str) else json.dumps(schema))
    return name


def changed(*fields: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """The user with other fields instead of all but the first."""
    return {**USER, "fields": [USER["fields"][0], *fields]}


@pytest.fixture
def users(cli: Cli) -> Cli:
    """A registry with one version of the user."""
    cli.ok("schemas", "register", "users-value", written("user.avsc", USER))
    return cli


def test_there_are_no_schemas_at_first(cli: Cli) -> None:
    assert "there are no schemas yet" in cli.ok("schemas", "list").err
    assert cli.ok("schemas", "list", "--json").json == []


def test_schemas_of_all_languages_are_registered_and_listed(users: Cli) -> None:
    again = users.ok("schemas", "register", "users-value", "user.avsc")
    assert again.err == 'subject "users-value" has it already: version 1, id 1\n'
    users.ok("schemas", "register", "orders-value", written("order.proto", ORDER))
    ran = users.ok("schemas", "register", "items", written("item.json", ITEM), "--json")
    assert ran.json == {"subject": "items", "version": 1, "id": 3}
    assert users.ok("schemas", "list").lines == [
        "subject       type      versions  latest  id  level",
        "items         JSON      1         1       3   BACKWARD",
        "orders-value  PROTOBUF  1         1       2   BACKWARD",
        "users-value   AVRO      1         1       1   BACKWARD",
    ]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.avsc", json.dumps(USER), "AVRO"),
        ("a.json", json.dumps(USER), "AVRO"),
        ("a.json", ITEM, "JSON"),
        ("a.txt", '"string"', "AVRO"),
        ("a.txt", ORDER, "PROTOBUF"),
    ],
)
def test_the_language_is_told_by_the_file(cli: Cli, name: str, text: str, kind: str) -> None:
    cli.ok("schemas", "register", "a", written(name, text))
    assert cli.ok("schemas", "show", "a", "--json").json["type"] == kind


def test_a_schema_can_come_from_stdin_and_its_type_from_an_option(cli: Cli) -> None:
    cli.ok("schemas", "register", "a", "-", "--type", "json", stdin=b'{"type": "string"}')
    assert cli.ok("schemas", "show", "a", "--json").json["type"] == "JSON"


def test_a_schema_is_shown_as_text_that_can_be_registered_again(users: Cli) -> None:
    shown = users.ok("schemas", "show", "users-value")
    assert json.loads(shown.out) == USER
    assert shown.err == ('subject "users-value", version 1 of 1; id 1, AVRO, level BACKWARD\n')
    document = users.ok("schemas", "show", "users-value", "--version", "1", "--json").json
    assert (document["version"], document["versions"], document["id"]) == (1, [1], 1)
    users.ok("schemas", "register", "orders-value", written("order.proto", ORDER))
    assert users.ok("schemas", "show", "orders-value").lines[0] == 'syntax = "proto3";'


def test_references_are_given_by_name(cli: Cli) -> None:
    cli.ok(
        "schemas", "register", "address", written("a.proto", "message A { optional int32 x = 1; }")
    )
    text = 'import "a.proto"; message M { optional A a = 1; }'
    file = written("m.proto", text)
    refused = cli("schemas", "register", "m", file)
    assert refused.code == 1
    assert "[SCHEMA_TEXT]" in refused.err
    cli.ok("schemas", "register", "m", file, "--reference", "a.proto=address:1")
    assert 'a.proto is version 1 of "address"' in cli.ok("schemas", "show", "m").err
    ran = cli("schemas", "register", "m", file, "--reference", "a.proto=address")
    assert (ran.code, "[REFERENCE_FORMAT]" in ran.err) == (2, True)


def test_check_says_who_is_broken_and_why(users: Cli) -> None:
    fine = users.ok("schemas", "check", "users-value", "user.avsc")
    assert fine.lines == [
        'compatible: checked against 1 version of subject "users-value" at level BACKWARD'
    ]
    worse = changed({"name": "visits", "type": "string"}, {"name": "country", "type": "string"})
    ran = users("schemas", "check", "users-value", written("worse.avsc", worse))
    assert ran.code == 1
    assert ran.lines == [
        "readers with the new schema cannot read data of version 1:",
        "  visits: the reader takes string where int is written, and one is not the other",
        '  country: the reader needs the field "country", which is not written and has no default;'
        " give it a default, or write it",
    ]


def test_check_looks_both_ways_where_the_level_does(users: Cli) -> None:
    inner = {"type": "record", "name": "Address", "fields": [{"name": "city", "type": "int"}]}
    other = changed(*USER["fields"][1:3], {"name": "address", "type": inner})
    file = written("other.avsc", other)
    ran = users("schemas", "check", "users-value", file, "--level", "full", "--json")
    assert ran.code == 1
    assert ran.json["compatible"] is False
    assert [one["direction"] for one in ran.json["problems"]] == ["backward", "forward"]
    assert ran.json["problems"][1]["breaks"] == (
        "readers with version 1 cannot read data of the new schema"
    )
    assert ran.json["problems"][1]["reasons"][0].startswith("address.city: ")
    assert users("schemas", "check", "users-value", file, "--level", "NONE").code == 0
    wrong = users("schemas", "check", "users-value", file, "--level", "FULLY")
    assert "[LEVEL_NAME]" in wrong.err


def test_a_schema_that_breaks_readers_is_not_registered(users: Cli) -> None:
    file = written("worse.avsc", changed({"name": "visits", "type": "string"}))
    ran = users("schemas", "register", "users-value", file)
    assert ran.code == 1
    assert ran.out == ""
    assert "  visits: the reader takes string where int is written" in ran.err
    assert "error [SCHEMA_INCOMPATIBLE]" in ran.err
    assert users.ok("schemas", "list", "--json").json[0]["versions"] == 1


def test_another_language_is_no_next_version(users: Cli) -> None:
    ran = users("schemas", "check", "users-value", written("o.proto", ORDER))
    assert ran.code == 1
    assert ran.lines[1] == "  the new schema is PROTOBUF, and version 1 AVRO"
    differing = users("schemas", "diff", "users-value", "o.proto")
    assert "[SCHEMA_LANGUAGES]" in differing.err


def test_all_languages_are_checked_in_words(cli: Cli) -> None:
    cli.ok("schemas", "register", "o", written("o.proto", ORDER))
    cli.ok("schemas", "register", "i", written("i.json", ITEM))
    order = cli("schemas", "check", "o", written("o2.proto", ORDER.replace("int64", "string")))
    assert order.lines[1] == "  message Order: field id = 1 was int64 and is string"
    item = cli("schemas", "check", "i", written("i2.json", ITEM.replace("string", "integer")))
    assert item.lines[1] == "  #/properties/a: string became integer"


def test_diff_shows_fields_in_words(cli: Cli, users: Cli) -> None:
    later = changed(
        {"name": "visits", "type": "long"},
        {"name": "country", "type": ["null", "string"], "default": None},
        {**USER["fields"][3], "name": "home", "aliases": ["address"]},
    )
    users.ok("schemas", "register", "users-value", written("later.avsc", later))
    expected = [
        "changed  visits: int -> long",
        "removed  referrer: null or string, default null",
        "renamed  address -> home",
        "removed  address.city: string",
        "added    country: null or string, default null",
        "added    home.city: string",
    ]
    assert users.ok("schemas", "diff", "users-value", "1", "2").lines == expected
    assert users.ok("schemas", "diff", "users-value", "1").lines == expected
    assert users.ok("schemas", "diff", "users-value", "user.avsc").lines[0] == (
        "changed  visits: long -> int"
    )
    found = users.ok("schemas", "diff", "users-value", "1", "later.avsc", "--json").json
    assert found[0] == {"what": "changed", "field": "visits", "before": "int", "after": "long"}
    assert "no field differs" in users.ok("schemas", "diff", "users-value", "2").err


def test_diff_knows_all_languages(cli: Cli) -> None:
    more = ORDER.replace("string card = 2;", "string card = 2; bool cash = 3;")
    cli.ok("schemas", "register", "o", written("o.proto", ORDER))
    assert cli.ok("schemas", "diff", "o", written("o2.proto", more)).lines == [
        "changed  Order.card: string = 2 -> string = 2 of oneof pay",
        "added    Order.cash: bool = 3 of oneof pay",
    ]
    cli.ok("schemas", "register", "i", written("i.json", ITEM))
    other = json.loads(ITEM)
    other["properties"] = {
        "a": {"enum": ["x", 1]},
        "b": {"type": "array", "items": {"properties": {"c": {"type": ["string", "null"]}}}},
    }
    other["required"] = ["a"]
    assert cli.ok("schemas", "diff", "i", written("i2.json", other)).lines == [
        'changed  a: string, may be missing -> one of "x", 1, required',
        "added    b: array of object, may be missing",
        "added    b[].c: string or null, may be missing",
    ]


def test_evolve_makes_checks_and_registers_the_next_version(users: Cli) -> None:
    words = ["--add", "country string", "--drop", "referrer", "--rename", "name=full_name"]
    words += [
        "--widen",
        "visits=bigint",
        "--add",
        "address.zip string",
        "--add",
        "vip boolean default false",
    ]
    ran = users.ok("schemas", "evolve", "users-value", *words)
    assert ran.lines == [
        "renamed  name -> full_name",
        "changed  visits: int -> long",
        "removed  referrer: null or string, default null",
        "added    address.zip: null or string, default null",
        "added    country: null or string, default null",
        "added    vip: boolean, default false",
    ]
    assert ran.err == 'subject "users-value": version 2, id 2\n'
    fields = json.loads(users.ok("schemas", "show", "users-value").out)["fields"]
    assert fields[0] == {"name": "full_name", "type": "string", "aliases": ["name"]}
    assert fields[1] == {"name": "visits", "type": "long"}


def test_evolve_can_only_show_what_it_would_do(users: Cli) -> None:
    ran = users.ok("schemas", "evolve", "users-value", "--drop", "visits", "--dry-run")
    assert ran.lines[0] == "removed  visits: int"
    assert ran.err == "compatible; nothing was registered\n"
    found = users.ok(
        "schemas", "evolve", "users-value", "--add", "n int", "--dry-run", "--json"
    ).json
    assert (found["compatible"], found["version"]) == (True, None)
    assert users.ok("schemas", "list", "--json").json[0]["versions"] == 1


def test_evolve_registers_nothing_that_breaks_readers(users: Cli) -> None:
    users.ok("schemas", "level", "users-value", "FULL")
    ran = users("schemas", "evolve", "users-value", "--drop", "visits")
    assert ran.code == 1
    assert ran.lines[1] == "readers with version 1 cannot read data of the new schema:"
    assert "nothing was registered" in ran.err
    assert users.ok("schemas", "list", "--json").json[0]["versions"] == 1


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        ([], "EVOLVE_NOTHING", "--add"),
        (["--drop", "visit"], "EVOLVE_FIELD", 'Did you mean "visits"?'),
        (["--drop", "name.first"], "EVOLVE_FIELD", "Only a record"),
        (["--add", "name string"], "EVOLVE_FIELD", "another name"),
        (["--add", "name"], "EVOLVE_FORMAT", "name and type"),
        (["--add", "a strin"], "TYPE_TEXT", 'Did you mean "string"?'),
        (["--add", "a string default }"], "EVOLVE_FORMAT", "default"),
        (["--add", "a-b string"], "AVRO_NAME", "Rename it"),
        (["--rename", "name"], "EVOLVE_FORMAT", "OLD=NEW"),
        (["--rename", "name=visits"], "EVOLVE_FIELD", "another name"),
        (["--widen", "visits=string"], "EVOLVE_WIDEN", "It can become: long, float, double."),
        (["--widen", "address=string"], "EVOLVE_WIDEN", "cannot be widened"),
    ],
)
def test_a_change_that_cannot_be_is_refused_with_a_hint(
    users: Cli, words: list[str], code: str, hint: str
) -> None:
    ran = users("schemas", "evolve", "users-value", *words)
    assert ran.code in (1, 2)
    assert f"error [{code}]" in ran.err
    assert hint in ran.err


def test_only_records_of_avro_are_evolved_and_generated(cli: Cli) -> None:
    cli.ok("schemas", "register", "o", written("o.proto", ORDER))
    cli.ok("schemas", "register", "s", written("s.avsc", '"string"'))
    for subject in ("o", "s"):
        assert "[EVOLVE_TYPE]" in cli("schemas", "evolve", subject, "--drop", "a").err
    assert "[GENERATE_TYPE]" in cli("schemas", "generate", "o").err


def test_classes_are_generated_from_a_subject_or_a_file(users: Cli) -> None:
    text = users.ok("schemas", "generate", "users-value").out
    assert "class User(" in text
    assert users.ok("schemas", "generate", "user.avsc").out == text
    assert users.ok("schemas", "generate", "users-value", "-o", "user.py").out == ""
    assert Path("user.py").read_text() == text


def test_the_level_is_shown_and_set_for_one_or_all(users: Cli) -> None:
    assert users.ok("schemas", "level").lines == ["BACKWARD"]
    assert users.ok("schemas", "level", "FULL").lines == ["FULL"]
    assert users.ok("schemas", "level", "users-value").lines == ["FULL"]
    assert users.ok("schemas", "level", "users-value", "none", "--json").json == {
        "subject": "users-value",
        "level": "NONE",
    }
    assert users.ok("schemas", "level", "other").lines == ["FULL"]


def test_deleting_asks_and_can_be_for_now_or_for_ever(users: Cli) -> None:
    users.ok("schemas", "evolve", "users-value", "--add", "a int")
    users.ok("schemas", "evolve", "users-value", "--add", "b int")
    assert "[CONFIRMATION_NEEDED]" in users("schemas", "delete", "users-value").err
    users.ok("schemas", "delete", "users-value", "--version", "latest", "--yes")
    users.ok("schemas", "delete", "users-value", "--version", "1", "--permanent", "--yes")
    assert users.ok("schemas", "show", "users-value", "--json").json["versions"] == [2]
    missing = users("schemas", "delete", "users-value", "--version", "9", "--yes")
    assert "[VERSION_MISSING]" in missing.err
    assert users.ok("schemas", "delete", "users-value", "--yes").err == (
        'subject "users-value": 1 version deleted\n'
    )
    assert users.ok("schemas", "list", "--json").json == []
    users.ok("schemas", "delete", "users-value", "--permanent", "--yes")
    assert "[SUBJECT_MISSING]" in users("schemas", "delete", "users-value", "--permanent").err


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["show", "user-value"], "SUBJECT_MISSING", 'Did you mean "users-value"?'),
        (["show", "users-value", "--version", "7"], "VERSION_MISSING", "penstock schemas show"),
        (["show", "users-value", "--version", "first"], "VERSION_FORMAT", "latest"),
        (["diff", "users-value", "first"], "VERSION_FORMAT", "path of a file"),
        (["diff", "nothing", "1"], "SUBJECT_MISSING", "The subjects: users-value."),
        (["register", "a", "usr.avsc"], "SCHEMA_FILE", 'Did you mean "user.avsc"?'),
        (["register", "a", "none/at.all"], "SCHEMA_FILE", "stdin"),
        (["register", "a", "user.avsc", "--type", "avr"], "SCHEMA_TYPE", 'Did you mean "AVRO"?'),
        (["check", "user-value", "user.avsc"], "SUBJECT_MISSING", 'Did you mean "users-value"?'),
        (["check", "users-value", "user.avsc", "--type", "JSON"], "SCHEMA_TEXT", ""),
    ],
)
def test_wrong_input_is_refused_with_a_hint(
    users: Cli, words: list[str], code: str, hint: str
) -> None:
    ran = users("schemas", *words)
    assert ran.code in (1, 2)
    assert f"error [{code}]" in ran.err
    assert hint in ran.err

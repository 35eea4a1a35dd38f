"""Seven levels over thirty changes: our verdicts, and those of two other libraries."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.schema import parse

from penstock.errors import RegistryError
from penstock.schema.codec.schemas import SchemaText
from penstock.schema.language import SchemaSource
from penstock.schema.registry.avro_language import AVRO
from penstock.schema.registry.level import LEVELS, Earlier, Level, level_named, objections
from tests.schema.registry.kit import a_registry
from tests.schema.registry.pairs import CHANGES, Change, field, record

BY_NAME = pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)

# Python's Avro does not look at the aliases of records.
JUDGED_BY_PYTHON = [change for change in CHANGES if "a record is renamed and" not in change.name]


def verdict(level: Level, change: Change) -> bool:
    """What a level makes of the two directions of a change."""
    return {
        "NONE": True,
        "BACKWARD": change.backward,
        "FORWARD": change.forward,
        "FULL": change.backward and change.forward,
    }[level.removesuffix("_TRANSITIVE")]


def accepted(level: Level, *texts: str) -> bool:
    *before, new = [SchemaSource(text) for text in texts]
    earlier = [Earlier(number, "AVRO", source) for number, source in enumerate(before, 1)]
    return not objections(level, AVRO, new, earlier)


@pytest.mark.parametrize("level", LEVELS)
@BY_NAME
def test_every_level_judges_every_change(level: Level, change: Change) -> None:
    assert accepted(level, *change.texts) is verdict(level, change)


@pytest.mark.parametrize("level", [level for level in LEVELS if level != "NONE"])
def test_only_transitive_levels_look_past_the_last_version(level: Level) -> None:
    # Each step is fine both ways; the first and the last version are not.
    steps = [
        json.dumps(record(field("a", "string"))),
        json.dumps(record()),
        json.dumps(record(field("a", "int"))),
    ]
    steps_full = [
        json.dumps(record(field("a", "string", default="x"))),
        json.dumps(record()),
        json.dumps(record(field("a", "int", default=1))),
    ]
    if level.startswith(("FULL", "BACKWARD")):
        steps = steps_full
    assert accepted(level, *steps[1:])
    assert accepted(level, *steps) is not level.endswith("_TRANSITIVE")


def test_a_registry_goes_by_the_level_of_the_subject() -> None:
    registry = a_registry()
    for number, change in enumerate(CHANGES):
        old, new = (SchemaText(text) for text in change.texts)
        for level in LEVELS:
            subject = f"{number}-{level}"
            registry.set_level(subject, level)
            registry.register(subject, old)
            if verdict(level, change):
                registry.register(subject, new)
            else:
                with pytest.raises(RegistryError, match="SCHEMA_INCOMPATIBLE"):
                    registry.register(subject, new)


@pytest.mark.parametrize("change", JUDGED_BY_PYTHON, ids=lambda change: change.name)
def test_pythons_avro_says_the_same(change: Change) -> None:
    old, new = (parse(text) for text in change.texts)
    assert _reads(new, old) is change.backward
    assert _reads(old, new) is change.forward


@pytest.mark.spark
@pytest.mark.skipif(shutil.which("java") is None, reason="Java's Avro needs Java")
def test_javas_avro_says_the_same_and_writes_schemas_as_we_do() -> None:
    found = _asked_java(CHANGES)
    for change, told in zip(CHANGES, found, strict=True):
        assert (told["backward"], told["forward"]) == (change.backward, change.forward), change.name
        assert AVRO.canonical(SchemaSource(change.texts[1])) == told["text"]


def test_a_level_is_named_in_any_case_and_a_misspelt_one_corrected() -> None:
    assert level_named("full_transitive") == "FULL_TRANSITIVE"
    with pytest.raises(RegistryError, match="LEVEL_NAME") as caught:
        level_named("BACKWORD")
    assert caught.value.hint == 'Did you mean "BACKWARD"?'


def test_a_schema_of_another_language_fits_only_where_nothing_is_asked() -> None:
    earlier = [Earlier(1, "JSON", SchemaSource("{}"))]
    new = SchemaSource('"string"')
    assert objections("NONE", AVRO, new, earlier) == ()
    assert "JSON" in objections("BACKWARD", AVRO, new, earlier)[0]


def _reads(reader: Any, writer: Any) -> bool:  # noqa: ANN401  # the judge's own
    checker = ReaderWriterCompatibilityChecker()  # type: ignore[no-untyped-call]  # not typed there
    found = checker.get_compatibility(reader, writer)
    return bool(found.compatibility is SchemaCompatibilityType.compatible)


def _asked_java(changes: tuple[Change, ...]) -> list[dict[str, Any]]:
    import pyspark  # noqa: PLC0415  # only for its jars

    jars = Path(str(pyspark.__file__)).parent / "jars"
    judge = Path(__file__).with_name("LevelJudge.java")
    questions = [dict(zip(("old", "new"), change.texts, strict=True)) for change in changes]
    answered = subprocess.run(
        ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", str(judge)],
        input="".join(json.dumps(question) + "\n" for question in questions),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return [json.loads(line) for line in answered.stdout.splitlines()]

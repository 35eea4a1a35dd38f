from __future__ import annotations

import re
from pathlib import Path

from tests.house.survey import ROOT, table, tracked_files

LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)")
COVERAGE = ROOT / "docs" / "coverage.md"

# What each issue that is done was asked for.
LOG = (
    *(f"A{n:02}" for n in range(1, 66)),
    *(f"H{n}" for n in range(14, 19)),
)
HOUSE = ("house", "setup", "make", "demo", "doctor", "configuration", "cli", "errors", "start-up")
SCHEMAS = (
    *(f"B{n:02}" for n in range(1, 23)),
    *("dead letters", "registry", "state evolution", "licences"),
)
SPARK = ("source", "batch read", "sink", "session", "cluster")
MODEL = (
    *(f"C{n:02}" for n in range(1, 57)),
    *(f"D{n:02}" for n in range(1, 41)),
)
TABLES = (
    *(f"E{n:02}" for n in (*range(1, 8), 9, *range(15, 22), 31)),
    *("I03", "J05", "J07", "J08", "J09", "K15"),
)
PLANS = tuple(f"G{n:02}" for n in range(1, 12))
JOBS = (
    *("job", "job verbs", "moving jobs", "copies", "leaving", "host", "supervisor"),
    *("E30", "E32", "G23", "G24", "G25", "G26", "G27"),
    *("H01", "H02", "H03", "H04", "H05", "H06", "H07", "H08", "H09"),
    *("H10", "H11", "H12", "H13", "H20", "H21", "H22", "H23"),
)
UPGRADES = ("upgrades", "takeover", "H19", "J23")
WATCHING = ("alerts", "metrics", "lineage", "operations", "L03", "L06", "L11")
PLATFORM = (
    *("queries", "J06", "J12"),
    *("window view", "workbench", "L05", "L10"),
    *("live", "notebook", "L04"),
    *("projects", "I14", "J01", "K04", "K05", "K13", "K22", "L01", "L02", "L09"),
    *("web pages", "L07"),
    *("server", "access", "requests"),
)
EXAMPLES = ("documentation", "mistakes", "E28", "K01", "K02", "K03", "L08")
SQL = ("E24", *(f"F{n:02}" for n in range(1, 21)))
PROOF = ("faults", "bad input", "speed", "nexmark", "conformance", "port", "wake-up")
KAFKA_LOG = (
    *("kafka log", "kafka secrets", "I01", "kafka equality", "kafka lag", "kafka ledger"),
    *("kafka no jar", "kafka export", "kafka offsets", "mirror", "migrate"),
)
KAFKA = ("brokers", "storm", "clients", *KAFKA_LOG)
ITEMS = (
    *HOUSE,
    *LOG,
    *SCHEMAS,
    *SPARK,
    *MODEL,
    *TABLES,
    *PLANS,
    *JOBS,
    *UPGRADES,
    *WATCHING,
    *PLATFORM,
    *EXAMPLES,
    *SQL,
    *PROOF,
    *KAFKA,
)


def broken_links(document: Path) -> list[str]:
    targets = LINK.findall(document.read_text())
    return [target for target in targets if not (document.parent / target).exists()]


def complete(row: tuple[str, ...]) -> bool:
    """Whether a row of the coverage says what, names a module and names a test."""
    _, promise, where, test, _ = row
    return bool(promise) and "`" in where and "`tests/" in test


def missing_files(row: tuple[str, ...]) -> list[str]:
    """The files and the tests in them that a row of the coverage names and that are not there."""
    names = [name for cell in row[2:] for name in re.findall(r"`([^`\s]+)`", cell)]
    return [name for name in names if not is_there(name)]


def is_there(name: str) -> bool:
    """Whether a file exists, and in it the test that may follow after two colons."""
    file, _, test = name.partition("::")
    path = ROOT / file
    return path.exists() and (not test or f"def {test}(" in path.read_text())


def test_the_glossary_is_in_order_and_every_word_has_one_meaning() -> None:
    rows = table(ROOT / "docs" / "glossary.md")
    words = [row[0] for row in rows]
    assert len(words) > 30
    assert sorted(set(words)) == words
    assert [row for row in rows if len(row) != 2 or not row[1]] == []


def test_every_link_inside_the_house_leads_somewhere() -> None:
    documents = [file for file in tracked_files() if file.suffix == ".md"]
    assert documents
    assert {file.name: broken for file in documents if (broken := broken_links(file))} == {}


def test_the_coverage_lists_what_was_asked_for_and_nothing_twice() -> None:
    assert [row[0] for row in table(COVERAGE)] == list(ITEMS)


def test_what_was_asked_for_has_a_place_and_a_test() -> None:
    assert [row[0] for row in table(COVERAGE) if not complete(row)] == []
    assert [name for row in table(COVERAGE) for name in missing_files(row)] == []


def test_a_broken_link_and_a_missing_file_are_found(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text("[a](a.md) [b](b.md#part) [c](https://example.org/x) [d](#d)\n")
    assert broken_links(document) == ["b.md"]
    assert not complete(("A01", "x", "`Makefile`", "—", ""))
    here = f"tests/house/{Path(__file__).name}"
    cell = f"`tests/none.py::test_x`, `{here}::test_none`, `{here}::is_there`, `{here}`"
    assert missing_files(("A01", "x", "`Makefile`", cell)) == [
        "tests/none.py::test_x",
        f"{here}::test_none",
    ]

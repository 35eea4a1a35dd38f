"""The reference of the language, as a page of text, made of the grammar and the registries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from penstock.front.sql.create_function import OF_FUNCTIONS
from penstock.front.sql.grammar_text import rule_names, rule_text, statement_names
from penstock.front.sql.lex_words import RESERVED, keywords
from penstock.front.sql.properties import OF_INSERTS, OF_QUERIES, OF_SOURCES
from penstock.sql.reference_words import PROPERTIES, SECTIONS, STATEMENTS, TYPES, Page
from penstock.sql.setting import SETTINGS

_WIDTH = 96
_HEAD = """\
# The language of SQL

Written by `penstock.sql.reference` from the grammar and the registries; every example is run, or
read, as a test. [docs/sql.md](sql.md) tells how to use it, [sql-functions.md](sql-functions.md)
lists the functions.

Words in capital letters are keywords, in any case; words in small letters are explained below or
are rules of their own. `[x]` may be left out, `x*` is there any number of times, `x+` at least
once, `x | y` is one of both. A name is in capitals unless it is in quotes. `--` begins a comment
to the end of the line, `/* */` encloses one. A statement ends with `;`.
"""


def reference() -> Iterator[str]:
    """Give the lines of the page."""
    yield from _HEAD.splitlines()
    yield from _heading("Statements")
    for name in ("query_statement", *(it for it in statement_names() if it != "query")):
        page = STATEMENTS[name]
        yield from _heading(_title(name), "###")
        yield from _wrapped(page.says)
        rule = "query" if name == "query_statement" else name
        yield from _rules([rule] if rule != "query" else [])
        yield from _examples(page)
    yield from _heading("Parts of statements", "###")
    shown = {"statement", *statement_names()}
    yield from _rules(name for name in rule_names("statements") if name not in shown)
    for section, page in SECTIONS.items():
        yield from _heading(section.capitalize())
        yield from _wrapped(page.says)
        yield from _rules(rule_names(section))
        yield from _examples(page)
    yield from _tables()


def _title(name: str) -> str:
    words = {"query_statement": "query", "drop_named": "drop type or function"}
    return words.get(name, name.replace("_", " ")).upper()


def _heading(title: str, mark: str = "##") -> Iterator[str]:
    yield from ("", f"{mark} {title}", "")


def _wrapped(text: str) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > _WIDTH:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    yield line


def _rules(names: Iterable[str]) -> Iterator[str]:
    lines = [line for name in names for line in _rule(name)]
    if lines:
        yield from ("", "```ebnf", *lines, "```")


def _rule(name: str) -> Iterator[str]:
    first, *others = rule_text(name).splitlines()
    yield from _broken(f"{name} = {first}")
    for other in others:
        yield from _broken(f"    {other}")


def _broken(line: str) -> Iterator[str]:
    """Give a long line in several."""
    while len(line) > _WIDTH:
        place = line.rfind(" ", 0, _WIDTH)
        yield line[:place]
        line = f"        {line[place + 1 :]}"
    yield line


def _examples(page: Page) -> Iterator[str]:
    if page.examples:
        yield from ("", "```sql", *_lines(page.examples), "```")
    if page.read_only:
        yield from ("", "```sql", *_lines(page.read_only), "```")


def _lines(examples: Iterable[str]) -> Iterator[str]:
    for example in examples:
        yield from example.splitlines()


def _tables() -> Iterator[str]:
    yield from _heading("Types")
    yield from _table(("type", "is"), {f"`{name}`": says for name, says in TYPES.items()})
    yield from _heading("Properties")
    yield from _wrapped("What WITH (...) can say, of sources, of results, and of functions.")
    yield ""
    rows = {f"`{name}`": f"{says} | {_places(name)}" for name, says in PROPERTIES.items()}
    yield from _table(("property", "says", "of"), rows)
    yield from _heading("Settings")
    settings = {
        f"`{name}`": f"{it.meaning} | {', '.join(it.choices)} | {it.default}"
        for name, it in sorted(SETTINGS.items())
    }
    yield from _table(("setting", "says", "can be", "is, if not set"), settings)
    yield from _heading("Keywords")
    yield from _wrapped("These are names only in quotes:")
    yield ""
    yield from _wrapped(", ".join(sorted(RESERVED)) + ".")
    yield ""
    yield from _wrapped("These are keywords where one can stand, and names elsewhere:")
    yield ""
    yield from _wrapped(", ".join(sorted(keywords() - RESERVED)) + ".")


def _places(name: str) -> str:
    places = {
        "sources": OF_SOURCES,
        "results": OF_QUERIES,
        "inserts": OF_INSERTS,
        "functions": OF_FUNCTIONS,
    }
    return ", ".join(place for place, known in places.items() if name in known)


def _table(heads: tuple[str, ...], rows: Mapping[str, str]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for first, others in rows.items():
        yield f"| {first} | {others} |"

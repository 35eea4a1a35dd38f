"""Dashboards as files, written by hand or by pages: `dashboards/NAME.toml` of a project."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args

from penstock.errors import ConfigError, PenstockError, did_you_mean
from penstock.model.duration import duration_of

Kind: TypeAlias = Literal["number", "table", "line", "bar", "map"]
Mode: TypeAlias = Literal["pull", "push"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MODES: tuple[Mode, ...] = get_args(Mode)
COLUMNS = 12
"""How many columns the grid of a dashboard has."""

_TALLEST, _MOST_KEPT, _LONGEST_NAME = 12, 10_000, 64
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_PLACE = re.compile(r"\(at line (\d+), column \d+\)")
_TOP = ("title", "refresh", "panels")
_FASTEST, _SLOWEST = 0.5, 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A query and how it is shown.

    A `pull` query is asked again at every refresh; a `push` query is followed, and its last
    `keep` rows are shown. Columns that are not named are chosen by what is in them.
    """

    title: str = ""
    kind: Kind = "table"
    query: str = ""
    mode: Mode = "pull"
    x: str = ""
    y: tuple[str, ...] = ()
    split: str = ""
    latitude: str = ""
    longitude: str = ""
    size: str = ""
    unit: str = ""
    keep: int = 500
    width: int = 6
    height: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """Panels in the order of the page; `refresh` is in seconds."""

    name: str
    title: str = ""
    refresh: float = 2.0
    panels: tuple[Panel, ...] = field(default=())

    @property
    def heading(self) -> str:
        """What stands above it."""
        return self.title or self.name


def require_dashboard_name(name: str) -> str:
    """Give a name that a dashboard can have: it is that of a file."""
    if len(name) <= _LONGEST_NAME and _NAME.fullmatch(name):
        return name
    raise ConfigError(
        "DASHBOARD_NAME",
        f'a dashboard cannot be called "{name[:_LONGEST_NAME]}"',
        hint=f"Use up to {_LONGEST_NAME} letters, digits, underscores and hyphens.",
    )


def read_dashboard(name: str, text: str, file: str) -> Dashboard:
    """Read the text of a file; what is wrong is told with the file and the line."""
    source = _Source(text, file)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        why = _PLACE.sub("", str(error)).strip()
        line = int(place[1]) if place else text.count("\n") + 1
        raise source.wrong(line, f"is no TOML: {why}", "Correct the line.") from error
    for word in document:
        if word not in _TOP:
            hint = did_you_mean(word, _TOP) or f"There are: {', '.join(_TOP)}."
            raise source.wrong(source.line(word), f'has "{word}", which does not exist', hint)
    panels = document.get("panels", [])
    if not isinstance(panels, list) or not all(isinstance(item, dict) for item in panels):
        hint = "Begin each panel with [[panels]]."
        raise source.wrong(source.line("panels"), "has panels that are no tables", hint)
    return Dashboard(
        name=name,
        title=_text(source, None, "title", document.get("title", "")),
        refresh=_refresh(source, document.get("refresh", 2.0)),
        panels=tuple(_panel(source, number, item) for number, item in enumerate(panels)),
    )


def dashboard_text(dashboard: Dashboard) -> str:
    """Write a dashboard as a file has it; only what differs from the default is said."""
    lines = [f"title = {_quoted(dashboard.heading)}", f"refresh = {dashboard.refresh:g}"]
    for panel in dashboard.panels:
        lines += ["", "[[panels]]", *_panel_lines(panel)]
    return "\n".join(lines) + "\n"


def _panel_lines(panel: Panel) -> Iterator[str]:
    default = Panel()
    for item in fields(Panel):
        value = getattr(panel, item.name)
        if value != getattr(default, item.name) or item.name in {"kind", "width", "height"}:
            yield f"{item.name} = {_value(value)}"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_quoted(str(item)) for item in value)}]"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    """Write a text; a query over several lines stays readable."""
    if "\n" in text and "'''" not in text and not _has_controls(text):
        return f"'''\n{text}'''"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(_escaped(letter) for letter in escaped) + '"'


def _has_controls(text: str) -> bool:
    return any(ord(letter) < ord(" ") and letter not in "\n\t" for letter in text)


def _escaped(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if ord(letter) < ord(" ") or ord(letter) == 0x7F else letter  # noqa: PLR2004


@dataclass(frozen=True, slots=True)
class _Source:
    """The text of a file, to say where something in it is."""

    text: str
    file: str

    def line(self, word: str, panel: int | None = None) -> int:
        """Give the line of a word, counted from 1: of a panel, or of the file's head."""
        at = -1
        for number, line in enumerate(self.text.splitlines(), 1):
            if line.strip().startswith("[[panels]]"):
                at += 1
                if at == panel:
                    first = number
            elif at == (-1 if panel is None else panel) and re.match(
                rf"\s*\"?{re.escape(word)}\"?\s*=", line
            ):
                return number
        return first if panel is not None and at >= panel else 1

    def wrong(self, line: int, why: str, hint: str) -> ConfigError:
        """Give the error about a line."""
        return ConfigError("DASHBOARD_FILE", f'"{self.file}" line {line} {why}', hint=hint)


def _panel(source: _Source, number: int, table: Mapping[str, object]) -> Panel:
    known = [item.name for item in fields(Panel)]
    said: dict[str, Any] = {}
    for word, value in table.items():
        if word not in known:
            hint = did_you_mean(word, known) or f"There are: {', '.join(known)}."
            line = source.line(word, number)
            raise source.wrong(line, f'has "{word}", which does not exist', hint)
        said[word] = _read(source, number, word, value)
    if not said.get("query", "").strip():
        line = source.line("query", number)
        hint = 'Write query = "SELECT ...".'
        raise source.wrong(line, "begins a panel without a query", hint)
    return Panel(**said)


def _read(source: _Source, panel: int, word: str, value: object) -> object:
    choices = {"kind": KINDS, "mode": MODES}.get(word)
    if choices is not None:
        found = _text(source, panel, word, value)
        if found not in choices:
            hint = did_you_mean(found, choices) or f"There are: {', '.join(choices)}."
            raise source.wrong(source.line(word, panel), f'has {word} = "{found}"', hint)
        return found
    most = {"width": COLUMNS, "height": _TALLEST, "keep": _MOST_KEPT}.get(word)
    if most is not None:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            hint = f"Give a number from 1 to {most}."
            raise source.wrong(source.line(word, panel), f"has {word} = {value!r}", hint)
        return value
    if word == "y":
        found_names = [value] if isinstance(value, str) else value
        if isinstance(found_names, list) and all(isinstance(item, str) for item in found_names):
            return tuple(found_names)
        hint = 'Give the name of a column, or several: y = ["views", "users"].'
        raise source.wrong(source.line(word, panel), f"has y = {value!r}", hint)
    return _text(source, panel, word, value)


def _text(source: _Source, panel: int | None, word: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise source.wrong(source.line(word, panel), f"has {word} = {value!r}", "Give a text.")


def _refresh(source: _Source, value: Any) -> float:  # noqa: ANN401  # whatever the file holds
    try:
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        seconds = float(value) if plain else duration_of(value).total_seconds()
    except PenstockError:
        seconds = -1.0
    if _FASTEST <= seconds <= _SLOWEST:
        return seconds
    hint = 'Give seconds from 0.5 to 3600, or a text such as "5s".'
    raise source.wrong(source.line("refresh"), f"has refresh = {value!r}", hint)

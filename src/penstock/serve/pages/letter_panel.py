"""One dead letter, whole: the cause, the record as it was, and what could be read of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from nicegui import ui

from penstock.jobs.dead_letters import Letter
from penstock.text.byte_text import line_text
from penstock.text.times import time_text

_A_LINE: Final = 16
_MOST_BYTES: Final = 2048


def letter_panel(letter: Letter) -> None:
    """Show a letter."""
    source = letter.source
    with ui.element("h2"):
        ui.label(letter.reason).classes("ps-wrap")
    ui.label(letter.error).classes("ps-wrap ps-bad")
    facts = [("Step", f"{letter.step} {letter.site}".strip())]
    if source.offset is not None:
        facts.append(("Record", f"{source.topic}-{source.partition} at offset {source.offset}"))
    if letter.timestamp is not None:
        facts.append(("Timestamp", time_text(letter.timestamp)))
    if letter.key is not None:
        facts.append(("Key", line_text(letter.key)))
    facts += [(f"Header {name}", line_text(value)) for name, value in letter.headers]
    with ui.element("dl").classes("ps-facts"):
        for name, value in facts:
            with ui.element("dt"):
                ui.label(name)
            with ui.element("dd"):
                ui.label(value).classes("ps-wrap ps-mono")
    if letter.row is not None:
        _part("Row", _pretty(letter.row))
    if letter.raw is not None:
        _part(f"Value, {len(letter.raw):,} bytes", _pretty(line_text(letter.raw)))
        _part("Bytes", "\n".join(_hexadecimal(letter.raw[:_MOST_BYTES])), "ps-hex")
    if letter.traceback:
        with ui.expansion("Traceback"), ui.element("pre").classes("ps-code"):
            ui.label(letter.traceback)


def _part(name: str, text: str, how: str = "") -> None:
    with ui.element("h3"):
        ui.label(name)
    with ui.element("pre").classes(f"ps-code {how}"):
        ui.label(text)


def _pretty(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def _hexadecimal(data: bytes) -> Iterator[str]:
    for start in range(0, len(data), _A_LINE):
        some = data[start : start + _A_LINE]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in some)  # noqa: PLR2004
        yield f"{start:06x}  {some.hex(' '):<47}  {shown}"

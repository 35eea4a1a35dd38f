from __future__ import annotations

import os
import re
from typing import Any

from penstock.app import App
from tests.house.survey import ROOT, table

PAGE = ROOT / "docs" / "plan.md"
PRINTED = re.compile(r"(<!-- explain -->\n```text\n)(.*?)(```\n<!-- /explain -->)", re.DOTALL)
SITES = re.compile(r"  \([\w<>.]+:\d+(?:, [\w<>.]+:\d+)*\)$", re.MULTILINE)


def the_program() -> App:
    """The application that the page writes."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    place: dict[str, Any] = {}
    exec(code, place)
    found = place["app"]
    assert isinstance(found, App)
    return found


def test_the_page_shows_what_its_program_really_gives() -> None:
    text = PAGE.read_text()
    # Where a step was written is not known of code that is in no file.
    printed = SITES.sub("", the_program().explain())
    if os.environ.get("GOLDEN") == "write":
        text = PRINTED.sub(lambda found: found[1] + printed + found[3], text)
        PAGE.write_text(text)
    (shown,) = (found[2] for found in PRINTED.finditer(text))
    assert shown == printed


def test_the_page_lists_every_rule_in_its_order() -> None:
    from penstock.plan.logical import LAST_RULES, RULES  # noqa: PLC0415

    listed = [row[0].strip("`") for row in table(PAGE) if len(row) == 3 and "_" in row[0]]
    assert listed == [rule.__name__ for rule in (*RULES, *LAST_RULES)]

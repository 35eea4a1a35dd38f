"""The pages make one site: all can be reached from its first page, and no link leads nowhere."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typing_extensions import override

from docs.site import INDEX, Site, slug
from tests.docs.pages import DOCS

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
KINDS = ["Tutorial", "How to", "Reference", "Explanation"]


def prose(page: Path) -> str:
    """A page without its code, in which brackets are no links."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    return re.sub(r"`[^`\n]*`", "", text)


@cache
def headings(page: Path) -> frozenset[str]:
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    return frozenset(slug(title) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE))


def dead_links(page: Path) -> list[str]:
    found = []
    for link in LINK.findall(prose(page)):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if ":" in path:
            continue
        if not target.exists() or (anchor and anchor not in headings(target)):
            found.append(link)
    return found


def test_no_link_of_a_page_leads_nowhere() -> None:
    dead = {page.name: found for page in DOCS.rglob("*.md") if (found := dead_links(page))}
    assert dead == {}


def test_the_first_page_has_the_four_kinds_and_leads_to_every_page() -> None:
    text = INDEX.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == KINDS
    listed = {(DOCS / link).resolve() for link in LINK.findall(text)}
    pages = {page for page in DOCS.glob("*.md") if page != INDEX}
    assert sorted(page.name for page in pages - listed) == []
    decisions = prose(DOCS / "decisions" / "README.md")
    for page in (DOCS / "decisions").glob("0*.md"):
        assert page.name in decisions


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.names: set[str] = set()

    @override
    def handle_starttag(self, _tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in {"href", "src"} and value:
                self.found.append(value)
            elif name == "id" and value:
                self.names.add(value)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    Site(folder).build()
    return folder


def test_no_link_of_the_built_site_leads_nowhere_or_to_another_host(built: Path) -> None:
    pages: dict[Path, _Links] = {}
    for page in built.rglob("*.html"):
        pages[page.resolve()] = links = _Links()
        links.feed(page.read_text(encoding="utf-8"))
    assert len(pages) > 40
    dead = []
    for page, links in pages.items():
        for link in links.found:
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            gone = not link.startswith("http") and not target.exists()
            if gone or (anchor and target in pages and anchor not in pages[target].names):
                dead.append((page.name, link))
        assert not re.search(r"<(script|link|img)[^>]*http", page.read_text(encoding="utf-8"))
    assert dead == []


def test_code_is_coloured_and_pictures_are_there(built: Path) -> None:
    guide = (built / "guide.html").read_text(encoding="utf-8")
    assert '<span class="kn">import</span>' in guide
    assert (built / "img" / "guide-what.svg").exists()
    assert '<a href="tutorial.html">' in guide
    assert (built / "source" / "examples" / "orders.py.html").exists()

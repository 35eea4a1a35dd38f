"""The pages as a site: `make docs` writes it to `build/docs`, and it needs no server.

The order and the four kinds of pages are those of `index.md`. Files of the repository that a page
links to are shown as pages of their own, so that no link leads out of the site.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

ROOT = Path(__file__).resolve().parents[1]
INDEX = ROOT / "docs" / "index.md"
_FORMATTER = HtmlFormatter(cssclass="code")
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_STYLE = """
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; display: flex; flex-wrap: wrap; }
nav { flex: 0 0 15rem; padding: 1rem; background: #f2f4f5; font-size: .9rem; }
nav h2 { font-size: .9rem; margin: 1rem 0 .2rem; } nav a { display: block; padding: .1rem 0; }
main { flex: 1 1 20rem; min-width: 0; max-width: 54rem; padding: 1rem 2rem; }
a { color: #0b5c8a; } img { max-width: 100%; }
pre { overflow-x: auto; padding: .7rem; background: #f6f8f8; font-size: .87rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border: 1px solid #ccd4d8; padding: .25rem .5rem; text-align: left; vertical-align: top; }
"""


def slug(title: str) -> str:
    """Give the name by which a heading is linked to, as GitHub makes it."""
    plain = re.sub(r"[^\w\- ]", "", title.lower())
    return plain.strip().replace(" ", "-")


@dataclass(slots=True)
class Site:
    """A site below a folder, written page by page, each once."""

    folder: Path
    _waiting: list[Path] = field(default_factory=list)
    _known: set[Path] = field(default_factory=set)

    def build(self) -> int:
        """Write the index and all that can be reached from it; give how many pages there are."""
        self._reach(INDEX)
        while self._waiting:
            page = self._waiting.pop()
            self._write(page)
        return len(self._known)

    def place(self, file: Path) -> Path:
        """Give where a file of the repository is in the site."""
        inside = file.relative_to(ROOT)
        if inside.parts[0] == "docs":
            inside = inside.relative_to("docs")
        else:
            inside = Path("source") / inside
        if file.suffix in {".svg", ".png"}:
            return self.folder / inside
        if file.suffix == ".md":
            return self.folder / inside.with_suffix(".html")
        return self.folder / inside.with_name(f"{inside.name}.html")

    def _reach(self, file: Path) -> None:
        if file not in self._known:
            self._known.add(file)
            self._waiting.append(file)

    def _write(self, file: Path) -> None:
        target = self.place(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix != ".html":
            shutil.copy(file, target)
            return
        text = "" if file.is_dir() else file.read_text(encoding="utf-8")
        if file.is_dir():
            title = file.relative_to(ROOT).as_posix()
            names = "".join(f"- {found.name}\n" for found in sorted(file.iterdir()))
            body = self._rendered(f"# {title}\n\n{names}", file)
        elif file.suffix == ".md":
            title = (_TITLE.search(text) or [file.name, file.name])[1]
            body = self._rendered(text, file)
        else:
            title = file.relative_to(ROOT).as_posix()
            body = f"<h1>{html.escape(title)}</h1>{_code(text, name=file.name)}"
        navigation = self._rendered(_navigation(), INDEX, seen_from=file)
        target.write_text(
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>'
            f"{html.escape(title)} - Penstock</title><meta name=viewport "
            f'content="width=device-width"><style>{_STYLE}{_FORMATTER.get_style_defs()}</style>'
            f"</head><body><nav>{navigation}</nav><main>{body}</main></body></html>\n",
            encoding="utf-8",
        )

    def _rendered(self, text: str, page: Path, seen_from: Path | None = None) -> str:
        reader = MarkdownIt("commonmark", {"highlight": _highlighted}).enable("table")
        tokens = reader.parse(text)
        for token in _all(tokens):
            for name in ("href", "src"):
                if name in token.attrs:
                    token.attrs[name] = self._link(str(token.attrs[name]), page, seen_from or page)
        for opening, content in pairwise(tokens):
            if opening.type == "heading_open":
                opening.attrs["id"] = slug(content.content)
        return str(reader.renderer.render(tokens, reader.options, {}))

    def _link(self, link: str, page: Path, seen_from: Path) -> str:
        path, hash_, anchor = link.partition("#")
        file = (page.parent / path).resolve() if path and ":" not in path else None
        if file is None:
            return link
        if (file / "README.md").exists():
            file /= "README.md"
        if file.exists():
            self._reach(file)
        return os.path.relpath(self.place(file), self.place(seen_from).parent) + hash_ + anchor


def _all(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or [])


def _navigation() -> str:
    """Give the kinds of pages and the links below them, without what is said of each."""
    lines = INDEX.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.startswith(("## ", "- ["))]
    return "[Penstock](index.md)\n\n" + "\n".join(
        line if line.startswith("#") else line[2:].partition(")")[0] + ")" for line in kept
    )


def _code(text: str, *, name: str) -> str:
    try:
        lexer = get_lexer_for_filename(name)
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return str(highlight(text, lexer, _FORMATTER))


def _highlighted(text: str, language: str, _: str) -> str:
    try:
        lexer = get_lexer_by_name(language or "text")
    except ClassNotFound:
        return ""
    coloured = highlight(text, lexer, HtmlFormatter(nowrap=True))
    return f'<pre class="code">{coloured}</pre>'


def main() -> None:
    """Write the site, and say where it is."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "build" / "docs"
    shutil.rmtree(folder, ignore_errors=True)
    count = Site(folder).build()
    print(f"{count} files; open {folder / 'index.html'}")


if __name__ == "__main__":
    main()

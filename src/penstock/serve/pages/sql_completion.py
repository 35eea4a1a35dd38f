"""What the editor of SQL suggests: names, columns, functions, and the words of streams."""

from __future__ import annotations

import json
from typing import Any

from penstock.front.sql.functions.registry import function_names
from penstock.serve.platform import Platform

_WORDS = (
    "ADVANCE BY", "AFTER", "CHANGES", "EMIT CHANGES", "EMIT FINAL", "GRACE PERIOD", "HOPPING",
    "KEEP LATE", "PARTITION BY", "PRINT", "RETENTION", "ROWTIME", "SESSION", "SIZE", "STREAM",
    "TERMINATE", "TUMBLING", "WINDOW", "WINDOWEND", "WINDOWSTART", "WITHIN", "MINUTES", "SECONDS",
)  # fmt: skip


def completions(platform: Platform) -> list[dict[str, Any]]:
    """Give all suggestions, of which an editor shows those that begin as what was typed."""
    with platform.turn:
        sources = list(platform.sql.definitions().catalog)
    found: dict[tuple[str, str], dict[str, Any]] = {}

    def suggest(label: str, kind: str, detail: str = "", boost: int = 0) -> None:
        found.setdefault(
            (label, kind), {"label": label, "type": kind, "detail": detail, "boost": boost}
        )

    for source in sources:
        suggest(source.name, "class", source.kind, 3)
        for column in source.columns:
            suggest(column.name, "property", source.name, 2)
    for topic in platform.log.topics():
        if not topic.startswith("_"):
            suggest(topic, "variable", "topic", 1)
            schema = platform.log.topic(topic).schema
            for name in () if schema is None else schema.names:
                suggest(name, "property", topic, 1)
    for name in function_names():
        suggest(name, "function", "function", -1)
    for word in _WORDS:
        suggest(word, "keyword", "", -2)
    return list(found.values())


_INSTALL = """
(async () => {
  const CM = await import("nicegui-codemirror");
  const element = getElement(%(id)d);
  const view = await element.editorPromise;
  const words = %(words)s;
  const suggest = (context) => {
    const word = context.matchBefore(/[\\w.-]+/);
    if (!word || (word.from === word.to && !context.explicit)) return null;
    return { from: word.from, options: words, validFor: /^[\\w-]*$/ };
  };
  view.dispatch({ effects: CM.StateEffect.appendConfig.of([
    CM.EditorState.languageData.of(() => [{ autocomplete: suggest }]),
    CM.EditorView.contentAttributes.of({ "aria-label": "Statements of SQL" }),
  ])});
  const dress = () => element.setTheme(
    document.body.classList.contains("body--dark") ? "oneDark" : "basicLight");
  new MutationObserver(dress).observe(document.body, { attributeFilter: ["class"] });
  dress();
})()
"""


def install_script(editor: int, words: list[dict[str, Any]]) -> str:
    """Give the script that lets an editor suggest words, and follow the mode of the page."""
    return _INSTALL % {"id": editor, "words": json.dumps(words).replace("</", "<\\/")}

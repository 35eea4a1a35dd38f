"""The look of all pages: one stylesheet, the same colours for charts, and the mark."""

from __future__ import annotations

from pathlib import Path

from nicegui import app, ui

ASSETS = Path(__file__).parent / "assets"
ASSETS_PATH = "/assets"
MARK = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" aria-hidden="true">'
    '<rect width="32" height="32" rx="8" fill="#0b6e69"/>'
    '<path d="M5 10h7c5 0 4 12 9 12h6" fill="none" stroke="#fff" stroke-width="4"'
    ' stroke-linecap="round"/>'
    '<circle cx="24.5" cy="10" r="3" fill="#8be3da"/></svg>'
)
SERIES = ("#149086", "#6c6bd0", "#c9822b", "#c2537c", "#3f86b8", "#6d9c3a", "#8a6d54", "#808b96")
"""Colours of a chart's series, in turn; each can be told from both grounds."""
GOOD, WARNING, BAD, QUIET = "#2a9d63", "#c9822b", "#d6453c", "#808b96"
"""What charts mark outcomes with: in both modes the same."""
CHART_TEXT = "#7d8a95"
CHART_LINE = "rgba(128, 140, 150, 0.28)"


def install_theme() -> None:
    """Let all pages of this process have the look."""
    app.add_static_files(ASSETS_PATH, ASSETS)
    version = (ASSETS / "penstock.css").stat().st_mtime_ns
    ui.add_head_html(
        f'<link rel="stylesheet" href="{ASSETS_PATH}/penstock.css?{version:x}">', shared=True
    )
    app.colors(
        primary="#0b6e69",
        secondary="#4b4a9f",
        accent="#0b6e69",
        positive="#176b42",
        negative="#b3261e",
        warning="#8a5a00",
        info="#22577a",
        dark="#161d23",
        dark_page="#0e1317",
    )

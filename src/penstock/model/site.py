"""Where in the user's program a step was written."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

_HOUSE = "penstock"


def user_site() -> str:
    """Give `file:line` of the nearest caller outside Penstock, or nothing."""
    frame = user_frame()
    return "" if frame is None else f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def user_frame() -> FrameType | None:
    """Give the nearest caller outside Penstock."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    while frame is not None and _ours(frame):
        frame = frame.f_back
    return frame


def _ours(frame: FrameType) -> bool:
    # By module, not by file: what dataclasses generate for us lies in no file of ours.
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == _HOUSE

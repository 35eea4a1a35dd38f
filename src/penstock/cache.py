"""Where this user's programs keep what can be made or fetched again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def cache_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Give the folder of ours in the user's cache; it may not exist yet."""
    variables = os.environ if environment is None else environment
    given = variables.get("XDG_CACHE_HOME")
    below = Path(given) if given else Path(variables.get("HOME") or "~").expanduser() / ".cache"
    return below / "penstock"

"""Words of the facts about joins: units, and the windows that joins are made in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, TypeAlias

from penstock.model.window import Hopping, Session, Tumbling

Words: TypeAlias = Mapping[str, Any]

UNITS = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000}
_NAME = re.compile(r"(?P<what>[a-z_]+?)_(?P<unit>ms|s|min|h)$")


def window_of(given: Words) -> Tumbling | Hopping | Session:
    """Read a window: a size, a size and a slide, or a gap, each with its unit."""
    sizes: dict[str, timedelta] = {}
    for name, value in given["window"].items():
        found = _NAME.fullmatch(name)
        assert found, f"no size of a window: {name}"
        sizes[found["what"]] = timedelta(milliseconds=value * UNITS[found["unit"]])
    match sizes:
        case {"tumbling": size, **rest} | {"fixed": size, **rest}:
            return Tumbling(size, rest.get("offset", timedelta(0)))
        case {"gap": gap} | {"session": gap} | {"sessions": gap}:
            return Session(gap)
        case {"sliding": size, "slide": slide} | {"hopping": size, "slide": slide}:
            return Hopping(size, slide)
        case {"size": size, "slide": slide} | {"size": size, "period": slide}:
            return Hopping(size, slide)
        case _:
            message = f"no window: {given['window']}"
            raise ValueError(message)

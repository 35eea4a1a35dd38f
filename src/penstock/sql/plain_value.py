"""Values as JSON has them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import date, datetime
from datetime import time as time_of_day
from decimal import Decimal
from typing import Any


def plain(value: Any) -> Any:  # noqa: ANN401  # a value of any type
    """Give a value as JSON has it: times and decimals as text, bytes in base 64."""
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case date() | time_of_day():
            return _moment(value)
        case Decimal():
            return str(value)
        case list() | tuple():
            return [plain(item) for item in value]
        case Mapping():
            return {str(name): plain(item) for name, item in value.items()}
        case _:
            return value


def _moment(value: date | time_of_day) -> str:
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").removesuffix("+00:00")
    return value.isoformat()

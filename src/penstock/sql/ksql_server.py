"""The statements of a running ksqlDB server, asked over its REST interface."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from penstock.errors import SqlError

_TIMEOUT = 20.0
_MEDIA = "application/vnd.ksql.v1+json"
_SIMPLE = {"INTEGER": "INTEGER", "BIGINT": "BIGINT", "DOUBLE": "DOUBLE", "STRING": "STRING"}


def server_statements(url: str) -> Iterator[str]:
    """Give the statements that made a server's types, sources and queries."""
    for answer in _asked(url, "SHOW TYPES;"):
        for name, schema in answer.get("types", {}).items():
            yield f"CREATE TYPE `{name}` AS {_type(schema)};"
    for kind in ("STREAMS", "TABLES"):
        for answer in _asked(url, f"SHOW {kind} EXTENDED;"):
            for source in answer.get("sourceDescriptions", []):
                if source.get("statement"):
                    yield _ended(source["statement"])
    for answer in _asked(url, "SHOW QUERIES;"):
        for query in answer.get("queries", []):
            # The others are said by the sources they make.
            if str(query.get("id", "")).startswith("INSERTQUERY"):
                yield _ended(query["queryString"])


def _ended(text: str) -> str:
    return text.strip().removesuffix(";") + ";"


def _asked(url: str, statement: str) -> Sequence[Mapping[str, Any]]:
    body = json.dumps({"ksql": statement, "streamsProperties": {}}).encode()
    request = urllib.request.Request(  # noqa: S310  # the user's own address, http or https
        f"{url.rstrip('/')}/ksql", body, {"Content-Type": _MEDIA, "Accept": _MEDIA}
    )
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310
            found: Sequence[Mapping[str, Any]] = json.loads(answer.read())
    except (OSError, ValueError) as error:
        raise SqlError(
            "SQL_SERVER",
            f'the ksqlDB server at "{url}" did not answer "{statement}": {_reason(error)}',
            hint="Give its address, as in http://localhost:8088, or a script of its statements.",
        ) from error
    return found


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.reason}"
    return str(error)


def _type(schema: Mapping[str, Any]) -> str:
    kind: str = schema["type"]
    match kind:
        case "ARRAY":
            return f"ARRAY<{_type(schema['memberSchema'])}>"
        case "MAP":
            return f"MAP<STRING, {_type(schema['memberSchema'])}>"
        case "STRUCT":
            fields = (f"`{field['name']}` {_type(field['schema'])}" for field in schema["fields"])
            return f"STRUCT<{', '.join(fields)}>"
        case "DECIMAL":
            size = schema.get("parameters") or {}
            return f"DECIMAL({size.get('precision', 38)}, {size.get('scale', 0)})"
        case _:
            return _SIMPLE.get(kind, kind)

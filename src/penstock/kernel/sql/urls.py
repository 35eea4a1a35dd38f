"""Parts of URLs; what is no URL has none."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import SplitResult, quote_plus, unquote, unquote_plus, urlsplit

from penstock.kernel.functions.argument import Lowering
from penstock.kernel.sql.rows import by_row

_FOREIGN = re.compile(r"[\s<>\"{}|\\^`]|%(?![0-9a-fA-F]{2})")


def _parts(url: str) -> SplitResult:
    if _FOREIGN.search(url):
        raise ValueError
    return urlsplit(url)


def _taken(take: Callable[[SplitResult], str | int | None]) -> Lowering:
    return by_row(lambda url: take(_parts(url)))


def _decoded(text: str | None) -> str | None:
    return unquote(text) if text else None


def _host(parts: SplitResult) -> str | None:
    return re.sub(r"^.*@|:\d*$", "", parts.netloc) or None


def _parameter(url: str, name: str) -> str | None:
    query = _decoded(_parts(url).query) or ""
    for part in query.split("&"):
        key, _, value = part.partition("=")
        if key == name:
            return value
    return None


def _encoded(text: str) -> str:
    return quote_plus(text, safe="*-._").replace("~", "%7E")


URLS: Mapping[str, Lowering] = {
    "url_decode_param": by_row(unquote_plus),
    "url_encode_param": by_row(_encoded),
    "url_extract_fragment": _taken(lambda parts: _decoded(parts.fragment)),
    "url_extract_host": _taken(_host),
    "url_extract_parameter": by_row(_parameter),
    "url_extract_path": _taken(lambda parts: unquote(parts.path)),
    "url_extract_port": _taken(lambda parts: parts.port),
    "url_extract_protocol": _taken(lambda parts: parts.scheme or None),
    "url_extract_query": _taken(lambda parts: _decoded(parts.query)),
}

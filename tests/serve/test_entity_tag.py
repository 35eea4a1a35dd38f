from __future__ import annotations

import pytest
from fastapi import Request

from penstock.errors import RequestError
from penstock.serve.entity_tag import not_modified, require_absent, require_match, tag_of
from penstock.serve.paging import Page, page_of
from penstock.serve.paging import _asked_page as asked_page

TAG = tag_of({"a": 1, "b": [2]})


def request(**headers: str) -> Request:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "headers": named})


def test_a_tag_is_of_the_content_and_not_of_its_order() -> None:
    assert tag_of({"b": [2], "a": 1}) == TAG
    assert tag_of({"b": [2], "a": 2}) != TAG


def test_who_has_seen_something_else_changes_nothing() -> None:
    for fits in (request(), request(if_match=TAG), request(if_match="*")):
        require_match(fits, TAG)
    require_match(request(if_match=f'"x", {TAG}'), TAG)
    for differs in ('"x"', "W/" + TAG, ""):
        with pytest.raises(RequestError, match="TAG_DIFFERS"):
            require_match(request(if_match=differs), TAG)


def test_what_was_seen_already_is_not_sent_again() -> None:
    assert not_modified(request(), TAG) is None
    assert not_modified(request(if_none_match='"x"'), TAG) is None
    for seen in (TAG, "W/" + TAG, "*"):
        answer = not_modified(request(if_none_match=seen), TAG)
        assert answer is not None
        assert (answer.status_code, answer.headers["etag"]) == (304, TAG)


def test_what_is_there_is_not_made_where_it_must_be_new() -> None:
    require_absent(request(if_none_match="*"), exists=False)
    require_absent(request(), exists=True)
    with pytest.raises(RequestError, match="TAG_DIFFERS"):
        require_absent(request(if_none_match="*"), exists=True)


def test_pages_give_everything_once_and_in_order() -> None:
    names = [f"n{number:02}é" for number in range(25)]
    found: list[str] = []
    after: str | None = None
    while True:
        page = page_of(names[::-1], str, asked_page(10, after))
        found += page["items"]
        after = page["next"]
        if after is None:
            break
    assert found == names
    assert page_of(names, str, Page(25, None))["next"] is None


@pytest.mark.parametrize("cursor", ["%%%", "a", "_w", "é"])
def test_a_cursor_that_no_page_has_given_is_refused(cursor: str) -> None:
    with pytest.raises(RequestError, match="CURSOR_WRONG"):
        asked_page(10, cursor)

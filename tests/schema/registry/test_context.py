from __future__ import annotations

import pytest

from penstock.schema.registry.context import begins_with, plain_subject, scopes_of, within


def test_the_default_context_is_left_out_of_names() -> None:
    assert plain_subject(":.:orders") == "orders"
    assert plain_subject(":.lab:orders") == ":.lab:orders"
    assert plain_subject(":odd") == ":odd"


def test_a_name_inside_a_context_is_of_it_unless_it_has_its_own() -> None:
    assert within("orders", ".") == "orders"
    assert within("orders", ".lab") == ":.lab:orders"
    assert within(":.other:orders", ".lab") == ":.other:orders"


def test_settings_are_looked_for_from_near_to_far() -> None:
    assert scopes_of(None) == ("",)
    assert scopes_of("orders") == ("orders", "")
    assert scopes_of(":.lab:orders") == (":.lab:orders", ":.lab:", "")
    assert scopes_of(":.:") == ("",)


@pytest.mark.parametrize(
    ("subject", "prefix", "wanted"),
    [
        ("orders", "", True),
        ("orders", "ord", True),
        ("orders", "x", False),
        (":.lab:orders", "", False),
        (":.lab:orders", ":.lab:", True),
        (":.lab:orders", ":.lab:x", False),
        (":.lab:orders", ":*:ord", True),
        ("orders", ":*:", True),
    ],
)
def test_a_prefix_asks_for_one_context_or_all(subject: str, prefix: str, *, wanted: bool) -> None:
    assert begins_with(subject, prefix) is wanted

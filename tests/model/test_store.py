from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import ModelError
from penstock.model.store import Store, store_of


def test_a_path_is_a_file_wherever_one_stands_later() -> None:
    assert store_of("a.sqlite") == Store("sqlite", str(Path.cwd() / "a.sqlite"))
    assert store_of(Path("/x/a.sqlite")) == Store("sqlite", "/x/a.sqlite")


@pytest.mark.parametrize("address", ["postgresql://host/db", "postgres://host/db"])
def test_an_address_is_a_server(address: str) -> None:
    assert store_of(address) == Store("postgres", address)
    assert store_of(store_of(address)) == Store("postgres", address)


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("postgresql://me:secret@host/db", "postgres postgresql://me:***@host/db"),
        ("host=h password=secret dbname=d", "postgres host=h password=*** dbname=d"),
        ("postgresql://host:5432/db", "postgres postgresql://host:5432/db"),
    ],
)
def test_a_password_is_not_shown(place: str, shown: str) -> None:
    assert str(Store("postgres", place)) == shown


@pytest.mark.parametrize("wrong", ["", 7, None])
def test_what_is_no_store_is_refused(wrong: object) -> None:
    with pytest.raises(ModelError, match="STORE_ARGUMENT"):
        store_of(wrong)  # type: ignore[arg-type]

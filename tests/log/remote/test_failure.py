from __future__ import annotations

import pytest

from penstock.errors import GroupError, LogError, PenstockError, StorageError
from penstock.log.remote.failure import decode_failure, encode_failure


@pytest.mark.parametrize("kind", [PenstockError, StorageError, GroupError])
def test_an_error_is_of_the_same_class_at_the_other_end(kind: type[PenstockError]) -> None:
    error = decode_failure(encode_failure(kind("SOME_CODE", "a fact", hint="Do this.")))
    assert type(error) is kind
    assert (error.code, error.fact, error.hint) == ("SOME_CODE", "a fact", "Do this.")


@pytest.mark.parametrize("name", ["MoonError", "ValueError", "did_you_mean"])
def test_a_class_that_is_not_ours_becomes_an_error_of_the_log(name: str) -> None:
    document = {"class": name, "code": "SOME_CODE", "fact": "a fact", "hint": ""}
    assert type(decode_failure(document)) is LogError

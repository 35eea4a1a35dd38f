from __future__ import annotations

from pathlib import Path

import pytest

from penstock.clock import ManualClock
from penstock.errors import ConfigError, UsageError
from penstock.log.embedded.disk import DiskStorage
from penstock.serve.access.role import Role
from penstock.serve.access.session_cookie import LIFE_SECONDS, cookie_asker, cookie_for
from penstock.serve.access.token_file import FOLDER, TokenFile
from penstock.sql.server_token import made_token


def test_a_token_is_shown_once_and_kept_hashed_for_its_owner_only(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path)
    word = tokens.create("ada", Role.WRITER)
    path = tmp_path / FOLDER / "tokens.json"
    assert word not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    found = TokenFile(tmp_path).asker(word)
    assert found is not None
    assert (found.name, found.role) == ("ada", Role.WRITER)
    assert len(word) > 43


def test_a_word_that_is_no_token_is_nobodys(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path)
    word = tokens.create("ada", Role.WRITER)
    assert [tokens.asker(one) for one in ("", "ada", word[:-1], word + "x", "é")] == [None] * 5


def test_what_another_process_revokes_holds_no_longer(tmp_path: Path) -> None:
    here, there = TokenFile(tmp_path), TokenFile(tmp_path)
    word = here.create("ada", Role.READER)
    assert there.asker(word) is not None
    here.revoke("ada")
    assert there.asker(word) is None
    with pytest.raises(UsageError, match="TOKEN_MISSING"):
        there.revoke("ada")


def test_names_are_taken_once_and_are_names(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path)
    tokens.create("ada", Role.READER)
    for name in ("ada", "home"):
        with pytest.raises(UsageError, match="TOKEN_EXISTS"):
            tokens.create(name, Role.ADMIN)
    for name in ("", "a b", "../x", "x" * 65, "a|b"):
        with pytest.raises(UsageError, match="TOKEN_NAME"):
            tokens.create(name, Role.ADMIN)


def test_who_can_read_the_home_is_admin(tmp_path: Path) -> None:
    found = TokenFile(tmp_path).asker(made_token(tmp_path))
    assert found is not None
    assert found.role is Role.ADMIN


def test_a_damaged_file_lets_nobody_in(tmp_path: Path) -> None:
    tokens = TokenFile(tmp_path)
    word = tokens.create("ada", Role.READER)
    (tmp_path / FOLDER / "tokens.json").write_text('[{"name": "ada"}]')
    with pytest.raises(ConfigError, match="TOKENS_UNREADABLE"):
        tokens.asker(word)


def test_two_processes_do_not_change_tokens_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.serve.access.token_file._PATIENCE", 0.01)
    tokens = TokenFile(tmp_path)
    tokens.create("ada", Role.READER)
    lock = DiskStorage(tmp_path / FOLDER).lock("tokens.lock")
    assert lock.acquire(1)
    with pytest.raises(ConfigError, match="TOKENS_BUSY"):
        tokens.create("bob", Role.READER)
    lock.close()


def test_a_cookie_is_of_its_token_until_it_is_over_or_revoked(tmp_path: Path) -> None:
    clock = ManualClock(1_000_000)
    tokens = TokenFile(tmp_path)
    tokens.create("ada", Role.WRITER)
    token = tokens.named("ada")
    assert token is not None
    cookie = cookie_for(token, clock=clock)
    found = cookie_asker(tokens, cookie, clock=clock)
    assert found is not None
    assert found.role is Role.WRITER
    name, ends, seal = cookie.split("|")
    for forged in (
        "",
        "||",
        f"{name}|{int(ends) + 1}|{seal}",
        f"{name}|{ends}|é",
        f"{name}|x|{seal}",
    ):
        assert cookie_asker(tokens, forged, clock=clock) is None
    later = ManualClock(1_000_001 + 1000 * LIFE_SECONDS)
    assert cookie_asker(tokens, cookie, clock=later) is None
    tokens.revoke("ada")
    assert cookie_asker(tokens, cookie, clock=clock) is None

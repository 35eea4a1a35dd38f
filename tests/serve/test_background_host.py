from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import PenstockError, SetupError
from penstock.jobs.host_file import host_file
from penstock.serve.background_host import BackgroundHost
from penstock.serve.server_file import ServerFile


def ended(host: BackgroundHost) -> None:
    host.start()
    host._thread.join(60)


def test_a_home_that_has_a_host_is_served_without_another(tmp_path: Path) -> None:
    refused: list[PenstockError] = []
    host = BackgroundHost(tmp_path, refused=refused.append)
    lock = host_file(tmp_path).take()
    ended(host)
    lock.close()
    assert [error.code for error in refused] == ["HOST_RUNNING"]
    assert host.starting() == ()


def test_a_host_that_fails_is_told_and_awaited_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("no such thing")

    monkeypatch.setattr("penstock.serve.hosting.Jobs", fail)
    refused: list[PenstockError] = []
    host = BackgroundHost(tmp_path, refused=refused.append)
    ended(host)
    assert [error.code for error in refused] == ["HOST_FAILED"]
    assert host.starting() == ()


def test_a_host_without_jobs_is_there_soon_and_ends_when_told(tmp_path: Path) -> None:
    host = BackgroundHost(tmp_path)
    host.stop()
    host = BackgroundHost(tmp_path)
    host.start()
    while starting := host.starting():
        assert starting == ("host of jobs",)
    view = host_file(tmp_path).view()
    assert view is not None
    assert view.alive
    host.stop()
    view = host_file(tmp_path).view()
    assert view is not None
    assert not view.alive


def test_a_home_has_one_server(tmp_path: Path) -> None:
    with ServerFile(tmp_path).taken():
        with pytest.raises(SetupError, match=r"SERVER_RUNNING.*another process"):  # noqa: SIM117
            with ServerFile(tmp_path).taken():
                pass
        ServerFile(tmp_path).write("http://127.0.0.1:1")
        with pytest.raises(SetupError, match=r"at http://127.0.0.1:1 serves"):  # noqa: SIM117
            with ServerFile(tmp_path).taken():
                pass
    with ServerFile(tmp_path).taken():
        pass

"""What is told of the processes of a program, and how often they are looked for."""

from __future__ import annotations

import os

import pytest

from penstock.model.progress import Process
from penstock.spark import query


def test_processes_are_looked_for_once_in_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    now = [100.0]

    def found() -> tuple[Process, ...]:
        looked.append(len(looked))
        return (Process(os.getpid() + len(looked), "driver"),)

    monkeypatch.setattr(query, "processes", found)
    monkeypatch.setattr(query, "monotonic", lambda: now[0])
    first = query.recent_processes()
    now[0] += 1.0
    assert query.recent_processes() == first
    now[0] += 2.0
    assert query.recent_processes() != first
    assert looked == [0, 1]

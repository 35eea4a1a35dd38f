"""Registries of one log in processes of their own: at once, killed, and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.log.open import open_log
from penstock.schema.registry.registry import Registry

pytestmark = pytest.mark.kill

_REGISTER = """
import json, sys
from pathlib import Path
from penstock.log.open import open_log
from penstock.schema.codec.schemas import SchemaText
from penstock.schema.registry.registry import Registry

home, who, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with open_log(home) as log:
    registry = Registry(log)
    for number in range(count):
        fields = [{"name": f"{who}{number}", "type": "string", "default": ""}]
        text = json.dumps({"type": "record", "name": "R", "fields": fields})
        for subject in (who, "shared"):
            done = registry.register(subject, SchemaText(text))
            print(json.dumps([subject, done.version, done.id, text]), flush=True)
    registry.close()
"""


def start(home: Path, who: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _REGISTER, str(home), who, str(count)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ,
    )


def test_two_processes_at_once_never_give_an_id_or_a_version_twice(tmp_path: Path) -> None:
    both = [start(tmp_path, who, 8) for who in ("a", "b")]
    answers = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    found = [json.loads(line) for answer in answers for line in answer.splitlines()]
    by_text: dict[str, set[int]] = {}
    for _, _, schema_id, text in found:
        by_text.setdefault(text, set()).add(schema_id)
    assert sorted(min(ids) for ids in by_text.values()) == list(range(1, 17))
    assert all(len(ids) == 1 for ids in by_text.values())
    shared = [version for subject, version, _, _ in found if subject == "shared"]
    assert sorted(shared) == list(range(1, 17))
    with open_log(tmp_path) as log:
        registry = Registry(log)
        for subject, version, schema_id, _ in found:
            assert registry.version(subject, version).id == schema_id
        registry.close()


def test_what_was_answered_before_a_kill_is_there_after_it(tmp_path: Path) -> None:
    with start(tmp_path, "a", 1000) as process:
        assert process.stdout is not None
        answered = [json.loads(process.stdout.readline()) for _ in range(7)]
        process.send_signal(signal.SIGKILL)
        answered += [json.loads(line) for line in process.stdout if line.endswith("\n")]
    with open_log(tmp_path) as log:
        registry = Registry(log)
        for subject, version, schema_id, _ in answered:
            assert registry.version(subject, version).id == schema_id
        ids = {one.id for one in registry.schemas("all")}
        assert ids == set(range(1, len(ids) + 1))
        # Whoever comes next goes on where it was left.
        last = registry.version("shared")
        again = registry.register("next", last.schema)
        assert (again.id, again.version) == (last.id, 1)
        registry.close()

from __future__ import annotations

import json
import os
from pathlib import Path

from penstock.jobs.definition import Event
from penstock.jobs.kept_savepoints import (
    KeptSavepoint,
    kept_savepoint,
    savepoint_names,
    savepoint_place,
)


def a_savepoint(home: Path, name: str, made: int) -> None:
    place = savepoint_place(home, name)
    place.mkdir(parents=True)
    said = {"layout": 1, "made": made, "files": {"program.pickle": [7, "ab"], "a": [4, "cd"]}}
    manifest = place / "savepoint.json"
    manifest.write_text(json.dumps(said))
    os.utime(manifest, (made, made))


def test_a_job_has_the_savepoints_of_its_history_and_those_named_after_it(tmp_path: Path) -> None:
    assert savepoint_names(tmp_path, "shop", ()) == ()
    for made, name in enumerate(("shop-20260131120000000", "kept", "other-1", "shop-2-7"), 1):
        a_savepoint(tmp_path, name, made)
    (tmp_path / "savepoints" / "shop-half").mkdir()
    said = (
        Event(1, "ann", "saved", str(savepoint_place(tmp_path, "kept").absolute())),
        Event(2, "ann", "saved", str(savepoint_place(tmp_path, "gone").absolute())),
    )
    assert savepoint_names(tmp_path, "shop", said) == ("kept", "shop-20260131120000000")
    assert kept_savepoint(tmp_path, "kept") == KeptSavepoint("kept", 2, 11)

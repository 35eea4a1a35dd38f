from __future__ import annotations

import json

import pytest

from penstock.errors import JobError
from penstock.jobs.document import from_json, to_json
from penstock.jobs.job import Job
from penstock.model.progress import Progress
from tests.jobs.records import JOB, PROGRESS


def test_jobs_and_progress_survive_the_way_through_json() -> None:
    assert from_json(Job, to_json(JOB), "a") == JOB
    assert from_json(Progress, to_json(PROGRESS), "a") == PROGRESS
    bare = Progress(batch=0, clock=0, watermark=None)
    assert from_json(Progress, to_json(bare), "a") == bare


def test_what_an_older_version_did_not_write_has_its_default() -> None:
    document = json.loads(to_json(PROGRESS))
    del document["states"]
    assert from_json(Progress, json.dumps(document).encode(), "a").states == ()


def test_what_is_no_document_is_refused() -> None:
    for data in (b"\xff", b"7", b'{"elements": [1]}'):
        with pytest.raises(JobError, match="JOB_UNREADABLE"):
            from_json(Job, data, "shop-1.json")

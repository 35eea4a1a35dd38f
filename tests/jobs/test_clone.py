from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import JobError, UsageError
from penstock.jobs.clone import Clone, clone, written_elsewhere
from penstock.jobs.definitions import definition_store
from penstock.jobs.submit import Submission, job_program, submit
from penstock.model.physical import Physical
from penstock.plan.fingerprint import state_fingerprint
from tests.jobs.defined import a_program


def topics(physical: Physical) -> list[tuple[str, str | None]]:
    return [(output.sink.topic, output.sink.late_topic) for output in physical.outputs]


def test_a_copy_writes_to_topics_of_its_own_and_has_the_same_states() -> None:
    before = a_program()
    after = written_elsewhere(before, Clone(name="copy"))
    assert after.name == "copy"
    assert topics(after) == [("counted-copy", "counted-copy.late"), ("odd-copy", "odd-late-copy")]
    assert [(item.id, state_fingerprint(item)) for item in after.operators] == [
        (item.id, state_fingerprint(item)) for item in before.operators
    ]
    named = Clone(name="copy", topics={"counted": "tried"}, suffix=".test")
    assert [topic for topic, _ in topics(written_elsewhere(before, named))] == ["tried", "odd.test"]


def test_a_topic_that_is_not_written_cannot_have_another_name() -> None:
    with pytest.raises(UsageError, match="CLONE_TOPIC") as caught:
        written_elsewhere(a_program(), Clone(name="copy", topics={"count": "x"}))
    assert caught.value.hint == 'Did you mean "counted"?'


def test_a_job_that_has_not_run_is_copied_without_state(tmp_path: Path) -> None:
    submit(tmp_path, a_program(), Submission(application="all"))
    made = clone(tmp_path, "shop", Clone(name="copy", paused=True))
    assert (made.name, made.application, made.wish) == ("copy", "all", "paused")
    assert topics(job_program(tmp_path, made))[0][0] == "counted-copy"
    assert definition_store(tmp_path).history("shop")[-1].what == "cloned"
    with pytest.raises(JobError, match="JOB_EXISTS"):
        clone(tmp_path, "shop", Clone(name="copy"))

"""A checkpoint as a job leaves it, made without Spark."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from penstock.kernel.port import State, Time
from penstock.log.open import open_log
from penstock.model.physical import Physical
from penstock.plan.planner import plan
from penstock.spark.identity import new_identity
from penstock.spark.job_files import JobFiles
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.program_start import start_offsets
from penstock.spark.progress_file import Start
from penstock.spark.state_codec import StateCodec
from penstock.spark.state_files import whole_note
from penstock.spark.stored_program import program_bytes
from penstock.spark.transfer import Entry, enter
from tests.spark.programs import windowed


def entered(home: Path, checkpoint: Path, physical: Physical | None = None) -> JobFiles:
    """Make the checkpoint of a job that has a state and has done no batch."""
    program = physical or plan(windowed())
    with open_log(home) as log:
        positions = start_offsets(program, log)
        ids = {at.topic: log.topic(at.topic).topic_id for at in positions}
    state = State({"held": pl.DataFrame({"page": ["/a"]})}, Time(0, 0))
    notes = [
        (keyed.id, 3, whole_note(StateCodec(keyed).encode(state))) for keyed in program.operators
    ]
    start = Start(ProgramOffset(positions, ids))
    return enter(checkpoint, Entry(new_identity(program), start, program_bytes(program), notes))

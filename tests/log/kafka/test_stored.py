from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.kafka.cluster import brokers_of_ones_own, missing

ASK = """
import sys
import penstock as ps

with ps.open_log(sys.argv[1]) as log:
    print(log.committed("nobody"))
    log.create_topic("t", partitions=2)
    log.commit("somebody", {ps.TopicPartition("t", 1): 7})
    print(log.committed("somebody"))
"""


@pytest.mark.slow
def test_a_coordinator_that_is_not_ready_does_not_end_who_asks_for_offsets(tmp_path: Path) -> None:
    if missing():
        pytest.skip(missing())
    # Of a new cluster nobody coordinates groups yet: the first answer is that it is another.
    with brokers_of_ones_own(tmp_path / "new", 1) as brokers:
        ran = subprocess.run(
            [sys.executable, "-c", ASK, f"kafka://{brokers.address}"],
            capture_output=True,
            check=False,
            cwd=tmp_path,
            text=True,
        )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split("\n")[0] == "{}"
    assert ran.stdout.split("\n")[1].endswith(": 7}")

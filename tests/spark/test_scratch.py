from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from penstock.spark.scratch import new_scratch, remove_dead

KILLED = (
    "import os, sys, signal; from pathlib import Path;"
    " from penstock.spark.scratch import new_scratch;"
    " new_scratch(Path(sys.argv[1])); os.kill(os.getpid(), signal.SIGKILL)"
)


def test_the_files_of_a_killed_process_are_removed_by_the_next_one(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode < 0
    (left,) = tmp_path.iterdir()
    own = new_scratch(tmp_path)
    assert not left.exists()
    # Its own stays while it lives, and what is no session's is not touched.
    (tmp_path / "penstock-spark-other").mkdir()
    remove_dead(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {own.name, "penstock-spark-other"}

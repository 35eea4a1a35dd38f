"""One side of a job with a standby, as a process to be killed.

`python -m tests.faults.standby_child HOME CHECKPOINT`: it says when it is at work.
"""

from __future__ import annotations

import sys
from pathlib import Path

from penstock.plan.planner import plan
from penstock.spark.admission import BatchLimits
from penstock.spark.session import spark_session
from penstock.spark.standby.pair import ActiveOptions, start_active
from tests.spark.programs import chained


def main() -> None:
    home, checkpoint = map(Path, sys.argv[1:])
    session = spark_session(master="local[2]")
    options = ActiveOptions(session=session, limits=BatchLimits(rows=40))
    query = start_active(plan(chained()), home=home, checkpoint=checkpoint, options=options)
    sys.stdout.write("at work\n")
    sys.stdout.flush()
    query.await_end()


if __name__ == "__main__":
    main()

"""An engine that obeys: it burns a processor, starts a process that does, refuses, or dies."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

_BURN = "import time\nwhile time.process_time() < {seconds}: pass"


def main(name: str, answers: Path) -> None:
    """Answer by the query's name."""
    say({"engine": name, "version": "1", "durability": "on disk", "input": "x", "emission": "y"})
    for number, line in enumerate(sys.stdin):
        request = json.loads(line)
        if request.get("stop"):
            return
        query = request["query"]
        sys.stdout.write("a library prints what it likes\n")
        if query == "q1":
            say({"refused": "it has no euros"})
        elif query == "q4":
            sys.exit("no memory left")
        elif query == "q9":
            time.sleep(60)
        else:
            # Who has ended by the time of the answer counts as well.
            subprocess.run([sys.executable, "-c", _BURN.format(seconds=0.1)], check=True)
            if request["results"] is not None:
                shutil.copy(answers / f"{query}.parquet", request["results"])
            say({"seconds": 0.5, "first": 0.25, "rows": number})


def say(reply: dict[str, object]) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

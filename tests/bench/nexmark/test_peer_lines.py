from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.nexmark.peers.bytewax_tables import first_of_each, grouped, ranked
from bench.nexmark.peers.kept_results import keep
from bench.nexmark.peers.lines import Outcome

PEER = """
from bench.nexmark.peers.lines import Outcome, RefusedError, serve
def run(request):
    print("what an engine prints")
    if request.query == "q6":
        raise RefusedError("there is no such thing")
    done = Outcome()
    done.saw(request.batch)
    return done
serve({"engine": "one"}, run)
"""


def test_a_peer_answers_line_by_line_and_nothing_else_is_where_its_answers_are() -> None:
    asked = [
        {"query": "q0", "events": "e", "results": None, "batch": 5},
        {"query": "q6", "events": "e"},
        {"stop": True},
    ]
    said = subprocess.run(
        [sys.executable, "-c", PEER],
        input="".join(json.dumps(line) + "\n" for line in asked),
        capture_output=True,
        text=True,
        check=True,
    )
    who, done, refused = (json.loads(line) for line in said.stdout.splitlines())
    assert who == {"engine": "one"}
    assert done["rows"] == 5
    assert refused == {"refused": "there is no such thing"}
    assert "what an engine prints" in said.stderr


def test_the_first_result_is_the_first_time_that_there_are_rows() -> None:
    outcome = Outcome()
    outcome.saw(0)
    assert outcome.first is None
    outcome.saw(3)
    first = outcome.first
    outcome.saw(4)
    assert (outcome.first, outcome.rows) == (first, 7)


def test_of_a_result_that_changes_the_last_row_of_each_key_is_kept(tmp_path: Path) -> None:
    rows = pa.table({"id": [1, 2, 1], "final": [10, 20, 30], "expires": [0, 0, 5]})
    keep(rows, "q4", tmp_path / "made")
    found = pq.read_table(tmp_path / "made" / "q4.parquet")
    assert sorted(zip(found["id"].to_pylist(), found["final"].to_pylist(), strict=True)) == [
        (1, 30),
        (2, 20),
    ]
    assert pa.types.is_timestamp(found["expires"].type)


def test_rows_are_ranked_within_their_group() -> None:
    rows = pa.table({"auction": [7, 8, 7, 7], "price": [1, 5, 3, 2]})
    places, ranks = ranked(rows, ["auction"], [-rows["price"].to_numpy()])
    assert places.tolist() == [2, 3, 0, 1]
    assert ranks.tolist() == [0, 1, 2, 0]
    assert first_of_each(rows, ["auction"], [-rows["price"].to_numpy()])["price"].to_pylist() == [
        3,
        5,
    ]
    sums = grouped(rows, ["auction"], {"price": "sum"})
    assert sorted(sums["price"].to_pylist()) == [5, 6]

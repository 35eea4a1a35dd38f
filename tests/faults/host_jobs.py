"""Five jobs of one home, the rows they are fed, and what they are to have written.

A windowed count, a join, a process with state, a filter that has a worker of its own, and a
statement of SQL.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from typing_extensions import override

import penstock as ps
from penstock.log.open import open_log
from penstock.model.job_settings import JobSettings, Restart
from penstock.model.physical import Settings
from penstock.sql.answer import Listed
from penstock.sql.session import SqlSession
from tests.spark.programs import Row, records

COLUMNS = {"page": str, "n": int, "at": datetime}
VISITS = pa.schema([("page", pa.string()), ("n", pa.int64()), ("at", pa.timestamp("ms", "UTC"))])
SQL = """
CREATE STREAM sales (id STRING KEY, item STRING, amount INT)
  WITH (KAFKA_TOPIC='sales', VALUE_FORMAT='JSON', PARTITIONS=1);
CREATE TABLE per_item AS SELECT item, COUNT(*) AS n, SUM(amount) AS total FROM sales GROUP BY item;
"""
ASKED = "SELECT item, n, total FROM per_item ORDER BY item;"
TOPICS = {"counts": "counts", "meetings": "met", "numbers": "numbered", "thirds": "kept"}
"""What each program writes, by its name."""
ROWS_A_ROUND = 12
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
# A job is to come back from any number of kills of its worker.
_RESTART = Restart(tries=1000, first_pause=timedelta(seconds=0.2))


class Numbered(ps.Processor[Any]):
    """Numbers the rows of a page."""

    count = ps.value_state(int, default=0)

    @override
    def process(self, row: Row, ctx: ps.Context) -> Iterator[Row]:
        self.count.value += 1
        yield {"page": ctx.key, "n": row["n"], "number": self.count.value}


def programs() -> dict[str, ps.App]:
    """The programs of four jobs, by name."""
    apps = {name: ps.App(name) for name in TOPICS}
    streams = {
        name: app.stream("visits", schema=COLUMNS, event_time="at") for name, app in apps.items()
    }
    streams["counts"].group_by("page").window(ps.tumbling("10s")).agg(
        visits=ps.count(), total=ps.sum("n")
    ).to("counts")
    others = apps["meetings"].stream("others", schema=COLUMNS, event_time="at")
    streams["meetings"].join(others, on="n", within=("1s", "1s")).to("met")
    streams["numbers"].group_by("page").process(
        Numbered, schema={"page": str, "n": int, "number": int}
    ).to("numbered")
    streams["thirds"].filter(ps.col("n") % 3 == 0).to("kept")
    return apps


def rows_of(number: int) -> list[Row]:
    """The rows of a round: a second apart, so that no row is ever late."""
    numbers = range(number * ROWS_A_ROUND, (number + 1) * ROWS_A_ROUND)
    return [{"page": f"/{n % 4}", "n": n, "at": _FIRST + timedelta(seconds=n)} for n in numbers]


@dataclass
class HostJobs:
    """The home of the jobs, and how many rounds of rows it was given."""

    home: Path
    rounds: int = 0
    _closed: bool = False

    def submit(self) -> None:
        """Make the jobs, and the topics they read."""
        with open_log(self.home) as log:
            for topic in ("visits", "others"):
                log.create_topic(topic, schema=VISITS)
        with SqlSession(self.home) as session:
            list(session.run(SQL))
        settings = Settings(buckets=2, parallelism=1)
        for name, app in programs().items():
            how = JobSettings(
                isolation="process" if name == "thirds" else "shared", restart=_RESTART
            )
            app.submit(home=self.home, settings=settings, how=how)

    def feed(self) -> None:
        """Bring the rows of one more round."""
        self._bring(rows_of(self.rounds))
        self.rounds += 1

    def close(self) -> None:
        """Bring a row from long after all others, which closes every window."""
        self._bring([_long_after(self.rounds)])
        self._closed = True

    def written(self) -> dict[str, list[Row]]:
        """What the jobs have written, without when, in the order in which it can be compared."""
        with open_log(self.home) as log:
            known = log.topics()
            found = {
                name: _compared(records(log, topic) if topic in known else [])
                for name, topic in TOPICS.items()
            }
        with SqlSession(self.home) as session:
            (answer,) = session.run(ASKED)
        assert isinstance(answer, Listed)
        found["sql"] = [dict(zip(("item", "n", "total"), row, strict=True)) for row in answer.rows]
        return found

    def wanted(self) -> dict[str, list[Row]]:
        """What an unkilled run of the same programs writes for the same rows."""
        rounds = [rows_of(number) for number in range(self.rounds)]
        rounds += [[_long_after(self.rounds)]] if self._closed else []
        found: dict[str, list[Row]] = {}
        for name, app in programs().items():
            driver = app.test()
            for rows in rounds:
                driver.push("visits", rows)
                if name == "meetings":
                    driver.push("others", rows)
            found[name] = _compared(driver.rows(TOPICS[name]))
        totals: dict[str, list[int]] = {}
        for row in (row for rows in rounds for row in rows):
            totals.setdefault(row["page"], []).append(row["n"])
        found["sql"] = [
            {"item": page, "n": len(numbers), "total": sum(numbers)}
            for page, numbers in sorted(totals.items())
        ]
        return found

    def _bring(self, rows: list[Row]) -> None:
        with open_log(self.home) as log:
            for topic in ("visits", "others"):
                log.append(topic, 0, pa.Table.from_pylist(rows, VISITS))
        values = ", ".join(f"('{row['n']}', '{row['page']}', {row['n']})" for row in rows)
        with SqlSession(self.home) as session:
            list(session.run(f"INSERT INTO sales VALUES {values};"))


def _long_after(rounds: int) -> Row:
    row = rows_of(rounds)[0]
    return {**row, "at": row["at"] + timedelta(hours=1)}


def _compared(rows: list[Row]) -> list[Row]:
    """Rows without what the log adds, sorted."""
    own = [{name: row[name] for name in row if not name.startswith("_")} for row in rows]
    return sorted(own, key=str)


# Those who run the jobs cannot import this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

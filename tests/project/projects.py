"""Project directories that tests write, and what the command line says of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from penstock.cli.main import run
from penstock.inline.versions import InlineEngine
from penstock.jobs.takeover import REBUILD, Rebuild
from penstock.project.change import Change
from penstock.project.project import Asked, Project

SHOP = '''
import penstock as ps

app = ps.App("shop")
sales = app.stream("sales", schema={"region": "string", "amount": "int64"})

LEAST = 0


def kept(row):
    """Whether a sale counts."""
    return row["amount"] > LEAST


sales.filter(kept).group_by("region").agg(total=ps.sum("amount")).to("totals")
'''
BEHIND = """
import penstock as ps

app = ps.App("behind")
totals = app.stream("totals", schema={"region": "string", "total": "int64"})
totals.to("copies")
"""
QUERIES = """
CREATE STREAM orders (region STRING KEY, amount BIGINT)
  WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON', PARTITIONS=2);
CREATE TABLE by_region AS
  SELECT region, SUM(amount) AS total FROM orders WHERE amount > 0 GROUP BY region;
"""


@dataclass(frozen=True)
class Directory:
    """A project directory and its home."""

    place: Path
    home: Path
    output: pytest.CaptureFixture[str]

    def write(self, **files: str) -> None:
        """Write files: `shop_py` is shop.py."""
        self.place.mkdir(exist_ok=True)
        for name, text in files.items():
            stem, _, suffix = name.rpartition("_")
            (self.place / f"{stem}.{suffix}").write_text(text)

    def cli(self, *words: str) -> tuple[int, str, str]:
        """Run a command of the project: its exit status and what it wrote."""
        self.output.readouterr()
        status = run([words[0], str(self.place), *words[1:], f"--home={self.home}"])
        found = self.output.readouterr()
        return status, found.out, found.err

    def verdicts(self, *words: str) -> dict[str, str]:
        """What `plan` says of each job."""
        _, told, _ = self.cli("plan", "--json", *words)
        found: list[dict[str, Any]] = json.loads(told)
        return {item["job"]: item["verdict"] for item in found}

    def apply(
        self, asked: Asked | None = None, how: Rebuild = REBUILD
    ) -> tuple[tuple[Change, ...], list[str]]:
        """Apply the project to jobs that are run without Spark."""
        engine = InlineEngine(self.home)
        with Project(self.place, self.home, asked, engine) as project:
            project.settle()
            changes = project.plan()
            return changes, list(project.apply(changes, how))

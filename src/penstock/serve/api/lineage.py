"""The dataflow over HTTP: the graph of topics and jobs, and which columns are made of which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path

from penstock.jobs.named import named
from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.platform import Platform
from penstock.watch.graph import Dataflow
from penstock.watch.lineage import job_lineage, lineage_document, plan_of


@dataclass(frozen=True, slots=True)
class NodeShown:
    """A topic, a job, or something outside of the log that a job reads or writes."""

    id: str
    kind: Literal["topic", "job", "file", "store", "static"]
    name: str
    rate: float | None
    """Rows a second; none before there were two looks."""
    records: int | None
    partitions: int | None
    internal: bool
    state: str
    lag: int | None
    watermark: int | None
    problem: str


@dataclass(frozen=True, slots=True)
class EdgeShown:
    """What flows from one node to another; the watermark is in milliseconds since 1970."""

    source: str
    target: str
    kind: Literal["reads", "writes"]
    rate: float | None
    lag: int | None
    watermark: int | None


@dataclass(frozen=True, slots=True)
class GraphShown:
    """All topics and jobs, and what flows between them, at one moment."""

    at: int
    nodes: list[NodeShown]
    edges: list[EdgeShown]


def routes(platform: Platform) -> APIRouter:
    """Give the routes of the dataflow."""
    dataflow = Dataflow(platform.home, platform.log)
    router = APIRouter(prefix="/lineage", tags=["lineage"])

    @router.get("", dependencies=[needs(Role.READER)])
    def show_dataflow() -> GraphShown:
        """Show the graph of all topics and jobs, with rate, lag and watermark on every edge."""
        found = dataflow.look().document()
        return GraphShown(
            found["at"],
            [NodeShown(**node) for node in found["nodes"]],
            [EdgeShown(**edge) for edge in found["edges"]],
        )

    @router.get("/{job}", dependencies=[needs(Role.READER)])
    def show_lineage(
        job: Annotated[str, Path(max_length=200, description="A job's name, or a run's id.")],
    ) -> dict[str, Any]:
        """Show what a job reads and writes, and which columns are made of which."""
        from penstock.jobs.submit import known_program  # noqa: PLC0415  # PySpark: seconds

        found = named(platform.home, job)
        name = found.name if found.run is None else found.run.name
        return lineage_document(job_lineage(plan_of(known_program(platform.home, job)), name))

    return router

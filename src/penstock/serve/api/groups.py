"""Consumer groups over HTTP: how far each has read, and where it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path

from penstock.log.group_report import group_partitions, group_summary, group_targets
from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.paging import PageAsked, page_of
from penstock.serve.platform import Platform
from penstock.text.place import parse_place

GroupName = Annotated[str, Path(max_length=249, description="A group's name.")]


@dataclass(frozen=True, slots=True)
class GroupListed:
    """A group in a list; `lag` is how many records wait, none where nothing was committed."""

    group: str
    members: int
    topics: list[str]
    lag: int | None


@dataclass(frozen=True, slots=True)
class GroupPage:
    """Groups by name; `next` is the `after` of the page that follows, none after the last."""

    items: list[GroupListed]
    next: str | None


@dataclass(frozen=True, slots=True)
class GroupPartition:
    """A partition that a group reads: the next offset, the partition's end, and who reads it."""

    topic: str
    partition: int
    committed: int | None
    end: int | None
    lag: int | None
    member: str | None


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member, and when it was last heard of, in milliseconds since 1970; null if not known."""

    member_id: str
    client: str
    heartbeat_at: int | None


@dataclass(frozen=True, slots=True)
class GroupShown:
    """A group whole."""

    group: str
    generation: int | None
    assignor: str
    members: list[GroupMember]
    partitions: list[GroupPartition]


@dataclass(frozen=True, slots=True)
class GroupReset:
    """Where a group is to go on: `to` is earliest, latest, an offset or a time (ISO 8601)."""

    topic: str
    to: str
    partition: int | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class GroupMoved:
    """What a group was to read next of a partition, and what it is now."""

    topic: str
    partition: int
    before: int | None
    after: int


def routes(platform: Platform) -> APIRouter:
    """Give the routes of groups."""
    log = platform.log
    router = APIRouter(prefix="/groups", tags=["groups"])
    reader, writer = [needs(Role.READER)], [needs(Role.WRITER)]

    @router.get("", dependencies=reader)
    def list_groups(page: PageAsked) -> GroupPage:
        """List groups with their lag."""
        found = page_of(log.groups(), str, page)
        rows = [GroupListed(**group_summary(log, log.group(name))) for name in found["items"]]
        return GroupPage(rows, found["next"])

    @router.get("/{name}", dependencies=reader)
    def show_group(name: GroupName) -> GroupShown:
        """Show the members of a group, and its lag by partition."""
        group = log.group(name)
        return GroupShown(
            group.name,
            group.generation,
            group.assignor,
            [GroupMember(one.member_id, one.client, one.heartbeat_at) for one in group.members],
            [GroupPartition(**row) for row in group_partitions(log, group)],
        )

    @router.post("/{name}/reset", dependencies=writer)
    def reset_group(name: GroupName, wanted: GroupReset) -> list[GroupMoved]:
        """Set what a group reads next. Its members must have stopped."""
        before = log.group(name).committed
        after = group_targets(log, wanted.topic, wanted.partition, parse_place(wanted.to))
        if not wanted.dry_run:
            log.commit(name, after)
        return [
            GroupMoved(place.topic, place.partition, before.get(place), offset)
            for place, offset in after.items()
        ]

    @router.delete("/{name}", dependencies=writer, status_code=HTTPStatus.NO_CONTENT)
    def delete_group(name: GroupName) -> None:
        """Delete a group and its offsets. Its members must have stopped."""
        log.delete_group(name)

    return router

"""What a client may ask of a log's server: a table a subject, each method by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeAlias

from penstock.log.port import Capability, Log, Membership, Transaction, WriterStamp
from penstock.log.remote.values import (
    Json,
    decode_limit,
    decode_offsets,
    decode_places,
    encode_group,
    encode_offsets,
    encode_places,
    encode_rebalance,
)
from penstock.log.topic_document import topic_from_document, topic_to_document

Asked: TypeAlias = dict[str, Any]
"""The arguments of a request; the rows in its body are the argument `rows`."""

# Files of the log are not to be had through a socket.
_NOT_OFFERED = {Capability.TOPIC_DUMP}
_MOST_BYTES_OF_A_READ = 256 * 1024 * 1024


def _create_topic(log: Log, asked: Asked) -> Json:
    wanted = topic_from_document(asked["topic"])
    made = log.create_topic(
        wanted.name, partitions=wanted.partitions, schema=wanted.schema, config=wanted.config
    )
    return topic_to_document(made)


def _configure_topic(log: Log, asked: Asked) -> Json:
    wanted = topic_from_document(asked["topic"])
    return topic_to_document(log.configure_topic(wanted.name, wanted.config))


def _append(log: Log, asked: Asked) -> Json:
    stamp = None if asked["stamp"] is None else WriterStamp(*asked["stamp"])
    return log.append(asked["topic"], asked["partition"], asked["rows"], stamp=stamp)


def _read(log: Log, asked: Asked) -> Json:
    limit = decode_limit(asked["limit"])
    limit = replace(limit, bytes=min(limit.bytes, _MOST_BYTES_OF_A_READ))
    return log.read(asked["topic"], asked["partition"], asked["offset"], limit)


def _snapshot(log: Log, asked: Asked) -> Json:
    return [[*place, *bounds] for place, bounds in log.snapshot(asked["topics"]).items()]


def _commit(held: Transaction, asked: Asked) -> Json:
    held.commit(asked["note"])
    return held.note


def join(log: Log, asked: Asked) -> Membership:
    """Take the seat that a client asks for."""
    return log.join(
        asked["group"],
        asked["topics"],
        assignor=asked["assignor"],
        client=asked["client"],
        session_timeout=timedelta(seconds=asked["session_timeout"]),
        instance_id=asked["instance_id"],
    )


LOG_METHODS: dict[str, Callable[[Log, Asked], Json]] = {
    "capabilities": lambda log, _: [has.value for has in log.capabilities - _NOT_OFFERED],
    "create_topic": _create_topic,
    "topics": lambda log, _: log.topics(),
    "topic": lambda log, asked: topic_to_document(log.topic(asked["name"])),
    "configure_topic": _configure_topic,
    "delete_topic": lambda log, asked: log.delete_topic(asked["name"]),
    "append": _append,
    "read": _read,
    "bounds": lambda log, asked: log.bounds(asked["topic"], asked["partition"], asked["isolation"]),
    "snapshot": _snapshot,
    "offset_at_time": lambda log, asked: log.offset_at_time(
        asked["topic"], asked["partition"], asked["timestamp"]
    ),
    "groups": lambda log, _: log.groups(),
    "group": lambda log, asked: encode_group(log.group(asked["name"])),
    "delete_group": lambda log, asked: log.delete_group(asked["name"]),
    "committed": lambda log, asked: encode_offsets(log.committed(asked["group"])),
    "commit": lambda log, asked: log.commit(asked["group"], decode_offsets(asked["offsets"])),
}

TRANSACTION_METHODS: dict[str, Callable[[Transaction, Asked], Json]] = {
    "transaction.begin": lambda held, _: held.begin(),
    "transaction.append": lambda held, asked: held.append(
        asked["topic"], asked["partition"], asked["rows"]
    ),
    "transaction.commit_offsets": lambda held, asked: held.commit_offsets(
        asked["group"], decode_offsets(asked["offsets"])
    ),
    "transaction.commit": _commit,
    "transaction.abort": lambda held, _: held.abort(),
    "transaction.close": lambda held, _: held.close(),
}

SEAT_METHODS: dict[str, Callable[[Membership, Asked], Json]] = {
    "seat.look": lambda _seat, _: None,
    "seat.heartbeat": lambda seat, _: encode_rebalance(seat.heartbeat()),
    "seat.release": lambda seat, asked: seat.release(decode_places(asked["places"])),
    "seat.commit": lambda seat, asked: seat.commit(decode_offsets(asked["offsets"])),
    "seat.leave": lambda seat, _: seat.leave(),
}


def seat_state(seat: Membership) -> Json:
    """What a member knows of its seat without asking."""
    return {"generation": seat.generation, "owned": encode_places(seat.owned)}

"""Acting on partitions whose topic may be deleted, or made anew, at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from penstock.errors import TopicError
from penstock.log.embedded.partition import Partition

Parts = TypeVar("Parts", bound=Iterable[Partition])
Result = TypeVar("Result")


def looked_up_anew(
    look_up: Callable[[], Parts], act: Callable[[Parts], Result], forget: Callable[[], None]
) -> Result:
    """Act on partitions; those that vanish are looked up anew, and only then missed.

    A topic goes out of sight before its heads say so: who has one open finds its files gone.
    Looking it up tells whether it was deleted, is another one now, or lost a file.
    """
    failed: list[str] | None = None
    while True:
        parts = look_up()
        met = [part.topic.topic_id for part in parts]
        try:
            return act(parts)
        except FileNotFoundError:
            if met == failed:
                raise
        except TopicError as error:
            if error.code != "TOPIC_MISSING" or met == failed:
                raise
        failed = met
        forget()

"""Guards: what must be so before rows are appended to a topic, decided above the log.

A topic's setting `guard` names one: `package.module:Maker(argument)`. It is made once in each
process that appends, with the log and the argument, and refuses rows before anything is written.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from penstock.errors import TopicError
from penstock.log.topic import Topic

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.log.port import Log

_FORM = re.compile(r"(?P<module>[\w.]+):(?P<maker>\w+)(\((?P<argument>[^()]*)\))?")


class Guard(Protocol):
    """Looks at rows on their way into a topic of bytes."""

    def check(self, topic: str, rows: pa.RecordBatch) -> None:
        """Refuse the rows by an error, or let all of them pass."""
        ...

    def close(self) -> None:
        """Let go of what it holds; the log is closing."""
        ...


class Guards:
    """The guards of a log's topics; each is made when it is first needed."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._made: dict[str, Guard] = {}

    def check(self, topic: Topic, rows: pa.RecordBatch) -> None:
        """Have rows looked at by the guard of their topic, if it has one."""
        if topic.config.guard:
            self._guard(topic).check(topic.name, rows)

    def admit(self, topic: Topic) -> None:
        """Refuse a topic whose guard cannot do its work."""
        if not topic.config.guard:
            return
        if topic.schema is not None:
            raise TopicError(
                "TOPIC_SETTING",
                f'topic "{topic.name}" has typed columns, and a guard looks at bytes',
                hint="Leave out the guard or the schema.",
            )
        self._guard(topic)

    def close(self) -> None:
        """Let all guards go."""
        for name in list(self._made):
            self._made.pop(name).close()

    def _guard(self, topic: Topic) -> Guard:
        name = topic.config.guard
        if name not in self._made:
            self._made[name] = _made(name, self._log)
        return self._made[name]


def _made(name: str, log: Log) -> Guard:
    form = _FORM.fullmatch(name)
    try:
        if form is None:
            raise ValueError  # noqa: TRY301  # all that keeps a guard from its work is told alike
        maker = getattr(import_module(form["module"]), form["maker"])
    except (ValueError, ImportError, AttributeError):
        raise TopicError(
            "GUARD_MISSING",
            f'guard "{name}" cannot be loaded',
            hint="Name it as package.module:Maker(argument), and install its package here.",
        ) from None
    guard: Guard = maker(log, form["argument"] or "")
    return guard

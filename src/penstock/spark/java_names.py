"""Names of the JVM that are looked up once a session.

PySpark asks for the same classes at every start of a query, and py4j remembers none of them: for
each it has all of Spark's 300 jars searched, once for every package that the name might be in. That
was a third of what the JVM's side of py4j took for a start.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import (  # type: ignore[import-untyped]
    JavaClass,
    JavaMember,
    JVMView,
)
from pyspark import SparkContext


class _KnownClass(JavaClass):  # type: ignore[misc]  # py4j has no types
    """A class that remembers its methods; what a field holds may change."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever a class has
        found = JavaClass.__getattr__(self, name)
        if isinstance(found, JavaMember):
            self.__dict__[name] = found
        return found


class _KnownNames(JVMView):  # type: ignore[misc]  # as above
    """The names of a JVM, of which those of classes stay what they are."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever the JVM has
        found = JVMView.__getattr__(self, name)
        if type(found) is JavaClass:
            found.__class__ = _KnownClass
            self.__dict__[name] = found
        return found


def remember_names(context: SparkContext) -> None:
    """Let classes of a session's JVM be looked up once, and their methods."""
    java: Any = context._jvm  # noqa: SLF001  # py4j has no types
    if type(java) is JVMView:
        java.__class__ = _KnownNames

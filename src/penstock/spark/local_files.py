"""Local files of the JVM, whose permissions are set by a call instead of a process.

For each file and folder it makes Hadoop starts `chmod`, which costs more than the file: two or
three in every micro-batch. A class of ours (`spark.jvm`) does the same by Java's own means. It is
there for this machine's JVM alone: elsewhere Hadoop does as ever.
"""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext

_NAME = "penstock.LocalFiles"


def leave_out_checksums(context: SparkContext) -> None:
    """Let no file of the JVM have a second one beside it with its checksum.

    Half of the files of a checkpoint were that; what programs store there has checksums of its own.
    """
    java, settings = _hadoop(context)
    java.org.apache.hadoop.fs.FileSystem.getLocal(settings).setWriteChecksum(False)


def save_processes(context: SparkContext) -> None:
    """Let the JVM of a session make its local files without starting processes for them."""
    java, settings = _hadoop(context)
    java.java.lang.Class.forName(_NAME)
    # The one that is known already would be given to everybody.
    java.org.apache.hadoop.fs.FileSystem.getLocal(settings).close()
    settings.set("fs.file.impl", _NAME)
    leave_out_checksums(context)


def _hadoop(context: SparkContext) -> tuple[Any, Any]:
    inner: Any = context  # py4j has no types
    return inner._jvm, inner._jsc.hadoopConfiguration()  # noqa: SLF001

"""Local files of the JVM, whose permissions are set by a call instead of a process.

For each file and folder it makes Hadoop starts `chmod`, which costs more than the file: two or
three in every micro-batch. The class here does the same by Java's own means. It is compiled when a
session starts, by the compiler that Spark has for its generated code, and is there for this
machine's JVM alone: elsewhere Hadoop does as ever.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkContext

_NAME = "penstock.LocalFiles"
_SOURCE = """
package penstock;

import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

public class LocalFiles extends LocalFileSystem {
    public LocalFiles() {
        super(new Raw());
    }

    public static class Raw extends RawLocalFileSystem {
        public void setPermission(Path path, FsPermission wanted) throws java.io.IOException {
            String letters = wanted.getUserAction().SYMBOL + wanted.getGroupAction().SYMBOL
                + wanted.getOtherAction().SYMBOL;
            Files.setPosixFilePermissions(
                pathToFile(path).toPath(), PosixFilePermissions.fromString(letters));
        }
    }
}
"""


def leave_out_checksums(context: SparkContext) -> None:
    """Let no file of the JVM have a second one beside it with its checksum.

    Half of the files of a checkpoint were that; what programs store there has checksums of its own.
    """
    java, settings = _hadoop(context)
    java.org.apache.hadoop.fs.FileSystem.getLocal(settings).setWriteChecksum(False)


def save_processes(context: SparkContext) -> None:
    """Let the JVM of a session make its local files without starting processes for them, soon."""

    def replace() -> None:
        # The session is over already, or another version of Spark has no such classes: as before.
        with contextlib.suppress(Py4JError, OSError):
            _replace(context)

    threading.Thread(target=replace, name="penstock-local-files", daemon=True).start()


def _replace(context: SparkContext) -> None:
    java, settings = _hadoop(context)
    compiler = java.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(java.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(_SOURCE)
    loader = compiler.getClassLoader()
    loader.loadClass(_NAME)
    # The one that is known already would be given to everybody.
    java.org.apache.hadoop.fs.FileSystem.getLocal(settings).close()
    settings.setClassLoader(loader)
    settings.set("fs.file.impl", _NAME)
    leave_out_checksums(context)


def _hadoop(context: SparkContext) -> tuple[Any, Any]:
    inner: Any = context  # py4j has no types
    return inner._jvm, inner._jsc.hadoopConfiguration()  # noqa: SLF001

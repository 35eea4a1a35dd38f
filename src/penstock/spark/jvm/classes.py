"""Classes of ours in the JVM of a session on this machine: what Spark has no call for.

They are compiled by the compiler that Spark has for its generated code, on the first start of a
session with a version of Spark, and kept in the user's cache. They are on the class path of every
session, so that tasks find them too: as a folder while they are made, and as a jar from then on,
since a class-data archive (`spark.jvm.archive`) takes no folders. Where they cannot be had all goes
on as without them.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import zipfile
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkContext

from penstock.cache import cache_folder

CLASS_PATH = "spark.driver.extraClassPath"
_SOURCES = tuple(sorted(Path(__file__).parent.glob("*.java")))
_JAR = "classes.jar"
"""All classes in one file, which says that they are there: it comes last."""


def classes_folder(scratch: Path) -> Path:
    """Give the folder of the classes: in the cache, or of the session where that is no place."""
    texts = b"".join(source.read_bytes() for source in _SOURCES)
    mark = sha256(pyspark.__version__.encode() + texts).hexdigest()[:16]
    for below in (cache_folder(), scratch):
        folder = below / f"classes-{mark}"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK) and folder.stat().st_uid == os.getuid():
                return folder
    return scratch


def are_made(folder: Path) -> bool:
    """Whether the classes are in their folder."""
    return (folder / _JAR).exists()


def on_class_path(folder: Path) -> Path:
    """Give what a session that starts now has on its class path for them."""
    return folder / _JAR if are_made(folder) else folder


def make_classes(context: SparkContext, folder: Path) -> bool:
    """Compile what is not there yet (half a second); give whether it is there now."""
    # The session is over already, or another version of Spark has no such classes.
    with contextlib.suppress(Py4JError, OSError):
        if not are_made(folder):
            for source in _SOURCES:
                _compile(context, source, folder)
            _put(folder / _JAR, _packed(folder))
    return are_made(folder)


def _compile(context: SparkContext, source: Path, folder: Path) -> None:
    java: Any = context._jvm  # noqa: SLF001  # py4j has no types
    compiler = java.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(java.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(source.read_text(encoding="utf-8"))
    for name, code in compiler.getBytecodes().items():
        _put(folder / f"{name.replace('.', '/')}.class", bytes(code))


def _packed(folder: Path) -> bytes:
    jar = BytesIO()
    with zipfile.ZipFile(jar, "w") as classes:
        for path in sorted(folder.rglob("*.class")):
            classes.write(path, path.relative_to(folder))
    return jar.getvalue()


def _put(path: Path, content: bytes) -> None:
    """Write a file that another process may write at the same time: either is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(fresh).replace(path)

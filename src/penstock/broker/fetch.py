"""Fetches jars, those of a broker among them, from Maven Central, by the Ivy that Spark brings.

So Python and Java are all that is needed. Ivy knows where Maven Central is; a proxy is told to it
as to any Java, by `JAVA_TOOL_OPTIONS`.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from penstock.broker.jars import KAFKA_VERSION, Jar, checksum, needed_jars, take_stock
from penstock.errors import SetupError
from penstock.log.embedded.lock import FlockLock
from penstock.spark.java import require_java

# Jars are named one by one, with their checksums: what they themselves ask for is not looked at.
_SETTINGS = """<ivysettings>
<settings defaultResolver="central"/>
<resolvers><ibiblio name="central" m2compatible="true" usepoms="false"/></resolvers>
</ivysettings>
"""
_MODULE = """<ivy-module version="2.0">
<info organisation="penstock" module="kafka"/>
<configurations><conf name="default"/></configurations>
<dependencies>
{dependencies}
</dependencies>
</ivy-module>
"""
_CONNECT_MILLISECONDS = 10_000
_READ_MILLISECONDS = 30_000
_PATIENCE = 300.0

Tell = Callable[[str], None]


def require_jars(folder: Path, *, tell: Tell, patience: float = _PATIENCE) -> Path:
    """Give a folder with every jar of a broker; those that it lacks are fetched, once."""
    what = f"Apache Kafka {KAFKA_VERSION} (44 MB)"
    return fetch_pinned(folder, jars=needed_jars(), what=what, tell=tell, patience=patience)


def fetch_pinned(
    folder: Path, *, jars: Sequence[Jar], what: str, tell: Tell, patience: float = _PATIENCE
) -> Path:
    """Give a folder with every jar that is named, byte for byte; what it lacks is fetched, once."""
    if take_stock(folder, jars).complete:
        return folder
    lock = _lock_of(folder)
    try:
        # Another process may be fetching them: then there is nothing left to do.
        if not lock.acquire(patience):
            raise _not_fetched(folder, "another process has been fetching them for too long")
        inventory = take_stock(folder, jars)
        wanted = {*inventory.missing, *inventory.damaged}
        lacking = [jar for jar in jars if jar.file_name in wanted]
        if lacking:
            tell(f"fetching {len(lacking)} jars of {what}, once")
            _fetch(lacking, folder, patience)
            tell(f"they are in {folder}")
    finally:
        lock.close()
    return folder


def _lock_of(folder: Path) -> FlockLock:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_fetched(folder, f"the folder cannot be made: {error.strerror}") from error
    return FlockLock(str(folder / ".lock"))


def _fetch(jars: Sequence[Jar], folder: Path, patience: float) -> None:
    """Move jars into a folder when all of them have come and are what they should be."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as name:
        place = Path(name)
        _run_ivy(jars, place, folder, patience)
        for jar in jars:
            came = place / "jars" / jar.file_name
            if not came.is_file():
                raise _not_fetched(folder, f"{jar.file_name} did not come")
            if checksum(came) != jar.sha256:
                raise SetupError(
                    "BROKER_JAR_CHECKSUM",
                    f'the jar "{jar.file_name}" that came is not the one that was pinned',
                    hint="Something between here and Maven Central changes files: ask who runs it.",
                )
        for jar in jars:
            (place / "jars" / jar.file_name).replace(folder / jar.file_name)


def _run_ivy(jars: Sequence[Jar], place: Path, folder: Path, patience: float) -> None:
    (place / "settings.xml").write_text(_SETTINGS, encoding="utf-8")
    (place / "ivy.xml").write_text(_module(jars), encoding="utf-8")
    command = (
        str(require_java(need="Kafka").path),
        f"-Dsun.net.client.defaultConnectTimeout={_CONNECT_MILLISECONDS}",
        f"-Dsun.net.client.defaultReadTimeout={_READ_MILLISECONDS}",
        *("-jar", str(_ivy()), "-settings", str(place / "settings.xml")),
        *("-cache", str(place / "cache"), "-ivy", str(place / "ivy.xml")),
        *("-retrieve", str(place / "jars" / "[artifact]-[revision].[ext]")),
    )
    try:
        done = subprocess.run(  # noqa: S603  # our own words and the Java that Spark would take
            command,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=patience,
        )
    except subprocess.TimeoutExpired as error:
        raise _not_fetched(folder, f"they did not come within {patience:.0f} s") from error
    if done.returncode != 0:
        raise _not_fetched(folder, _reason(done.stdout + done.stderr))


def _module(jars: Iterable[Jar]) -> str:
    lines = (
        f"<dependency org={quoteattr(jar.group)} name={quoteattr(jar.name)}"
        f' rev={quoteattr(jar.version)} transitive="false"/>'
        for jar in jars
    )
    return _MODULE.format(dependencies="\n".join(lines))


def _ivy() -> Path:
    # Looked for, not imported: Spark itself is not needed for this, nor its second of start-up.
    found = importlib.util.find_spec("pyspark")
    folders = found.submodule_search_locations if found else ()
    jars = [jar for folder in folders or () for jar in Path(folder).glob("jars/ivy-*.jar")]
    if not jars:
        raise SetupError(
            "PACKAGE_MISSING",
            f'package "pyspark", whose Ivy fetches jars, is not installed for {sys.executable}',
            hint=f"Run: {sys.executable} -m pip install 'penstock[spark]'",
        )
    return jars[0]


def _reason(said: str) -> str:
    """Give the first thing that Ivy was refused."""
    found = re.search(r"(?:Server access error|\w*Exception)[^\n]*", said)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return (found[0] if found else lines[-1] if lines else "Ivy said nothing")[:200]


def _not_fetched(folder: Path, reason: str) -> SetupError:
    return SetupError(
        "BROKER_JARS_MISSING",
        f"jars of Apache Kafka could not be fetched from Maven Central: {reason}",
        hint="Name a proxy in JAVA_TOOL_OPTIONS (-Dhttps.proxyHost=... -Dhttps.proxyPort=...), or"
        f' copy the folder of a machine that has them to "{folder}".',
    )

"""`python -m bench.nexmark.environments flink`: the Python of a peer, made on its first use.

Each peer has an environment of its own, so that none of them has a say in what another, or we,
depend on. Versions are pinned; where they come from is what pip and Ivy are set up to use.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyspark

from bench.catalog import ROOT

FOLDER = ROOT / "artifacts" / "nexmark" / "environments"
_PATIENCE = 1800
_RESOLVE = """
import sys
from pyspark import SparkConf, SparkContext
settings = {
    "spark.master": "local[1]", "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
    "spark.jars.ivy": sys.argv[1], "spark.jars.packages": sys.argv[2],
}
SparkContext(conf=SparkConf(loadDefaults=False).setAll(list(settings.items()))).stop()
"""


@dataclass(frozen=True, slots=True)
class Environment:
    """What is installed for a peer."""

    packages: tuple[str, ...]
    jars: tuple[str, ...] = ()
    """Java libraries by their Maven coordinates, with what they need."""
    jars_below: str = ""
    """The folder below the packages that the libraries go to."""
    jars_left_out: tuple[str, ...] = ()
    """How the names of those begin that are there already, and a second one would be in the way."""
    jars_of_spark: tuple[str, ...] = ()
    """Libraries that Spark's resolver never gives, since Spark has them: a copy of its own."""


ENVIRONMENTS: Mapping[str, Environment] = {
    "flink": Environment(
        packages=("apache-flink==2.3.0",),
        jars=(
            "org.apache.flink:flink-sql-parquet:2.3.0",
            "org.apache.hadoop:hadoop-client-runtime:3.4.2",
        ),
        jars_below="pyflink/lib",
        jars_left_out=("org.slf4j_", "com.google.code.findbugs_"),
    ),
    "pathway": Environment(packages=("pathway==0.33.0", "pyarrow==25.0.1")),
    "bytewax": Environment(
        packages=("bytewax==0.21.1", "numpy==2.2.6", "orjson==3.13.0", "pyarrow==21.0.0"),
    ),
    "quix": Environment(
        packages=("quixstreams==3.28.1", "pyarrow==21.0.0"),
        # It needs a broker: of Kafka, which runs as a child of the peer.
        jars=("org.apache.kafka:kafka_2.13:4.1.1",),
        jars_below="quixstreams",
        jars_of_spark=("scala-library",),
    ),
}


def python_of(engine: str, *, below: Path = FOLDER) -> Path | None:
    """Give the Python that has an engine, made where there is none; None where it cannot be."""
    if engine == "spark":
        return Path(sys.executable)
    environment = ENVIRONMENTS.get(engine)
    if environment is None:
        _say(f"{engine} is left out: no environment is known for it")
        return None
    folder = below / engine
    python = folder / "bin" / "python"
    try:
        if not _has_packages(folder, environment):
            _say(f"installing {' '.join(environment.packages)} in {folder.name}: minutes, once")
            _do([sys.executable, "-m", "venv", "--clear", str(folder)])
            _do([str(python), "-m", "pip", "install", "--quiet", *environment.packages])
        if not _has_jars(folder, environment):
            _say(f"fetching {' '.join(environment.jars)}")
            _fetch_jars(folder, environment)
    except (OSError, subprocess.SubprocessError) as error:
        _say(f"{engine} is left out: it does not install here: {_reason(error)}")
        return None
    return python


def _has_packages(folder: Path, environment: Environment) -> bool:
    pairs = (package.split("==") for package in environment.packages)
    return all(
        any(folder.glob(f"lib/python*/site-packages/{name.replace('-', '_')}-{version}.dist-info"))
        for name, version in pairs
    )


def _has_jars(folder: Path, environment: Environment) -> bool:
    names = ("{}_{}-{}.jar".format(*jar.split(":")) for jar in environment.jars)
    return all((_jars_of(folder, environment) / name).exists() for name in names)


def _fetch_jars(folder: Path, environment: Environment) -> None:
    """Fetch libraries by the resolver that Spark brings, so that no other tool is needed."""
    place = _jars_of(folder, environment)
    with tempfile.TemporaryDirectory() as ivy:
        _do([sys.executable, "-c", _RESOLVE, ivy, ",".join(environment.jars)])
        for jar in sorted((Path(ivy) / "jars").iterdir()):
            if not jar.name.startswith(environment.jars_left_out):
                shutil.copy(jar, place / jar.name)
    for name in environment.jars_of_spark:
        for jar in (Path(pyspark.__file__).parent / "jars").glob(f"{name}-*.jar"):
            shutil.copy(jar, place / jar.name)


def _jars_of(folder: Path, environment: Environment) -> Path:
    found = sorted(folder.glob(f"lib/python*/site-packages/{environment.jars_below}"))
    return found[0] if found else folder


def _do(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PATIENCE)


def _reason(error: Exception) -> str:
    said = getattr(error, "stderr", None) or str(error)
    lines = [line.strip() for line in str(said).splitlines() if line.strip()]
    return next((line for line in lines if "ERROR" in line), lines[-1] if lines else "no word")


def _say(words: str) -> None:
    print(words, file=sys.stderr)


if __name__ == "__main__":
    for name in sys.argv[1:] or ENVIRONMENTS:
        print(name, python_of(name) or "-")

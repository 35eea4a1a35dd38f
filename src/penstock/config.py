"""Settings, each taken from the first place that has it.

A flag wins over a `PENSTOCK_*` variable, a variable over the project's `penstock.toml` (the
nearest one, looking upwards from the working directory), that file over the user's own, and
all of them over the default. A relative path in a file is relative to that file.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from penstock.errors import ConfigError, did_you_mean
from penstock.setting_value import (
    StateKind,
    parse_boolean,
    parse_database,
    parse_file,
    parse_log,
    parse_memory,
    parse_path,
    parse_state_store,
    parse_text,
    parse_url,
)

PROJECT_FILE = "penstock.toml"

_PATHS: Mapping[str, tuple[str, ...]] = {
    "lineage": ("file", "token_file"),
    "mail": ("ca_file", "outbox", "password_file"),
    "realtime": ("jars",),
    "serdes": ("properties",),
    "serve": ("tls_certificate", "tls_key"),
    "webhook": ("secret_file", "token_file"),
}
"""The entries of tables that are paths."""
_TABLES = (*_PATHS, "alerts", "cluster", "jobs", "kafka", "topics")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force and, by key, where each comes from."""

    home: Path
    spark_master: str
    spark_driver_memory: str
    debug: bool
    state_store: StateKind
    state_database: str
    origins: Mapping[str, str]
    serdes: Mapping[str, object] = field(default_factory=dict)
    """Formats by name, as the files say them: `schema.binding` reads them."""
    topics: Mapping[str, object] = field(default_factory=dict)
    """Which of them topics are bound to."""
    jobs: Mapping[str, object] = field(default_factory=dict)
    """How jobs are to be run, by name: `jobs.said_settings` reads them."""
    registry_url: str = ""
    """Where another registry of schemas answers; empty: the one kept in the log."""
    alerts: Mapping[str, object] = field(default_factory=dict)
    """Rules by name, as the files say them: `watch.rule_document` reads them."""
    mail: Mapping[str, object] = field(default_factory=dict)
    webhook: Mapping[str, object] = field(default_factory=dict)
    lineage: Mapping[str, object] = field(default_factory=dict)
    server: str = ""
    """Where a server answers that commands are to ask; empty: they work on the home themselves."""
    token_file: Path | None = None
    """Where the token for that server is kept."""
    ca_file: Path | None = None
    """Certificates that a server may have, beside those that the system trusts."""
    log: str = ""
    """The address of the log that is opened where none is named; empty: the home's."""
    serve: Mapping[str, object] = field(default_factory=dict)
    """How `penstock serve` answers: `serve.tls` reads it."""
    cluster: Mapping[str, object] = field(default_factory=dict)  # `spark.cluster.settings` reads it
    realtime: Mapping[str, object] = field(default_factory=dict)  # `spark.realtime.jars` reads it
    kafka: Mapping[str, object] = field(default_factory=dict, repr=False)  # `log.kafka.properties`
    broker_jars: Path | None = None
    """Where the jars of Kafka's broker are kept; none: in the user's cache."""

    @property
    def log_directory(self) -> Path:
        """Where the embedded log is kept."""
        return self.home / "log"


@dataclass(frozen=True, slots=True)
class Key(Generic[T]):
    """A setting's name, what it is for, and how its text or TOML value is read."""

    name: str
    meaning: str
    default: str
    parse: Callable[[object, Path], T]
    kind: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "PENSTOCK_" + self.name.replace(".", "_").upper()

    @property
    def flag(self) -> str:
        """The command-line flag that sets it."""
        return "--" + self.name.rpartition(".")[2].replace("_", "-")


DEBUG = Key("debug", "Show tracebacks.", "false", parse_boolean, "true or false")
HOME = Key("home", "The directory that holds the log.", ".penstock", parse_path, "a path")
MASTER = Key("spark.master", "Where Spark runs.", "local[*]", parse_text, "a text")
DRIVER_MEMORY = Key(
    "spark.driver_memory", "Memory for Spark's JVM.", "1g", parse_memory, 'a size such as "2g"'
)
STATE_STORE = Key(
    "state.store",
    "Where a program run in this process remembers.",
    "local",
    parse_state_store,
    "one of memory, local, changelog, external",
)
STATE_DATABASE = Key(
    "state.database",
    "The external database: a SQLite file or a postgresql:// address.",
    "",
    parse_database,
    "a path or an address",
)
REGISTRY_URL = Key(
    "registry.url",
    "Another registry of schemas; without it they are kept in the log.",
    "",
    parse_url,
    "an address such as http://host:8081",
)
SERVER = Key(
    "server",
    "A server that does what commands ask, instead of this process.",
    "",
    parse_url,
    "an address such as http://127.0.0.1:8080",
)
TOKEN_FILE = Key("token_file", "The file with the token for the server.", "", parse_file, "a path")
CA_FILE = Key("ca_file", "Certificates to trust in a server.", "", parse_file, "a path")
LOG = Key("log", "The log to open where none is named.", "", parse_log, "an address of a log")
BROKER_JARS = Key(
    "broker_jars", "The folder with the jars of Kafka's broker.", "", parse_file, "a path"
)
TOKEN_VARIABLE = "PENSTOCK_TOKEN"  # noqa: S105  # its name
"""The variable with the token itself."""
KAFKA_VARIABLES = "PENSTOCK_KAFKA_"  # + a property of its clients
KEYS: tuple[Key[bool] | Key[Path] | Key[str] | Key[StateKind] | Key[Path | None], ...] = (
    DEBUG, HOME, LOG, REGISTRY_URL, SERVER, DRIVER_MEMORY, MASTER, STATE_DATABASE, STATE_STORE,
    TOKEN_FILE, CA_FILE, BROKER_JARS,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Layer:
    """One place settings come from."""

    values: Mapping[str, object]
    origins: Mapping[str, str]
    directory: Path
    tables: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


def load_settings(
    flags: Mapping[str, str | bool] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Settings:
    """Read every place once and give the settings in force; `flags` are by key."""
    variables = os.environ if environment is None else environment
    start = Path.cwd() if directory is None else directory
    layers = list(_layers(flags or {}, variables, start))
    origins: dict[str, str] = {}

    def take(key: Key[T]) -> T:
        value, origins[key.name] = _first(key, layers)
        return value

    return Settings(
        debug=take(DEBUG),
        home=take(HOME),
        spark_driver_memory=take(DRIVER_MEMORY),
        spark_master=take(MASTER),
        state_database=take(STATE_DATABASE),
        state_store=take(STATE_STORE),
        origins=origins,
        serdes=_table("serdes", layers),
        topics=_table("topics", layers),
        jobs=_table("jobs", layers),
        registry_url=take(REGISTRY_URL),
        alerts=_table("alerts", layers),
        mail=_table("mail", layers),
        webhook=_table("webhook", layers),
        lineage=_table("lineage", layers),
        server=take(SERVER),
        token_file=take(TOKEN_FILE),
        ca_file=take(CA_FILE),
        log=take(LOG),
        serve=_table("serve", layers),
        cluster=_table("cluster", layers),
        realtime=_table("realtime", layers),
        kafka=_table("kafka", layers),
        broker_jars=take(BROKER_JARS),
    )


def _table(name: str, layers: list[_Layer]) -> dict[str, object]:
    """Give the entries of a table; those of the nearest place win."""
    return {
        key: value
        for layer in reversed(layers)
        for key, value in layer.tables.get(name, {}).items()
    }


def stray_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The `PENSTOCK_*` variables that set nothing, each with the name that was perhaps meant."""
    known = [*(key.variable for key in KEYS), TOKEN_VARIABLE]
    return {
        name: did_you_mean(name, known)
        for name in sorted(environment)
        if name.startswith("PENSTOCK_") and name not in known
        if not name.startswith(KAFKA_VARIABLES)
    }


def _layers(
    flags: Mapping[str, str | bool], variables: Mapping[str, str], start: Path
) -> Iterator[_Layer]:
    yield _Layer(flags, {key.name: f"flag {key.flag}" for key in KEYS}, start)
    yield _Layer(
        {key.name: variables[key.variable] for key in KEYS if variables.get(key.variable)},
        {key.name: f"variable {key.variable}" for key in KEYS},
        start,
    )
    project = _project_file(start)
    if project is not None:
        yield _read_file(project)
    user = _user_file(variables)
    if user is not None and _is_file(user):
        yield _read_file(user)
    yield _Layer(
        {key.name: key.default for key in KEYS}, {key.name: "default" for key in KEYS}, start
    )


def _first(key: Key[T], layers: list[_Layer]) -> tuple[T, str]:
    layer = next(layer for layer in layers if key.name in layer.values)
    value, origin = layer.values[key.name], layer.origins[key.name]
    try:
        return key.parse(value, layer.directory), origin
    except ValueError:
        raise ConfigError(
            "CONFIG_VALUE",
            f'setting "{key.name}" is not {key.kind}: {value!r} ({origin})',
            hint=f"Give {key.kind}; the default is {key.default}.",
        ) from None


def _project_file(start: Path) -> Path | None:
    candidates = (folder / PROJECT_FILE for folder in (start, *start.parents))
    return next((file for file in candidates if _is_file(file)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError:
        return False


def _user_file(variables: Mapping[str, str]) -> Path | None:
    base = variables.get("XDG_CONFIG_HOME")
    if base:
        return Path(base) / "penstock" / "config.toml"
    home = variables.get("HOME")
    return Path(home) / ".config" / "penstock" / "config.toml" if home else None


def _read_file(file: Path) -> _Layer:
    try:
        text = file.read_text(encoding="utf-8")
        found = tomllib.loads(text)
        tables = {name: _named(found.pop(name, {}), name, file) for name in _TABLES}
        values = dict(_flatten(found))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            "CONFIG_FILE",
            f'settings file "{file}" cannot be read: {error}',
            hint="Correct the file, or move it away.",
        ) from error
    known = [key.name for key in KEYS]
    origins = {name: f"{file}:{_line_of(name, text)}" for name in values}
    for name in values:
        if name not in known:
            raise ConfigError(
                "CONFIG_KEY",
                f'setting "{name}" does not exist ({origins[name]})',
                hint=did_you_mean(name, known) or f"Settings: {', '.join(known)}.",
            )
    return _Layer(values, origins, file.parent, tables)


def _named(table: object, name: str, file: Path) -> dict[str, object]:
    """Give a table whose entries have names of the user's own; a path in it is the file's."""
    if not isinstance(table, dict):
        raise ConfigError(
            "CONFIG_VALUE",
            f'setting "{name}" is not a table: {table!r} ({file})',
            hint=f"Write it as a table: [{name}].",
        )
    paths = {
        key: str(parse_path(place, file.parent))
        for key in _PATHS.get(name, ())
        if isinstance(place := table.get(key), str)
    }
    return {**table, **paths}


def _flatten(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _line_of(name: str, text: str) -> int:
    """The line that sets a key; that of the table that holds it where it is set inline."""
    section, best = "", 1
    for number, line in enumerate(text.splitlines(), start=1):
        words = re.sub(r"[\s\"']", "", line.partition("#")[0])
        if words.startswith("["):
            section = words.strip("[]") + "."
            here = section.rstrip(".")
        else:
            here = section + words.partition("=")[0]
        if here == name:
            return number
        if name.startswith(f"{here}."):
            best = number
    return best

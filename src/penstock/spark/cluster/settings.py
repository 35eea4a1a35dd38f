"""What is to be known of a cluster beside its address: the table `[cluster]` of the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from penstock.errors import ConfigError, ModelError, did_you_mean
from penstock.model.duration import duration_of

_NAMES = ("driver_host", "package", "patience", "python", "spark")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """How a session of this process and the executors of a cluster find each other.

    `package` is the archive of Penstock that executors are given: one made at the start, one at a
    path or an address, or none, where their Python has Penstock installed. `python` is the
    interpreter where they run, by default at the path of this one. `driver_host` is the address at
    which they call this process. One of them must be there within `patience`. What `spark` says
    is passed on as it is.
    """

    package: bool | str = True
    python: str = ""
    driver_host: str = ""
    patience: timedelta = timedelta(seconds=60)
    spark: Mapping[str, str] = field(default_factory=dict)


CLUSTER = Cluster()


def cluster_of(said: Mapping[str, object]) -> Cluster:
    """Give what the table `[cluster]` says; what does not exist is refused."""
    for name in said:
        if name not in _NAMES:
            raise ConfigError(
                "CONFIG_KEY",
                f'setting "cluster.{name}" does not exist',
                hint=did_you_mean(name, _NAMES) or f"Settings: {', '.join(_NAMES)}.",
            )
    return Cluster(
        package=_package(said.get("package", True)),
        python=_text(said, "python"),
        driver_host=_text(said, "driver_host"),
        patience=_patience(said.get("patience", CLUSTER.patience)),
        spark=_spark(said.get("spark", {})),
    )


def _package(value: object) -> bool | str:
    if isinstance(value, bool) or (isinstance(value, str) and value):
        return value
    raise _wrong("package", value, "true, false or the path of an archive")


def _text(said: Mapping[str, object], name: str) -> str:
    value = said.get(name, "")
    if not isinstance(value, str):
        raise _wrong(name, value, "a text")
    return value


def _patience(value: object) -> timedelta:
    kind = 'a duration such as "60s"'
    if not isinstance(value, str | timedelta):
        raise _wrong("patience", value, kind)
    try:
        return duration_of(value)
    except ModelError:
        raise _wrong("patience", value, kind) from None


def _spark(value: object) -> dict[str, str]:
    """Give settings of Spark's by their whole names, however the file has nested them."""
    if not isinstance(value, Mapping):
        raise _wrong("spark", value, "a table")
    found: dict[str, str] = {}
    for name, part in value.items():
        if isinstance(part, Mapping):
            found |= {f"{name}.{rest}": text for rest, text in _spark(part).items()}
        else:
            found[str(name)] = str(part).lower() if isinstance(part, bool) else str(part)
    return found


def _wrong(name: str, value: object, kind: str) -> ConfigError:
    return ConfigError(
        "CONFIG_VALUE",
        f'setting "cluster.{name}" is not {kind}: {value!r}',
        hint=f"Give {kind}.",
    )

"""The address of a cluster: whether it is one, whether anybody answers, and how we are seen."""

from __future__ import annotations

import re
import socket
from urllib.parse import urlsplit

from penstock.errors import SetupError

_SECONDS = 5.0
_LOCAL = re.compile(r"local(\[.*\])?")
_FOUND_BY_SPARK = re.compile(r"yarn|local-cluster\[.*\]")
_HTTPS, _HTTP = 443, 80


def is_local(master: str) -> bool:
    """Whether driver and executors are one process."""
    return _LOCAL.fullmatch(master) is not None


def addresses_of(master: str) -> list[tuple[str, int]]:
    """Give where a cluster answers; nothing where Spark finds it by files of its own (YARN)."""
    if master.startswith("spark://"):
        places = master.removeprefix("spark://").split(",")
        return [_split(place, master) for place in places]
    if master.startswith("k8s://"):
        address = master.removeprefix("k8s://")
        whole = urlsplit(address if "://" in address else f"https://{address}")
        port = whole.port or (_HTTP if whole.scheme == "http" else _HTTPS)
        return [(whole.hostname or "", port)]
    if is_local(master) or _FOUND_BY_SPARK.fullmatch(master):
        return []
    raise _no_address(master, "it begins as none does")


def require_reachable(master: str, seconds: float = _SECONDS) -> None:
    """Refuse a cluster of which no master takes a connection: Spark would try for a minute."""
    found = addresses_of(master)
    said = []
    for host, port in found:
        try:
            socket.create_connection((host, port), timeout=seconds).close()
        except OSError as error:
            said.append(f"{host}:{port}: {error.strerror or error}")
        else:
            return
    if found:
        raise SetupError(
            "CLUSTER_UNREACHABLE",
            f'no master of "{master}" answers within {seconds:g} s ({"; ".join(said)})',
            hint="Start the cluster, or correct spark.master; local[*] is this machine.",
        )


def own_address(master: str) -> str:
    """Give the address of this machine on the way to a cluster, at which executors can call."""
    for host, port in addresses_of(master):
        # Nothing is sent: the system only says which of its addresses it would send from.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
            try:
                way.connect((host, port))
            except OSError:
                continue
            return str(way.getsockname()[0])
    return socket.getfqdn()


def _split(place: str, master: str) -> tuple[str, int]:
    host, _, port = place.rpartition(":")
    if not host or not port.isdigit():
        raise _no_address(master, f'"{place}" has no host and port')
    return host, int(port)


def _no_address(master: str, why: str) -> SetupError:
    return SetupError(
        "CLUSTER_ADDRESS",
        f'"{master}" is no address of a cluster: {why}',
        hint='Give spark.master as "spark://HOST:7077", "k8s://https://HOST:443" or "yarn"; this'
        ' machine is "local[*]".',
    )

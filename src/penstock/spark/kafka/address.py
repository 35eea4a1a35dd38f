"""Who answers at an address that Spark's connector is given: Kafka, or a server of our own."""

from __future__ import annotations

import os
import socket
import struct
from functools import lru_cache

from penstock.config import load_settings

_PATIENCE = 3.0
_CLIENT = b"penstock"
# Which versions of requests do you know? Every broker answers that, before any login.
_QUESTION = struct.pack(">hhih", 18, 0, 1, len(_CLIENT)) + _CLIENT
_ANSWER = struct.pack(">i", 1)


def is_kafka(servers: str) -> bool:
    """Whether brokers of Kafka answer: several addresses, or one that speaks their protocol."""
    security = str(load_settings().kafka.get("security.protocol", "plaintext")).lower()
    if "," in servers or security != "plaintext":
        return True
    return _speaks_kafka(servers.strip(), os.getpid())


@lru_cache(maxsize=64)
def _speaks_kafka(server: str, _process: int) -> bool:
    host, _, port = server.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE) as asked:
            asked.settimeout(_PATIENCE)
            asked.sendall(struct.pack(">i", len(_QUESTION)) + _QUESTION)
            head = asked.recv(8, socket.MSG_WAITALL)
    except (OSError, ValueError):
        # Nobody is there, or somebody who does not answer: who opens the log says what is wrong.
        return False
    return head[4:] == _ANSWER

"""The status of HTTP that an error of ours stands for."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from penstock.errors import (
    ChannelError,
    ConfigError,
    CorruptionError,
    DeliveryError,
    ModelError,
    PenstockError,
    PlanError,
    RunError,
    SchemaError,
    SetupError,
    SqlError,
    StateError,
    StorageError,
    StoreError,
    UsageError,
)

BAD, UNFIT = HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY
MISSING, TAKEN, FORBIDDEN = HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.FORBIDDEN
AWAY = HTTPStatus.SERVICE_UNAVAILABLE

_BY_CODE: Mapping[str, HTTPStatus] = {
    "TOKEN_NEEDED": HTTPStatus.UNAUTHORIZED,
    "TOKEN_WRONG": HTTPStatus.UNAUTHORIZED,
    "ROLE_NEEDED": FORBIDDEN,
    "HOST_FOREIGN": HTTPStatus.MISDIRECTED_REQUEST,
    "ORIGIN_FOREIGN": FORBIDDEN,
    "REQUEST_LARGE": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "REQUEST_SLOW": HTTPStatus.GATEWAY_TIMEOUT,
    "REQUESTS_MANY": AWAY,
    "KEY_REUSED": UNFIT,
    "KEY_IN_USE": TAKEN,
    "KEY_UNDECIDED": TAKEN,
    "KEY_ANSWER_LOST": TAKEN,
    "TAG_DIFFERS": HTTPStatus.PRECONDITION_FAILED,
    "NOT_PERMITTED": FORBIDDEN,
    "LOG_MISSING": AWAY,
    "LOG_CLOSED": AWAY,
    "LOG_BUSY": AWAY,
    "LOG_UNREACHABLE": AWAY,
    "JAVA_MISSING": AWAY,
    "PACKAGE_MISSING": AWAY,
    "ACCESS_DENIED": AWAY,
    # Columns and functions are part of what was asked, not what was asked for.
    "COLUMN_MISSING": BAD,
    "CAST_MISSING": BAD,
    "FUNCTION_MISSING": BAD,
    "KEY_MISSING": BAD,
    "SIDE_MISSING": BAD,
    "TIME_ZONE_MISSING": BAD,
    "ALERT_CONFIGURED": TAKEN,
    "TOPIC_REPLACED": TAKEN,
    "TOPIC_DIFFERS": TAKEN,
    "JOB_ENDED": TAKEN,
    "JOB_STOPPING": TAKEN,
    "JOB_NOT_PAUSED": TAKEN,
    "GROUP_ACTIVE": TAKEN,
    "VERSION_CONFLICT": TAKEN,
    "PARTITION_RANGE": MISSING,
}
_BY_ENDING: Mapping[str, HTTPStatus] = {
    "_MISSING": MISSING,
    "_EXISTS": TAKEN,
    "_TAKEN": TAKEN,
    "_BUSY": TAKEN,
    "_RUNNING": TAKEN,
    "_CHANGED": TAKEN,
    "_FENCED": TAKEN,
    "_TIMEOUT": HTTPStatus.GATEWAY_TIMEOUT,
}
_BY_KIND: tuple[tuple[type[PenstockError], HTTPStatus], ...] = (
    (StorageError, AWAY),
    (CorruptionError, AWAY),
    (SetupError, AWAY),
    (StateError, AWAY),
    (StoreError, AWAY),
    (ChannelError, AWAY),
    (DeliveryError, AWAY),
    (RunError, AWAY),
    (ConfigError, AWAY),
    (SchemaError, UNFIT),
    (UsageError, BAD),
    (ModelError, BAD),
    (PlanError, BAD),
    (SqlError, BAD),
)


def status_of(error: PenstockError) -> int:
    """Give the status of an error: by its code, else by how that ends, else by its class."""
    known = _BY_CODE.get(error.code)
    if known is not None:
        return known
    if not isinstance(error, SqlError):
        # A statement that names what is not there is still a statement that does not fit.
        for ending, status in _BY_ENDING.items():
            if error.code.endswith(ending):
                return status
    return next((status for kind, status in _BY_KIND if isinstance(error, kind)), BAD)

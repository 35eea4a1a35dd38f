"""What receivers are told: one message for the alerts of a group."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any

from penstock.watch.alert import Alert

_MOST = 100
"""How many alerts one message lists."""


@dataclass(frozen=True, slots=True)
class Message:
    """The alerts of one rule and group that are told together, the last state of each key."""

    rule: str
    group: str
    alerts: tuple[Alert, ...]
    at: int

    @property
    def id(self) -> str:
        """The same for the same alerts, however often they are sent."""
        parts = "\n".join(alert.id for alert in self.alerts)
        return hashlib.sha256(parts.encode()).hexdigest()[:32]

    @property
    def firing(self) -> int:
        """How many of them fire."""
        return sum(alert.state == "firing" for alert in self.alerts)

    @property
    def title(self) -> str:
        """What it is about, in one line."""
        over = len(self.alerts) - self.firing
        parts = [f"{self.firing} firing"] if self.firing else []
        parts += [f"{over} resolved"] if over else []
        group = "" if self.group == "{}" else f" {self.group}"
        return f"[{', '.join(parts)}] {self.rule}{group}"


def json_body(message: Message) -> bytes:
    """Give a message as JSON."""
    shown = message.alerts[:_MOST]
    document = {
        "id": message.id,
        "rule": message.rule,
        "group": json.loads(message.group),
        "state": "firing" if message.firing else "resolved",
        "title": message.title,
        "at": moment(message.at),
        "alerts": [alert_document(alert) for alert in shown],
        "left_out": len(message.alerts) - len(shown),
    }
    return json.dumps(document, ensure_ascii=False).encode()


def alert_document(alert: Alert) -> Mapping[str, Any]:
    """Give an alert as JSON values."""
    return {
        "id": alert.id,
        "rule": alert.rule,
        "state": alert.state,
        "key": json.loads(alert.key),
        "value": json.loads(alert.value),
        "since": moment(alert.since),
        "at": moment(alert.at),
        "notice": alert.notice,
        "message": alert.message,
    }


def mail_of(message: Message, sender: str, address: str) -> EmailMessage:
    """Give a message as a mail."""
    mail = EmailMessage()
    mail["Subject"] = " ".join(message.title.split())
    mail["From"] = sender
    mail["To"] = address
    mail["Date"] = format_datetime(datetime.fromtimestamp(message.at / 1000, UTC))
    mail["Message-ID"] = f"<{message.id}@penstock.invalid>"
    mail["Auto-Submitted"] = "auto-generated"
    lines = [_line(alert) for alert in message.alerts[:_MOST]]
    if len(message.alerts) > _MOST:
        lines.append(f"and {len(message.alerts) - _MOST} more")
    mail.set_content("\n".join(lines) + "\n")
    return mail


def moment(at: int) -> str:
    """Give a time as ISO 8601 has it."""
    text = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _line(alert: Alert) -> str:
    told = f"since {moment(alert.since)}"
    if alert.state == "resolved":
        told += f", resolved {moment(alert.at)}"
    again = f", told {alert.notice} times" if alert.notice > 1 else ""
    return f"{alert.state.upper()} {alert.message}\n  {told}{again}\n  id {alert.id}"

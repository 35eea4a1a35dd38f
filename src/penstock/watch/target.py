"""Where an alert goes: a topic, a webhook, a mail address."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, TypeAlias

from typing_extensions import override

from penstock.connect.secret import shown_address
from penstock.errors import ConfigError

TargetKind: TypeAlias = Literal["topic", "webhook", "mail"]
ALERTS_TOPIC = "alerts"


@dataclass(frozen=True, slots=True, repr=False)
class Target:
    """One receiver; `place` may hold `${NAME}`, which is filled in when something is sent."""

    kind: TargetKind
    place: str

    @property
    def group(self) -> str:
        """The consumer group whose offsets say how far this receiver has been told."""
        return f"penstock.alerts.{hashlib.sha256(str(self.place).encode()).hexdigest()[:12]}"

    @override
    def __str__(self) -> str:
        """Say which it is; the path of an address may be a token and is left out."""
        place = shown_address(self.place) if self.kind == "webhook" else self.place
        return f"{self.kind}:{place}"

    @override
    def __repr__(self) -> str:
        return f"Target({self})"


def target_of(text: str) -> Target:
    """Read `topic:NAME`, `webhook:URL` or `mail:ADDRESS`."""
    kind, _, place = text.partition(":")
    if kind == "topic" and place:
        return Target("topic", place)
    if kind == "webhook" and place.startswith(("http://", "https://", "${")):
        return Target("webhook", place)
    if kind == "mail" and "@" in place.strip("@") and not set(place) & set("\r\n,; "):
        return Target("mail", place)
    raise ConfigError(
        "ALERT_TARGET",
        f'an alert is to go to a receiver of kind "{kind[:20]}", which cannot be read',
        hint='Write "topic:alerts", "webhook:https://example.com/hook" or "mail:ops@example.com".',
    )

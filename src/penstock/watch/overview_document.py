"""Rules and their alerts as JSON has them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from penstock.watch.message import alert_document
from penstock.watch.overview import Overview


def overview_document(found: Overview) -> dict[str, Any]:
    """Give all rules and alerts as JSON has them."""
    return {
        "watched": found.watched,
        "receivers": found.receivers,
        "rules": [
            {
                "rule": view.rule.name,
                "on": {view.rule.watched: view.rule.place},
                "when": view.rule.when,
                "to": [str(target) for target in view.rule.to],
                "problem": view.problem,
                "made": view.made,
                "silences": [asdict(silence) for silence in view.silences],
                "alerts": [alert_document(alert) for alert in view.alerts],
            }
            for view in found.rules
        ],
    }

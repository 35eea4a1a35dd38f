"""Rules that were made at a server: kept in the home, beside those of the configuration."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from penstock.errors import ConfigError, UsageError, did_you_mean
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.storage import Storage, held
from penstock.watch.rule import Rule
from penstock.watch.rule_document import rules_of

_FILE = "rules.json"
_LOCK = "rules.lock"
Tables: TypeAlias = Mapping[str, object]
"""Rules by their names, each with the words of `[alerts.NAME]`."""


def made_rules(home: Path) -> MadeRules:
    """Give the rules that were made at a server of a home."""
    return MadeRules(DiskStorage(home / "watch"))


def rule_tables(home: Path, configured: Tables) -> dict[str, object]:
    """Give all rules of a home; one of the configuration wins over one that was made."""
    return {**made_rules(home).tables(), **configured}


def rules_now(home: Path, configured: Tables) -> tuple[Rule, ...]:
    """Read all rules of a home, in the order of their names."""
    return rules_of(rule_tables(home, configured))


class MadeRules:
    """The rules of one home that stand in no configuration."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def tables(self) -> dict[str, Any]:
        """Give them."""
        with coded_storage_errors("reading rules"):
            found = json.loads(self._storage.read(_FILE)) if self._storage.exists(_FILE) else {}
        return dict(found)

    def put(self, name: str, table: Mapping[str, Any], configured: Tables) -> bool:
        """Make a rule, or change it; whether it is new. One that cannot be is refused."""
        _require_free(name, configured)
        try:
            rules_of({name: table})
        except ConfigError as error:
            raise UsageError("ALERT_FORM", error.fact, hint=error.hint) from error
        return name not in self._changed(lambda known: {**known, name: dict(table)})

    def remove(self, name: str, configured: Tables) -> None:
        """Forget a rule; its alerts stay written down as they are."""
        _require_free(name, configured)
        # To ask for one that is not there writes nothing.
        before = self.tables()
        if name not in before:
            raise UsageError(
                "ALERT_MISSING",
                f'there is no rule "{name}"',
                hint=did_you_mean(name, before) or "List them with `penstock alerts list`.",
            )
        self._changed(lambda known: {n: t for n, t in known.items() if n != name})

    def _changed(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        """Change them, and give what they were."""
        with coded_storage_errors("writing a rule"):
            self._storage.make_directory("")
            with held(self._storage.lock(_LOCK)):
                before = self.tables()
                text = json.dumps(change(before), ensure_ascii=False, indent=1)
                self._storage.replace(_FILE, text.encode(), sync=True)
                return before


def _require_free(name: str, configured: Tables) -> None:
    if name in configured:
        raise UsageError(
            "ALERT_CONFIGURED",
            f'rule "{name}" stands in the configuration',
            hint=f"Change [alerts.{name}] there, or give another name.",
        )

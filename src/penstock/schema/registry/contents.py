"""What a registry holds, made from the records of its topic; only `apply` changes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from penstock.schema.registry.association import Association
from penstock.schema.registry.context import DEFAULT_CONTEXT, context_of, scope_of, scopes_of
from penstock.schema.registry.entry import Entry, Json, association_of, registered_of
from penstock.schema.registry.level import DEFAULT_LEVEL, Level
from penstock.schema.registry.port import LEVEL_SETTING, Mode, Which
from penstock.schema.registry.registered import Registered, guid_of


class Contents:
    """Subjects with their versions, settings and modes."""

    def __init__(self, default_level: Level = DEFAULT_LEVEL) -> None:
        self._default_level = default_level
        self._subjects: dict[str, dict[int, Registered]] = {}
        self._settings: dict[str, dict[str, Any]] = {}
        self._modes: dict[str, Mode] = {}
        self._by_id: defaultdict[tuple[str, int], dict[tuple[str, int], None]] = defaultdict(dict)
        self._last_ids: dict[str, int] = {}
        self._associations: dict[tuple[str, ...], Association] = {}

    def apply(self, entry: Entry) -> None:
        """Take a record of the topic into account; kinds that are not known are passed over."""
        key, value = entry
        match key.get("keytype"):
            case "SCHEMA":
                self._apply_schema(key, value)
            case "DELETE_SUBJECT" if value is not None:
                self._apply_deletion(value)
            case "CONFIG":
                self._apply_settings(key, value)
            case "MODE":
                self._apply_mode(key, value)
            case "ASSOC":
                self._apply_association(key, value)
            case "LAST_ID" if value is not None:
                self._saw_id(value["context"], value["id"])
            case _:
                pass

    def subjects(self, which: Which = "live") -> list[str]:
        """Give the names of subjects, sorted; one is deleted when all its versions are."""
        return sorted(
            subject
            for subject, versions in self._subjects.items()
            if _wanted(which, deleted=all(one.deleted for one in versions.values()))
        )

    def has_subject(self, subject: str, which: Which = "live") -> bool:
        """Whether a subject has such a version."""
        return any(True for _ in self.versions(subject, which))

    def versions(self, subject: str, which: Which = "live") -> Iterator[Registered]:
        """Give the versions of a subject, the oldest first."""
        found = self._subjects.get(subject, {})
        return (
            found[version]
            for version in sorted(found)
            if _wanted(which, deleted=found[version].deleted)
        )

    def version(self, subject: str, version: int | None, which: Which) -> Registered | None:
        """Give a version, or the last one that lives; None where there is none such."""
        if version is None:
            return next(reversed(list(self.versions(subject))), None)
        found = self._subjects.get(subject, {}).get(version)
        return found if found is not None and _wanted(which, deleted=found.deleted) else None

    def everything(self, which: Which = "live") -> Iterator[Registered]:
        """Give all versions, by subject."""
        for subject in sorted(self._subjects):
            yield from self.versions(subject, which)

    def with_id(self, context: str, schema_id: int) -> list[Registered]:
        """Give the versions that have an id, deleted ones too."""
        places = self._by_id.get((context, schema_id), {})
        return [self._subjects[subject][version] for subject, version in places]

    def id_of_content(self, context: str, guid: str) -> int | None:
        """Give the id that a content has in a context, by whichever subject."""
        return next(
            (
                one.id
                for one in self.everything("all")
                if one.guid == guid and context_of(one.subject) == context
            ),
            None,
        )

    def next_id(self, context: str) -> int:
        """Give the id that nothing in a context has had yet."""
        return self.last_id(context) + 1

    def last_id(self, context: str) -> int:
        """Give the highest id that a context has given; 0 before the first."""
        return self._last_ids.get(context, 0)

    def next_version(self, subject: str) -> int:
        """Give the number of the next version; what was deleted for ever may come again."""
        return max(self._subjects.get(subject, {}), default=0) + 1

    def contexts(self) -> list[str]:
        """Give the contexts that hold anything, the default one always and first."""
        found = {context_of(subject) for subject in self._subjects} - {DEFAULT_CONTEXT}
        return [DEFAULT_CONTEXT, *sorted(found)]

    def associations(self) -> list[Association]:
        """Give all associations, the oldest first."""
        return list(self._associations.values())

    def own_settings(self, subject: str | None) -> Mapping[str, Any] | None:
        """Give what is set for a subject itself (None: for all); None where nothing is."""
        return self._settings.get(scope_of(subject))

    def settings(self, subject: str | None) -> Mapping[str, Any]:
        """Give the settings in force for a subject: its own, its context's, those of all."""
        merged: dict[str, Any] = {LEVEL_SETTING: self._default_level}
        for scope in reversed(scopes_of(subject)):
            merged |= self._settings.get(scope, {})
        return merged

    def own_mode(self, subject: str | None) -> Mode | None:
        """Give the mode set for a subject itself, unless all are held by READONLY_OVERRIDE."""
        overall = self._modes.get("")
        return overall if overall == "READONLY_OVERRIDE" else self._modes.get(scope_of(subject))

    def mode(self, subject: str | None) -> Mode:
        """Give the mode in force for a subject."""
        if self._modes.get("") == "READONLY_OVERRIDE":
            return "READONLY_OVERRIDE"
        found = (self._modes.get(scope) for scope in scopes_of(subject))
        return next((mode for mode in found if mode is not None), "READWRITE")

    def _apply_schema(self, key: Json, value: Json | None) -> None:
        subject, version = key["subject"], key["version"]
        old = self._subjects.get(subject, {}).pop(version, None)
        if old is not None:
            self._by_id[context_of(subject), old.id].pop((subject, version))
        if value is None:
            if not self._subjects.get(subject, True):
                del self._subjects[subject]
            return
        new = registered_of(value)
        if not new.guid:
            new = replace(new, guid=guid_of(new.schema, new.metadata, new.rules))
        context = context_of(subject)
        self._subjects.setdefault(subject, {})[version] = new
        self._by_id[context, new.id][subject, version] = None
        self._saw_id(context, new.id)

    def _apply_deletion(self, value: Json) -> None:
        versions = self._subjects.get(value["subject"], {})
        for number, one in versions.items():
            if number <= value["version"]:
                versions[number] = replace(one, deleted=True)

    def _apply_settings(self, key: Json, value: Json | None) -> None:
        scope = key.get("subject") or ""
        if value is None:
            self._settings.pop(scope, None)
        else:
            self._settings[scope] = {name: one for name, one in value.items() if name != "subject"}

    def _apply_mode(self, key: Json, value: Json | None) -> None:
        scope = key.get("subject") or ""
        if value is None:
            self._modes.pop(scope, None)
        else:
            self._modes[scope] = value["mode"]

    def _apply_association(self, key: Json, value: Json | None) -> None:
        words = ("resourceNamespace", "resourceName", "resourceType", "associationType")
        place = tuple(key[word] for word in words)
        self._associations.pop(place, None)
        if value is not None:
            self._associations[place] = association_of(value)

    def _saw_id(self, context: str, schema_id: int) -> None:
        self._last_ids[context] = max(schema_id, self.last_id(context))


def _wanted(which: Which, *, deleted: bool) -> bool:
    return which == "all" or deleted == (which == "deleted")

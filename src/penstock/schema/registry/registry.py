"""A registry of schemas kept in a log; what Confluent's promises, without HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import override

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import RegistryError
from penstock.log.port import Log
from penstock.schema.codec.schemas import SchemaText, Version
from penstock.schema.registry import associating, deleting, registering
from penstock.schema.registry.association import Asking, Association, Wish
from penstock.schema.registry.codec_questions import CodecQuestions
from penstock.schema.registry.contents import Contents
from penstock.schema.registry.context import (
    begins_with,
    check_subject,
    context_of,
    plain_subject,
    scope_of,
    split_subject,
)
from penstock.schema.registry.languages import language_named
from penstock.schema.registry.level import DEFAULT_LEVEL, Level, level_named
from penstock.schema.registry.port import EVERY_CONTEXT, LEVEL_SETTING, Mode, Which
from penstock.schema.registry.references import referring, source_of
from penstock.schema.registry.refusals import missing_schema, missing_subject, missing_version
from penstock.schema.registry.registered import Registered, Registration
from penstock.schema.registry.schema_topic import SchemaTopic


class Registry(CodecQuestions):
    """Subjects, versions and ids; every answer includes all that any process wrote before it."""

    def __init__(
        self, log: Log, *, default_level: Level = DEFAULT_LEVEL, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._topic = SchemaTopic(log, default_level=default_level)
        self._clock = clock

    # What codecs ask.

    def by_id(self, id: int) -> SchemaText:  # noqa: A002  # the word of every registry
        """Give a schema; `RegistryError("SCHEMA_MISSING")` where the id is not known."""
        return self.registered_with_id(id).schema

    # Writing.

    @override
    def register_as(
        self, subject: str, wanted: Registration, *, normalize: bool = False
    ) -> Registered:
        """Register a schema with its metadata, rules, and in mode IMPORT its own id."""
        name = check_subject(subject)
        now = self._clock.now()
        known = self._topic.ask(
            lambda contents: _known_already(contents, name, wanted, normalize=normalize)
        )
        if known is not None:
            return known
        return self._topic.change(
            lambda contents: registering.register(
                contents, name, wanted, normalize=normalize, now=now
            )
        )

    def delete_version(
        self, subject: str, version: int | None = None, *, permanent: bool = False
    ) -> int:
        """Delete a version, the last one by default, for now or (then) permanently."""
        name = plain_subject(subject)
        return self._topic.change(
            lambda contents: deleting.delete_version(contents, name, version, permanent=permanent)
        )

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Delete all versions of a subject, for now or (then) permanently; give their numbers."""
        name = plain_subject(subject)
        return self._topic.change(
            lambda contents: deleting.delete_subject(contents, name, permanent=permanent)
        )

    def set_settings(self, subject: str | None, changes: Mapping[str, Any]) -> None:
        """Change the settings of a subject, or (None) of all; a setting of null is taken away."""
        if scope_of(subject) and split_subject(str(subject)).subject:
            check_subject(str(subject))
        self._topic.change(lambda contents: deleting.set_settings(contents, subject, changes))

    def delete_settings(self, subject: str | None = None) -> Mapping[str, Any]:
        """Take away what is set for a subject or for all; give what it was."""
        return self._topic.change(lambda contents: deleting.delete_settings(contents, subject))

    def set_level(self, subject: str | None, level: str) -> None:
        """Set the compatibility level of a subject, or (None) of all that have none."""
        self.set_settings(subject, {LEVEL_SETTING: level_named(level)})

    def set_mode(self, subject: str | None, mode: str | None, *, force: bool = False) -> None:
        """Set the mode of a subject, a context, or (None) all; no mode takes it away."""
        if scope_of(subject) and split_subject(str(subject)).subject:
            check_subject(str(subject))
        self._topic.change(lambda contents: deleting.set_mode(contents, subject, mode, force=force))

    def delete_mode(self, subject: str | None = None) -> Mode:
        """Take away the mode of a subject, a context or all; give what it was."""
        return self._topic.change(lambda contents: deleting.delete_mode(contents, subject))

    # Reading.

    @override
    def find(
        self, subject: str, wanted: Registration, *, normalize: bool = False, deleted: bool = False
    ) -> Registered:
        """Give the version of a subject that has a content."""
        name = plain_subject(subject)
        return self._topic.ask(
            lambda contents: registering.look_up(
                contents, name, wanted, normalize=normalize, deleted=deleted
            )
        )

    @override
    def version_of(
        self, subject: str, version: int | None = None, *, deleted: bool = False
    ) -> Registered:
        """Give a version of a subject, the last one by default; a deleted one only if asked for."""
        name = plain_subject(subject)
        which: Which = "all" if deleted else "live"

        def find(contents: Contents) -> Registered:
            found = contents.version(name, version, which)
            if found is not None:
                return found
            if not contents.has_subject(name, which):
                raise missing_subject(name)
            raise missing_version(name, version)

        return self._topic.ask(find)

    def versions(self, subject: str, which: Which = "live") -> list[Registered]:
        """Give the versions of a subject, the oldest first."""
        name = plain_subject(subject)

        def find(contents: Contents) -> list[Registered]:
            if not contents.has_subject(name, "live" if which == "live" else "all"):
                raise missing_subject(name)
            return list(contents.versions(name, which))

        return self._topic.ask(find)

    def subjects(self, which: Which = "live", *, prefix: str = EVERY_CONTEXT) -> list[str]:
        """Give the names of subjects, sorted."""
        return self._topic.ask(
            lambda contents: [
                subject for subject in contents.subjects(which) if begins_with(subject, prefix)
            ]
        )

    def schemas(
        self, which: Which = "live", *, prefix: str = EVERY_CONTEXT, latest_only: bool = False
    ) -> list[Registered]:
        """Give all versions of all subjects, or the last one of each."""
        found = self._topic.ask(
            lambda contents: [
                one for one in contents.everything(which) if begins_with(one.subject, prefix)
            ]
        )
        return list({one.subject: one for one in found}.values()) if latest_only else found

    def registered_with_id(self, schema_id: int, *, subject: str | None = None) -> Registered:
        """Give a version that has an id, if possible one of the subject."""
        found = self.all_with_id(schema_id, subject=subject, which="all")
        name = None if subject is None else plain_subject(subject)
        own = [one for one in found if one.subject == name]
        return (own or found)[0]

    def all_with_id(
        self, schema_id: int, *, subject: str | None = None, which: Which = "live"
    ) -> list[Registered]:
        """Give all versions that have an id; a subject tells only the context."""
        context = context_of(subject or "")
        found = self._topic.ask(lambda contents: contents.with_id(context, schema_id))
        if not found:
            raise missing_schema(f"schema {schema_id}")
        return [one for one in found if which == "all" or not one.deleted]

    def all_with_guid(self, guid: str) -> list[Registered]:
        """Give all versions of a content."""
        found = self._topic.ask(
            lambda contents: [one for one in contents.everything("all") if one.guid == guid]
        )
        if not found:
            raise missing_schema(f"schema {guid}")
        return found

    def last_id(self, context: str) -> int:
        """Give the highest id that a context has given; 0 before the first."""
        return self._topic.ask(lambda contents: contents.last_id(context))

    def contexts(self) -> list[str]:
        """Give the contexts, the default one first."""
        return self._topic.ask(Contents.contexts)

    def with_metadata(
        self, subject: str, properties: Mapping[str, str], *, deleted: bool = False
    ) -> Registered:
        """Give the last version whose metadata has these properties."""
        versions = self.versions(subject, "all" if deleted else "live")
        for one in reversed(versions):
            own = (one.metadata or {}).get("properties") or {}
            if own and properties.items() <= own.items():
                return one
        raise missing_schema(f'a schema with such metadata under subject "{subject}"')

    def referring(
        self, subject: str, version: int | None = None, *, deleted: bool = False
    ) -> list[int]:
        """Give the ids of the schemas that refer to a version."""
        target = self.version_of(subject, version, deleted=True)
        return self._topic.ask(lambda contents: referring(contents, target, deleted=deleted))

    def formatted(self, registered: Registered, form: str = "") -> str:
        """Give the text of a schema in a form its language knows."""
        if not form:
            return registered.schema.text
        source = self._topic.ask(
            lambda contents: source_of(contents, registered.subject, registered.schema)
        )
        return language_named(registered.schema.type).formatted(source, form)

    def settings(self, subject: str | None = None, *, in_force: bool = False) -> Mapping[str, Any]:
        """Give what is set for a subject, or what is in force for it; always so for all."""

        def find(contents: Contents) -> Mapping[str, Any]:
            own = contents.own_settings(subject)
            if in_force or not scope_of(subject):
                return contents.settings(subject)
            if own is None:
                raise RegistryError(
                    "LEVEL_NOT_SET",
                    f'subject "{subject}" has no compatibility level of its own',
                    hint="Ask for the one in force, or set one.",
                )
            return own

        return self._topic.ask(find)

    def mode(self, subject: str | None = None, *, in_force: bool = False) -> Mode:
        """Give the mode set for a subject, or the one in force for it; always so for all."""

        def find(contents: Contents) -> Mode:
            if in_force or not scope_of(subject):
                return contents.mode(subject)
            own = contents.own_mode(subject)
            if own is None:
                raise RegistryError(
                    "MODE_NOT_SET",
                    f'subject "{subject}" has no mode of its own',
                    hint="Ask for the one in force, or set one.",
                )
            return own

        return self._topic.ask(find)

    def objections(
        self,
        subject: str,
        wanted: Registration,
        *,
        against: Sequence[Version] | None = None,
        normalize: bool = False,
    ) -> tuple[str, ...]:
        """Say what speaks against a schema: after all versions, or only those given."""
        name = plain_subject(subject)

        def compare(contents: Contents) -> tuple[str, ...]:
            normal = normalize or bool(contents.settings(name).get("normalize"))
            new = registering.candidate(contents, name, wanted.schema, normalize=normal)
            versions = list(contents.versions(name, "all" if against is not None else "live"))
            if against is not None:
                numbers = {one.version for one in against}
                versions = [one for one in versions if one.version in numbers]
            return registering.incompatible(contents, name, new, versions, wanted)

        return self._topic.ask(compare)

    def associate(self, wishes: Sequence[Wish]) -> list[Association]:
        """Associate subjects with resources, registering what schemas come along."""
        for wish in wishes:
            if wish.schema is not None:
                subject = wish.association.subject
                self.register_as(subject, wish.schema, normalize=wish.normalize)
        wanted = [wish.association for wish in wishes]
        return self._topic.change(lambda contents: associating.associate(contents, wanted))

    def associations(self, asking: Asking) -> list[Association]:
        """Give the associations somebody asks for."""
        return self._topic.ask(
            lambda contents: [one for one in contents.associations() if asking.matches(one)]
        )

    def dissociate(self, asking: Asking, *, with_subjects: bool = False) -> None:
        """End associations; the subjects of those that are STRONG go too, if asked for."""
        gone = self._topic.change(lambda contents: associating.dissociate(contents, asking))
        for one in gone if with_subjects else ():
            if one.lifecycle == "STRONG" and one.subject in self.subjects():
                self.delete_subject(one.subject)

    def close(self) -> None:
        """Let go of the log, which stays open."""
        self._topic.close()


def _known_already(
    contents: Contents, subject: str, wanted: Registration, *, normalize: bool
) -> Registered | None:
    """Find what needs no writing, so that those who only ask do not fence writers off."""
    try:
        known, entries = registering.register(contents, subject, wanted, normalize=normalize, now=0)
    except RegistryError:
        return None
    return None if entries else known

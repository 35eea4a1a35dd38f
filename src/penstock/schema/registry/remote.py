"""A registry that answers over HTTP: Confluent's own, or another that speaks as it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from typing_extensions import override

from penstock.schema.codec.schemas import SchemaText, Version
from penstock.schema.registry.association import Asking, Association, Wish
from penstock.schema.registry.codec_questions import CodecQuestions
from penstock.schema.registry.context import check_subject
from penstock.schema.registry.entry import (
    association_document,
    association_of,
    one_reference,
    registered_of,
)
from penstock.schema.registry.exchange import Answer, Exchange, Retry
from penstock.schema.registry.level import level_named
from penstock.schema.registry.port import EVERY_CONTEXT, LEVEL_SETTING, Mode, Which
from penstock.schema.registry.registered import Registered, Registration

_LEVEL_WORD = "compatibility"


class RemoteRegistry(CodecQuestions):
    """Asks a registry at an address; what an id stands for is asked once.

    A name and password may stand in the address: `https://name:password@registry:8081`.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 10.0,
        retry: Retry | None = None,
        token: str = "",
        ca_file: Path | None = None,
    ) -> None:
        self._exchange = Exchange(
            url, timeout=timeout, retry=retry or Retry(), token=token, ca_file=ca_file
        )
        self._by_id: dict[int, SchemaText] = {}

    # What codecs ask.

    def by_id(self, id: int) -> SchemaText:  # noqa: A002  # the word of every registry
        """Give a schema; an id never changes its meaning, so it is asked for once."""
        known = self._by_id.get(id)
        if known is None:
            known = self._by_id[id] = self.registered_with_id(id).schema
        return known

    # Writing.

    @override
    def register_as(
        self, subject: str, wanted: Registration, *, normalize: bool = False
    ) -> Registered:
        """Register a schema with its metadata, rules, and in mode IMPORT its own id."""
        path = f"/subjects/{_word(check_subject(subject))}/versions"
        self._ask("POST", path, _flags(normalize=normalize), _body(wanted))
        # Older servers answer with the id alone.
        return self.find(subject, wanted, normalize=normalize)

    def delete_version(
        self, subject: str, version: int | None = None, *, permanent: bool = False
    ) -> int:
        """Delete a version for now or (then) permanently; give its number."""
        path = f"/subjects/{_word(subject)}/versions/{_number(version)}"
        return int(self._ask("DELETE", path, _flags(permanent=permanent)))

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Delete all versions of a subject for now or (then) permanently; give their numbers."""
        path = f"/subjects/{_word(subject)}"
        return list(self._ask("DELETE", path, _flags(permanent=permanent)))

    def set_settings(self, subject: str | None, changes: Mapping[str, Any]) -> None:
        """Change settings; what is not mentioned stays, and null takes away."""
        body = dict(changes)
        if LEVEL_SETTING in body:
            body[_LEVEL_WORD] = body.pop(LEVEL_SETTING)
        self._ask("PUT", _scoped("/config", subject), {}, body)

    def delete_settings(self, subject: str | None = None) -> Mapping[str, Any]:
        """Take away what is set; give what it was."""
        return dict(self._ask("DELETE", _scoped("/config", subject)))

    def set_level(self, subject: str | None, level: str) -> None:
        """Set the compatibility level."""
        self.set_settings(subject, {LEVEL_SETTING: level_named(level)})

    def set_mode(self, subject: str | None, mode: str | None, *, force: bool = False) -> None:
        """Set the mode; None takes it away."""
        self._ask("PUT", _scoped("/mode", subject), _flags(force=force), {"mode": mode})

    def delete_mode(self, subject: str | None = None) -> Mode:
        """Take the mode away; give what it was."""
        return cast(Mode, self._ask("DELETE", _scoped("/mode", subject))["mode"])

    # Reading.

    @override
    def find(
        self, subject: str, wanted: Registration, *, normalize: bool = False, deleted: bool = False
    ) -> Registered:
        """Give the version of a subject that has a content."""
        query = _flags(normalize=normalize, deleted=deleted)
        found = self._ask("POST", f"/subjects/{_word(subject)}", query, _body(wanted))
        return registered_of(found)

    @override
    def version_of(
        self, subject: str, version: int | None = None, *, deleted: bool = False
    ) -> Registered:
        """Give a version of a subject; a deleted one only if asked for."""
        path = f"/subjects/{_word(subject)}/versions/{_number(version)}"
        return registered_of(self._ask("GET", path, _flags(deleted=deleted)))

    def versions(self, subject: str, which: Which = "live") -> list[Registered]:
        """Give the versions of a subject, the oldest first."""
        numbers = self._ask("GET", f"/subjects/{_word(subject)}/versions", _which(which))
        return [self.version_of(subject, number, deleted=which != "live") for number in numbers]

    def subjects(self, which: Which = "live", *, prefix: str = EVERY_CONTEXT) -> list[str]:
        """Give the names of subjects, sorted; one is deleted when all its versions are."""
        return sorted(self._ask("GET", "/subjects", _which(which) | {"subjectPrefix": prefix}))

    def schemas(
        self, which: Which = "live", *, prefix: str = EVERY_CONTEXT, latest_only: bool = False
    ) -> list[Registered]:
        """Give all versions of all subjects, or the last one of each."""
        query = _which(which) | {"subjectPrefix": prefix} | _flags(latestOnly=latest_only)
        return [registered_of(found) for found in self._ask("GET", "/schemas", query)]

    def registered_with_id(self, schema_id: int, *, subject: str | None = None) -> Registered:
        """Give a version that has an id, if possible one of the subject."""
        query = {} if subject is None else {"subject": subject}
        found = self._ask("GET", f"/schemas/ids/{schema_id}", query)
        # Older servers do not say where it is registered.
        return registered_of({"subject": subject or "", "version": 0, "id": schema_id} | found)

    def all_with_id(
        self, schema_id: int, *, subject: str | None = None, which: Which = "live"
    ) -> list[Registered]:
        """Give all versions that have an id; the subject tells only the context."""
        query = _which(which) | ({} if subject is None else {"subject": subject})
        pairs = self._ask("GET", f"/schemas/ids/{schema_id}/versions", query)
        return [
            self.version_of(pair["subject"], pair["version"], deleted=which != "live")
            for pair in pairs
        ]

    def all_with_guid(self, guid: str) -> list[Registered]:
        """Give the versions of a content that the registry names."""
        found = self._ask("GET", f"/schemas/guids/{_word(guid)}")
        return [registered_of({"subject": "", "version": 0, "id": 0} | found)]

    def with_metadata(
        self, subject: str, properties: Mapping[str, str], *, deleted: bool = False
    ) -> Registered:
        """Give the last version whose metadata has these properties."""
        query: dict[str, Any] = _flags(deleted=deleted)
        query |= {"key": list(properties), "value": list(properties.values())}
        return registered_of(self._ask("GET", f"/subjects/{_word(subject)}/metadata", query))

    def referring(
        self, subject: str, version: int | None = None, *, deleted: bool = False
    ) -> list[int]:
        """Give the ids of the schemas that refer to a version."""
        path = f"/subjects/{_word(subject)}/versions/{_number(version)}/referencedby"
        return list(self._ask("GET", path, _flags(deleted=deleted)))

    def formatted(self, registered: Registered, form: str = "") -> str:
        """Give the text of a schema in a form its language knows."""
        if not form:
            return registered.schema.text
        query = {"format": form} | ({"subject": registered.subject} if registered.subject else {})
        return str(self._ask("GET", f"/schemas/ids/{registered.id}", query)["schema"])

    def settings(self, subject: str | None = None, *, in_force: bool = False) -> Mapping[str, Any]:
        """Give what is set for a subject, or what is in force for it; always so for all."""
        return dict(self._ask("GET", _scoped("/config", subject), _flags(defaultToGlobal=in_force)))

    def mode(self, subject: str | None = None, *, in_force: bool = False) -> Mode:
        """Give the mode set for a subject, or the one in force for it; always so for all."""
        found = self._ask("GET", _scoped("/mode", subject), _flags(defaultToGlobal=in_force))
        return cast(Mode, found["mode"])

    def objections(
        self,
        subject: str,
        wanted: Registration,
        *,
        against: Sequence[Version] | None = None,
        normalize: bool = False,
    ) -> tuple[str, ...]:
        """Say what speaks against a schema: after all versions, or only those given."""
        path = f"/compatibility/subjects/{_word(subject)}/versions"
        paths = [path] if against is None else [f"{path}/{one.version}" for one in against]
        query = {"verbose": "true"} | _flags(normalize=normalize)
        found: list[str] = []
        for one in paths:
            answer = self._ask("POST", one, query, _body(wanted))
            if not answer["is_compatible"]:
                found += answer.get("messages") or ["the registry says it is incompatible"]
        return tuple(found)

    def associate(self, wishes: Sequence[Wish]) -> list[Association]:
        """Associate subjects with resources, registering what schemas come along."""
        for resource in dict.fromkeys(wish.association.resource for wish in wishes):
            own = [wish for wish in wishes if wish.association.resource == resource]
            self._ask("POST", "/associations", {}, _associations_body(own))
        return [wish.association for wish in wishes]

    def associations(self, asking: Asking) -> list[Association]:
        """Give the associations somebody asks for."""
        path = f"/associations/resources/{_word(asking.namespace)}/{_word(asking.name)}"
        if asking.subject:
            path = f"/associations/subjects/{_word(asking.subject)}"
        elif asking.id:
            path = f"/associations/resources/{_word(asking.id)}"
        found = self._ask("GET", path, _associations_query(asking))
        return [one for one in map(association_of, found) if asking.matches(one)]

    def dissociate(self, asking: Asking, *, with_subjects: bool = False) -> None:
        """End associations; the subjects of those that are STRONG go too, if asked for."""
        query = _associations_query(asking) | _flags(cascadeLifecycle=with_subjects)
        for resource in {one.resource.id for one in self.associations(asking)}:
            self._ask("DELETE", f"/associations/resources/{_word(resource)}", query)

    def contexts(self) -> list[str]:
        """Give the contexts, the default one (`.`) first."""
        return list(self._ask("GET", "/contexts"))

    def last_id(self, context: str) -> int:
        """Give the highest id that a context has; 0 before the first."""
        prefix = ":.:" if context == "." else f":{context}:"
        return max((one.id for one in self.schemas("all", prefix=prefix)), default=0)

    def close(self) -> None:
        """Hang up."""
        self._exchange.close()

    def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Answer:
        return self._exchange.ask(method, path, query or {}, body)


def _word(text: str) -> str:
    return quote(text, safe="")


def _number(version: int | None) -> str:
    return "latest" if version is None else str(version)


def _scoped(path: str, subject: str | None) -> str:
    return path if subject is None else f"{path}/{_word(subject)}"


def _flags(**flags: bool) -> dict[str, Any]:
    return {name: "true" for name, value in flags.items() if value}


def _associations_query(asking: Asking) -> dict[str, Any]:
    query: dict[str, Any] = {"resourceType": asking.type} if asking.type else {}
    return query | ({"associationType": list(asking.parts)} if asking.parts else {})


def _associations_body(wishes: Sequence[Wish]) -> dict[str, Any]:
    documents = [association_document(wish.association) for wish in wishes]
    for document, wish in zip(documents, wishes, strict=True):
        if wish.schema is not None:
            document |= {"schema": _body(wish.schema), "normalize": wish.normalize}
    shared = {name: value for name, value in documents[0].items() if name.startswith("resource")}
    own = [{name: one[name] for name in one if name not in shared} for one in documents]
    return shared | {"associations": own}


def _which(which: Which) -> dict[str, Any]:
    return _flags(deleted=which == "all", deletedOnly=which == "deleted")


def _body(wanted: Registration) -> dict[str, Any]:
    body: dict[str, Any] = {"schema": wanted.text}
    if wanted.type != "AVRO":
        body["schemaType"] = wanted.type
    if wanted.references:
        body["references"] = [one_reference(one) for one in wanted.references]
    more = {
        "metadata": wanted.metadata,
        "ruleSet": wanted.rules,
        "id": wanted.id,
        "version": wanted.version,
    }
    return body | {name: value for name, value in more.items() if value is not None}

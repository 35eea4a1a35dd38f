"""Python classes made from an Avro schema: the text of a module."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import Any

from penstock.errors import SchemaError
from penstock.schema.avro.defaults import default_branch
from penstock.schema.avro.naming import (
    annotation,
    attribute_names,
    class_names,
    member_names,
    tells_branches,
)
from penstock.schema.avro.nodes import (
    ABSENT,
    Array,
    AvroSchema,
    Enum,
    Fixed,
    Map,
    Node,
    Primitive,
    Record,
    RecordField,
    Union,
)
from penstock.schema.avro.text import schema_text
from penstock.schema.avro.unions import NULL, branch_name, only_branch
from penstock.schema.avro.values import Meaning, meaning_of

_WIDTH = 88
_LONGEST = 100
_IMPORTS = (
    ("_dt.", "import datetime as _dt"),
    ("_decimal.", "import decimal as _decimal"),
    ("_uuid.", "import uuid as _uuid"),
)


def generate(schema: AvroSchema) -> str:
    """Give the text of a module with a class for each record and enum of a schema."""
    types = list(schema.types.values())
    enums = [_enum(schema, type_) for type_ in types if isinstance(type_, Enum)]
    records = [_record(schema, type_) for type_ in types if isinstance(type_, Record)]
    if not records:
        raise SchemaError(
            "AVRO_GENERATE",
            "the schema has no record to make a class of",
            hint="Give a schema with a record in it.",
        )
    body = "\n\n\n".join([*enums, *records])
    return f"{_head(schema, body)}\n\n\n{body}\n"


def _head(schema: AvroSchema, body: str) -> str:
    root = branch_name(schema.root)
    plain = [line for word, line in _IMPORTS if word in body]
    dataclass_names = "dataclass, field" if " = field(" in body else "dataclass"
    own = ["from penstock.schema.avro.record import AvroRecord"]
    own += ["from penstock.schema.avro.unions import Tagged"] if "Tagged" in body else []
    imports = [
        *plain,
        f"from dataclasses import {dataclass_names}",
        *(["from enum import StrEnum"] if "(StrEnum)" in body else []),
        "from typing import ClassVar",
        "",
        *own,
    ]
    return "\n".join(
        [
            f'"""Classes of the Avro schema {root}: change that, and make them anew."""',
            *_exceptions(body),
            "",
            "from __future__ import annotations",
            "",
            *imports,
            "",
            "_SCHEMA = (",
            *(f"    {_quoted(part)}" for part in _cut(schema_text(schema))),
            ")",
        ]
    )


def _enum(schema: AvroSchema, enum: Enum) -> str:
    names = member_names(enum)
    members = [f'    {names[symbol]} = "{symbol}"' for symbol in enum.symbols]
    head = [
        f"class {class_names(schema)[enum.name]}(StrEnum):",
        f'    """The Avro enum {enum.name}."""',
    ]
    return "\n".join([*head, "", *members] if members else head)


def _record(schema: AvroSchema, record: Record) -> str:
    names = attribute_names(schema, record)
    writing = _Literals(schema)
    fields = [
        _folded(f"    {names[item.name]}: {annotation(schema, item.type)}{writing.default(item)}")
        for item in record.fields
    ]
    return "\n".join(
        [
            "@dataclass(slots=True, kw_only=True)",
            f"class {class_names(schema)[record.name]}(AvroRecord):",
            *_docstring(f"The Avro record {record.name}.", record.doc),
            "",
            "    avro_schema: ClassVar[str] = _SCHEMA",
            f'    avro_name: ClassVar[str] = "{record.name}"',
            *(["", *fields] if fields else []),
        ]
    )


@dataclass(frozen=True, slots=True)
class _Literals:
    """Writes defaults as Python says them."""

    schema: AvroSchema

    def default(self, item: RecordField) -> str:
        """Give what stands after the annotation of a field: what may be null is, at first."""
        found = self.schema.follow(item.type)
        if item.default is not ABSENT:
            return self._assigned(item.type, item.default)
        nullable = found == NULL or (isinstance(found, Union) and NULL in found.branches)
        return " = None" if nullable else ""

    def _assigned(self, node: Node, said: Any) -> str:  # noqa: ANN401
        text = self.value(node, said)
        if text in ("[]", "{}"):
            return f" = field(default_factory={'list' if text == '[]' else 'dict'})"
        # A new one for each record: it may be changed.
        return f" = field(default_factory=lambda: {text})" if "(" in _bare(text) else f" = {text}"

    def value(self, node: Node, said: Any) -> str:  # noqa: ANN401  # one a kind
        found = self.schema.follow(node)
        match found:
            case Primitive() | Fixed():
                return _plain(found, said)
            case Enum(name=name):
                return f"{class_names(self.schema)[name]}.{member_names(found)[said]}"
            case Array(items=items):
                return f"[{', '.join(self.value(items, one) for one in said)}]"
            case Map(values=values):
                pairs = (f"{_quoted(key)}: {self.value(values, one)}" for key, one in said.items())
                return f"{{{', '.join(pairs)}}}"
            case Union():
                return self._branch(found, said)
            case Record():
                return self._made(found, said)

    def _branch(self, union: Union, said: Any) -> str:  # noqa: ANN401
        branch = union.branches[default_branch(self.schema, union, said)]
        text = self.value(branch, said)
        plain = said is None or only_branch(union) is not None
        if plain or tells_branches(self.schema, union):
            return text
        return f"Tagged({_quoted(branch_name(branch))}, {text})"

    def _made(self, record: Record, said: dict[str, Any]) -> str:
        names = attribute_names(self.schema, record)
        parts = (
            f"{names[item.name]}={self.value(item.type, said.get(item.name, item.default))}"
            for item in record.fields
        )
        return f"{class_names(self.schema)[record.name]}({', '.join(parts)})"


def _plain(node: Primitive | Fixed, said: Any) -> str:  # noqa: ANN401
    is_bytes = isinstance(node, Fixed) or node.name == "bytes"
    value = said.encode("latin-1") if is_bytes else said
    meaning = meaning_of(node)
    if meaning is not None:
        text = _shown(meaning, value).replace("datetime.timezone.utc", "_dt.UTC")
        text = text.replace("'", '"')
        text = re.sub(r"^(Decimal|UUID)", rf"{meaning.annotation}", text)
        return re.sub(r"\bdatetime\.(?=(date|time|datetime)\()", "_dt.", text)
    if isinstance(node, Primitive) and node.name in ("float", "double"):
        return repr(float(value))
    if isinstance(value, bytes):
        return f"b{_quoted(value.decode('latin-1'))}"
    return _quoted(value) if isinstance(value, str) else repr(value)


def _shown(meaning: Meaning, value: object) -> str:
    try:
        return repr(meaning.read(value))
    except (OverflowError, ValueError):
        raise SchemaError(
            "AVRO_GENERATE",
            f"the default {value!r} is no {meaning.type.__name__} that Python can hold",
            hint="Give the field a default that is nearer to today, or none.",
        ) from None


def _exceptions(body: str) -> list[str]:
    """Give the comment for a linter where names of the schema are not as Python has them."""
    classes = re.findall(r"^class (\w+)", body, re.MULTILINE)
    others = re.findall(r"^    (\w+)(?::| = )", body, re.MULTILINE)
    found = {
        "E501": any(len(line) > _LONGEST for line in body.splitlines()),
        "N801": any(
            "_" in name.strip("_") or not name.strip("_")[:1].isupper() for name in classes
        ),
        "N815": any(_is_mixed(name.lstrip("_")) for name in others),
    }
    codes = ", ".join(code for code, so in found.items() if so)
    return ["", f"# ruff: noqa: {codes}  # the names are those of the schema"] if codes else []


def _is_mixed(name: str) -> bool:
    return name[:1].islower() and not name.islower()


def _folded(line: str) -> str:
    """Give a long line as a formatter would have it."""
    head, call, inside = line.partition(" = field(")
    if len(line) <= _LONGEST or not call:
        return line
    return f"{head}{call}\n        {inside[:-1]}\n    )"


def _bare(text: str) -> str:
    """Give a literal without what is quoted in it, and lists with a bracket as calls have one."""
    without = re.sub(r"\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])*'", "", text)
    return without.replace("[", "(").replace("{", "(")


def _docstring(first: str, doc: str) -> list[str]:
    kept = "".join(c if c.isprintable() else " " for c in doc).replace('"', "'")
    lines = textwrap.wrap(kept.replace("\\", "/").strip(), _WIDTH)
    if not lines:
        return [f'    """{first}"""']
    return [f'    """{first}', "", *(f"    {line}" for line in lines), '    """']


def _quoted(text: str) -> str:
    """Give a text as a literal, with the quotes that need fewer escapes."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    plain = text.encode("unicode_escape").decode("ascii").replace(quote, f"\\{quote}")
    return f"{quote}{plain}{quote}"


def _cut(text: str) -> list[str]:
    """Cut a long text into lines, after a comma where there is one."""
    lines, rest = [], text
    while len(rest) > _WIDTH:
        at = rest.rfind(", ", 0, _WIDTH) + 2
        at = at if at > 1 else _WIDTH
        while len(_quoted(rest[:at])) > _WIDTH + 2:
            at -= 1
        lines.append(rest[:at])
        rest = rest[at:]
    return [*lines, rest]

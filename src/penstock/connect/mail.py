"""Mail sent by SMTP, over TLS where the server has it; or put into a directory, to be looked at."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from email.message import EmailMessage
from email.utils import make_msgid
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from penstock.connect.secret import secret_of
from penstock.errors import ConfigError, DeliveryError, did_you_mean
from penstock.model.duration import duration_of

if TYPE_CHECKING:
    import smtplib
    import ssl

Security: TypeAlias = Literal["starttls", "tls", "none"]
_SECURITIES: Mapping[str, Security] = {"starttls": "starttls", "tls": "tls", "none": "none"}
_PORTS: Mapping[Security, int] = {"starttls": 587, "tls": 465, "none": 25}
_KNOWN = (
    "host", "port", "from", "user", "password_env", "password_file", "security", "ca_file",
    "timeout", "outbox",
)  # fmt: skip
_PERMANENT = 500
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class MailSettings:
    """The server that takes mail, and who one is to it; with an `outbox` nothing is sent."""

    host: str
    port: int
    sender: str
    user: str = ""
    password: str = field(default="", repr=False)
    security: Security = "starttls"
    ca_file: str = ""
    timeout: timedelta = timedelta(seconds=15)
    outbox: str = ""
    """A directory in which mail is left instead."""


def mail_settings(
    table: Mapping[str, object], environment: Mapping[str, str] | None = None
) -> MailSettings:
    """Read the table `[mail]`."""
    for name in table:
        if name not in (*_KNOWN, "password"):
            raise _wrong(
                f'setting "{name}" of [mail] does not exist',
                did_you_mean(name, _KNOWN) or f"Settings: {', '.join(_KNOWN)}.",
            )
    host, sender = str(table.get("host", "")), str(table.get("from", ""))
    outbox = str(table.get("outbox", ""))
    if not (host or outbox) or "@" not in sender:
        raise _wrong(
            "[mail] does not say by whom mail is sent",
            'Write host = "smtp.example.com" and from = "penstock@example.com".',
        )
    if host and outbox:
        raise _wrong(
            "[mail] has a host and an outbox",
            "Leave the outbox out to send mail, or the host to leave it in files.",
        )
    said = str(table.get("security", "starttls"))
    if said not in _SECURITIES:
        raise _wrong(f'security "{said}" of [mail] does not exist', "Write starttls, tls or none.")
    security = _SECURITIES[said]
    port, user = table.get("port", _PORTS[security]), str(table.get("user", ""))
    if not isinstance(port, int) or isinstance(port, bool):
        raise _wrong(f"port {port!r} of [mail] is no number", f"Write port = {_PORTS[security]}.")
    if user and security == "none" and not _is_here(host):
        raise _wrong(
            f"a password would go to {host} for everybody to read",
            'Write security = "starttls" or "tls", or leave the user out.',
        )
    return MailSettings(
        host,
        port,
        sender,
        user,
        secret_of(table, "password", "[mail]", environment) if user else "",
        security,
        str(table.get("ca_file", "")),
        duration_of(str(table.get("timeout", "15s"))),
        outbox,
    )


def send_mail(message: EmailMessage, settings: MailSettings) -> None:
    """Hand a mail to its server; what it does not take is an error that tells whether to retry."""
    if settings.outbox:
        _leave(message, Path(settings.outbox))
        return
    import smtplib  # noqa: PLC0415  # few processes send mail

    try:
        server = _connected(settings)
        with server:
            server.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        raise _not_taken(settings, min(codes, default=0), "the address is refused") from None
    except smtplib.SMTPResponseException as error:
        raise _not_taken(settings, error.smtp_code, _text(error.smtp_error)) from None
    except (OSError, smtplib.SMTPException) as error:
        raise _not_taken(settings, 0, f"{type(error).__name__}: {error}") from None


def _leave(message: EmailMessage, outbox: Path) -> None:
    """Write a mail to a file of its id's name: one that is sent twice is there once."""
    id_ = str(message["Message-ID"] or make_msgid()).strip("<>").partition("@")[0]
    name = _NOT_IN_NAMES.sub("-", id_).strip(".-")[:_LONGEST_NAME] or "mail"
    try:
        outbox.mkdir(parents=True, exist_ok=True)
        partial = outbox / f".{name}.part"
        partial.write_bytes(message.as_bytes())
        partial.rename(outbox / f"{name}.eml")
    except OSError as error:
        raise DeliveryError(
            "MAIL_UNREACHABLE",
            f'outbox "{outbox}" does not take a mail: {error.strerror}',
            hint="It is tried again by itself; look whether the directory can be written.",
        ) from error


def _connected(settings: MailSettings) -> smtplib.SMTP:
    """Give a connection on which mail may be sent."""
    import smtplib  # noqa: PLC0415

    seconds = settings.timeout.total_seconds()
    place = (settings.host, settings.port)
    server: smtplib.SMTP
    if settings.security == "tls":
        server = smtplib.SMTP_SSL(*place, timeout=seconds, context=_context(settings))
    else:
        server = smtplib.SMTP(*place, timeout=seconds)
    try:
        if settings.security == "starttls":
            server.starttls(context=_context(settings))
        if settings.user:
            server.login(settings.user, settings.password)
    except BaseException:
        server.close()
        raise
    return server


def _context(settings: MailSettings) -> ssl.SSLContext:
    import ssl  # noqa: PLC0415

    return ssl.create_default_context(cafile=settings.ca_file or None)


def _is_here(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _text(said: bytes | str) -> str:
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else said


def _not_taken(settings: MailSettings, code: int, why: str) -> DeliveryError:
    told = f"mail server {settings.host}:{settings.port} does not take a mail: {code or ''} {why}"
    fact = " ".join(told.split())
    if settings.password:
        # A server may repeat what it was told.
        fact = fact.replace(settings.password, "***")
    if code >= _PERMANENT:
        return DeliveryError(
            "MAIL_REFUSED", fact, hint="Correct the address or [mail]; it is sent again then."
        )
    return DeliveryError(
        "MAIL_UNREACHABLE", fact, hint="It is tried again by itself; look whether the server runs."
    )


def _wrong(fact: str, hint: str) -> ConfigError:
    return ConfigError("MAIL_SETTINGS", fact, hint=hint)

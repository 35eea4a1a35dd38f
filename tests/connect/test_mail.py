from __future__ import annotations

import datetime as dt
import ssl
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from penstock.connect.mail import MailSettings, mail_settings, send_mail
from penstock.errors import ConfigError, DeliveryError
from tests.watch.smtp_server import SmtpServer


def a_mail() -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "p@example.com", "ops@example.com", "hello"
    mail.set_content("one\n.two\n")
    return mail


def settings(server: SmtpServer, **said: object) -> MailSettings:
    table: dict[str, object] = {
        "host": "localhost", "port": server.port, "from": "p@example.com", "security": "none",
    }  # fmt: skip
    return mail_settings({**table, **said}, {"SMTP_PASSWORD": "s3cret"})


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, str]:
    """A certificate that only this test trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder: Path = tmp_path_factory.mktemp("certificate")
    public, private = folder / "public.pem", folder / "private.pem"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return context, str(public)


def test_a_mail_reaches_its_server_byte_for_byte() -> None:
    with SmtpServer() as server:
        send_mail(a_mail(), settings(server))
    (taken,) = server.mails
    assert (taken.sender, taken.recipients) == ("p@example.com", ("ops@example.com",))
    assert taken.message["Subject"] == "hello"
    assert taken.message.get_payload() == "one\r\n.two\r\n"


def test_one_who_is_known_logs_in_over_a_connection_that_nobody_else_reads(
    certificate: tuple[ssl.SSLContext, str],
) -> None:
    context, public = certificate
    with SmtpServer(context, {"ann": "s3cret"}) as server:
        how = settings(
            server, security="starttls", user="ann", password_env="SMTP_PASSWORD", ca_file=public
        )
        send_mail(a_mail(), how)
    assert [(mail.tls, mail.user) for mail in server.mails] == [(True, "ann")]


def test_a_certificate_that_nobody_vouches_for_is_not_believed(
    certificate: tuple[ssl.SSLContext, str],
) -> None:
    server = SmtpServer(certificate[0])
    with server, pytest.raises(DeliveryError, match="MAIL_UNREACHABLE"):
        send_mail(a_mail(), settings(server, security="starttls"))
    assert server.mails == []


def test_a_server_without_tls_is_not_spoken_to_where_tls_is_asked_for() -> None:
    with SmtpServer() as server, pytest.raises(DeliveryError, match="MAIL_UNREACHABLE"):
        send_mail(a_mail(), settings(server, security="starttls"))


def test_a_wrong_password_is_told_without_it(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("wr0ng\n")
    with SmtpServer(users={"ann": "s3cret"}) as server:
        how = settings(server, user="ann", password_file=str(file))
        with pytest.raises(DeliveryError, match="MAIL_REFUSED") as caught:
            send_mail(a_mail(), how)
    assert "wr0ng" not in f"{caught.value} {caught.value.__cause__} {how}"


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ({"RCPT": "550 nobody here"}, "MAIL_REFUSED"),
        ({"RCPT": "451 later"}, "MAIL_UNREACHABLE"),
        ({"MAIL": "553 not you"}, "MAIL_REFUSED"),
        ({"DATA": "452 full"}, "MAIL_UNREACHABLE"),
    ],
)
def test_what_the_server_says_tells_whether_to_try_again(
    answers: Mapping[str, str], code: str
) -> None:
    with SmtpServer(answers=dict(answers)) as server, pytest.raises(DeliveryError, match=code):
        send_mail(a_mail(), settings(server))


def test_a_server_that_is_not_there_is_told() -> None:
    with SmtpServer() as server:
        pass
    with pytest.raises(DeliveryError, match="MAIL_UNREACHABLE"):
        send_mail(a_mail(), settings(server))


@pytest.mark.parametrize(
    "said",
    [
        {"host": ""},
        {"from": "nobody"},
        {"security": "some"},
        {"port": "x"},
        {"hots": "x"},
        {"host": "mail.example.com", "user": "ann", "password_env": "SMTP_PASSWORD"},
    ],
)
def test_settings_that_cannot_be_are_refused(said: dict[str, object]) -> None:
    with SmtpServer() as server, pytest.raises(ConfigError, match="MAIL_SETTINGS"):
        settings(server, **said)


def test_a_password_in_the_settings_is_refused_and_not_repeated() -> None:
    with SmtpServer() as server, pytest.raises(ConfigError, match="SECRET_WRITTEN") as caught:
        settings(server, user="ann", password="hunter2")
    assert "hunter2" not in str(caught.value)


def test_ports_are_those_that_servers_have() -> None:
    table = {"host": "localhost", "from": "a@b"}
    ports = [
        mail_settings({**table, "security": kind}).port for kind in ("none", "starttls", "tls")
    ]
    assert ports == [25, 587, 465]


def test_mail_is_left_in_an_outbox_once_however_often_it_is_sent(tmp_path: Path) -> None:
    outbox = tmp_path / "mail" / "out"
    how = mail_settings({"outbox": str(outbox), "from": "p@example.com"})
    mail = a_mail()
    mail["Message-ID"] = "<../page 7@penstock.invalid>"
    send_mail(mail, how)
    send_mail(mail, how)
    send_mail(a_mail(), how)
    assert len(list(outbox.iterdir())) == 2
    assert "Subject: hello" in (outbox / "page-7.eml").read_text()


def test_an_outbox_that_cannot_be_written_and_one_beside_a_host_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    how = mail_settings({"outbox": str(tmp_path / "file"), "from": "p@example.com"})
    with pytest.raises(DeliveryError, match="MAIL_UNREACHABLE"):
        send_mail(a_mail(), how)
    with pytest.raises(ConfigError, match="MAIL_SETTINGS"):
        mail_settings({"outbox": "out", "host": "localhost", "from": "p@example.com"})

"""Jobs and commands on a cluster with passwords, TLS and permissions; secrets are told nobody."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin._acl import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
)
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType
from pyspark.sql import SparkSession

import penstock as ps
from penstock.errors import PenstockError
from tests.cli.shell import Cli
from tests.kafka.cluster import missing
from tests.kafka.guarded import PASSWORD, USER, Guarded, guarded_broker

pytestmark = [pytest.mark.spark, pytest.mark.slow]

WRONG = "another-word"
_KINDS = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    if missing():
        pytest.skip(missing())
    with guarded_broker(tmp_path_factory.mktemp("guarded") / "broker") as broker:
        yield broker


@pytest.fixture(autouse=True)
def without_rights(guarded: Guarded) -> None:
    """Take away what the test before has allowed."""
    every = AclBindingFilter(
        *(ResourceType.ANY, None, ResourcePatternType.ANY, None, None),  # type: ignore[arg-type]
        *(AclOperation.ANY, AclPermissionType.ANY),
    )
    client = guarded.brokers.admin()
    for gone in client.delete_acls([every]).values():
        gone.result(30)


@pytest.fixture
def cli(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Cli:
    return Cli(capsys, monkeypatch)


def settle(guarded: Guarded, *, tls: bool, how: str) -> None:
    """Write the settings of a project in the working directory; secrets are as `how` says."""
    address = guarded.tls if tls else guarded.sasl
    protocol = "SASL_SSL" if tls else "SASL_PLAINTEXT"
    trust = f'ssl.ca.location = "{guarded.certificate}"\n' if tls else ""
    Path("penstock.toml").write_text(
        f'log = "kafka://{address}"\n[kafka]\nsecurity.protocol = "{protocol}"\n'
        f'sasl.mechanism = "PLAIN"\n{how}\n{trust}'
    )


def in_files() -> str:
    """Say who comes by files, which Spark's workers find by the home, wherever they began."""
    Path("user").write_text(USER)
    here = Path.cwd()
    return f'sasl.username_file = "{here / "user"}"\nsasl.password_file = "{here / "word"}"'


def allow(guarded: Guarded) -> None:
    """Let the user do everything with every topic, group and transactional id."""
    rights = [
        AclBinding(
            *(kind, "*", ResourcePatternType.LITERAL, f"User:{USER}", "*"),
            *(AclOperation.ALL, AclPermissionType.ALLOW),
        )
        for kind in _KINDS
    ]
    decree(guarded, *rights)


def decree(guarded: Guarded, *rights: AclBinding) -> None:
    client = guarded.brokers.admin()
    for made in client.create_acls(list(rights)).values():
        made.result(30)


def refuse(cli: Cli, *words: str, stdin: bytes = b"") -> None:
    """Let a command be refused within its time, without a word of secrets."""
    began = time.monotonic()
    ran = cli(*words, stdin=stdin)
    assert (ran.code, "KAFKA_DENIED" in ran.err) == (1, True), ran
    assert time.monotonic() - began < 25
    for secret in (PASSWORD, WRONG):
        assert secret not in ran.out + ran.err


def test_jobs_and_commands_get_in_by_secrets_that_are_shown_nowhere(
    cli: Cli,
    guarded: Guarded,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("penstock.log.kafka.clients.PATIENCE", 2.0)
    word = Path("word")
    word.write_text(f"{WRONG}\n")
    settle(guarded, tls=False, how=in_files())
    refuse(cli, "topics", "list")
    refuse(cli, "consume", "clicks", "--no-wait")

    word.write_text(f"{PASSWORD}\n")
    refuse(cli, "topics", "create", "clicks")
    refuse(cli, "produce", guarded.brokers.topic(), stdin=b"x\n")

    monkeypatch.setattr("penstock.log.kafka.clients.PATIENCE", 30.0)
    allow(guarded)
    cli.ok("topics", "create", "clicks", "--schema", "page string, n bigint")
    row = b'{"page": "/a", "n": 1}\n'
    assert "1 record" in cli.ok("produce", "clicks", stdin=row).err

    settle(guarded, tls=True, how=in_files())
    app = ps.App("doubled")
    found = app.stream("clicks", schema={"page": str, "n": int})
    found.with_columns(n=ps.col("n") * 2).to("doubled")
    app.start(bounded=True).await_end()

    monkeypatch.setenv("HER_WORD", PASSWORD)
    monkeypatch.setenv("PENSTOCK_KAFKA_SASL_USERNAME", USER)
    settle(guarded, tls=True, how='sasl.password_env = "HER_WORD"')
    assert '"n": 2' in cli.ok("consume", "doubled", "--no-wait").out
    settle(guarded, tls=True, how=f'sasl.password = "{PASSWORD}"')
    assert_untold(cli, caplog.text)


def assert_untold(cli: Cli, logged: str) -> None:
    """No command, no log and no file of the home has the word."""
    for words in (("config", "show"), ("config", "show", "--json"), ("topics", "list")):
        ran = cli.ok(*words)
        assert PASSWORD not in ran.out + ran.err, words
    assert PASSWORD not in logged
    kept = [file for file in Path(".penstock").rglob("*") if file.is_file()]
    assert [file for file in kept if PASSWORD.encode() in file.read_bytes()] == []


def test_a_job_that_is_not_allowed_to_write_ends_with_the_refusal(
    cli: Cli, guarded: Guarded, spark: SparkSession
) -> None:
    Path("word").write_text(PASSWORD)
    settle(guarded, tls=False, how=in_files())
    allow(guarded)
    cli.ok("topics", "create", "read", "--schema", "n bigint")
    cli.ok("topics", "create", "written", "--schema", "n bigint")
    cli.ok("produce", "read", stdin=b'{"n": 1}\n')
    bar = AclBinding(
        *(ResourceType.TOPIC, "written", ResourcePatternType.LITERAL, f"User:{USER}", "*"),
        *(AclOperation.WRITE, AclPermissionType.DENY),
    )
    decree(guarded, bar)
    app = ps.App("barred")
    app.stream("read", schema={"n": int}).to("written")
    began = time.monotonic()
    with pytest.raises(PenstockError, match="KAFKA_DENIED") as refused:
        app.start(bounded=True).await_end()
    assert time.monotonic() - began < 60
    assert PASSWORD not in str(refused.value)

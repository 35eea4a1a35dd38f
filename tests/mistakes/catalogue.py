"""The mistakes, each as what a user has and types, and what the answer names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tests.mistakes.workshop import HEAD, HOME, Workshop

Made: TypeAlias = Callable[[Workshop], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake: what is typed where, the code or words of the answer, and how it ends."""

    name: str
    made: Made
    told: str
    exit: int = 1
    stdin: bytes = b""
    alone: bool = False
    """In a process of its own: where Spark runs already, nobody looks for Java any more."""


def typed(text: str) -> Made:
    """A command alone."""
    return lambda _: tuple(text.split())


def on_topic(text: str) -> Made:
    """A command where there is a topic."""

    def made(workshop: Workshop) -> tuple[str, ...]:
        workshop.topic()
        return tuple(text.split())

    return made


def program(body: str, words: str = "explain", head: str = HEAD) -> Made:
    """A command on a program, where its topic is there."""

    def made(workshop: Workshop) -> tuple[str, ...]:
        workshop.topic()
        command, *flags = words.split()
        return (command, workshop.program(body, head), *flags)

    return made


def sql(statement: str) -> Made:
    """A statement where there is a stream of orders."""

    def made(workshop: Workshop) -> tuple[str, ...]:
        workshop.orders()
        return ("sql", "-e", statement)

    return made


def asked(workshop: Workshop, query: str) -> tuple[str, ...]:
    """A query where there is a topic."""
    workshop.topic()
    return ("query", query)


def configured(text: str, command: str = "topics list") -> Made:
    """A command where `penstock.toml` is so."""

    def made(workshop: Workshop) -> tuple[str, ...]:
        workshop.topic()
        workshop.program()
        workshop.file("penstock.toml", text)
        return tuple(command.split())

    return made


def _other_program(workshop: Workshop) -> tuple[str, ...]:
    workshop.topic()
    workshop.cli.ok("jobs", "submit", workshop.program())
    return ("jobs", "submit", workshop.program('clicks.filter(ps.col("n") > 1).to("many")\n'))


def _second_host(workshop: Workshop) -> tuple[str, ...]:
    workshop.topic()
    workshop.host()
    return ("host",)


def _other_columns(workshop: Workshop) -> tuple[str, ...]:
    workshop.cli.ok("topics", "create", "clicks", "--schema", "user string, n string")
    return ("run", workshop.program(), "--here", "--bounded")


def _home_is_a_file(workshop: Workshop) -> tuple[str, ...]:
    return ("topics", "list", "--home", workshop.file("notes.txt", "mine"))


def _home_of_another(workshop: Workshop) -> tuple[str, ...]:
    workshop.file(".penstock/log/letters.txt", "mine")
    return ("topics", "create", "x")


def _full_disk(workshop: Workshop) -> tuple[str, ...]:
    workshop.topic()
    workshop.full_disk()
    return ("produce", "clicks")


def _no_java(workshop: Workshop) -> tuple[str, ...]:
    workshop.topic()
    workshop.monkeypatch.setenv("JAVA_HOME", str(Path("nowhere").absolute()))
    return ("run", workshop.program(), "--bounded")


def _old_java(workshop: Workshop) -> tuple[str, ...]:
    workshop.topic()
    workshop.java("11.0.2")
    return ("run", workshop.program(), "--bounded")


def _damaged_records(workshop: Workshop) -> tuple[str, ...]:
    workshop.topic()
    workshop.damage("topics/clicks/*/*.seg")
    return ("consume", "clicks", "--from-beginning", "--no-wait")


def _damaged_checkpoint(workshop: Workshop) -> tuple[str, ...]:
    workshop.topic()
    words = ("run", workshop.program(), "--here", "--bounded")
    workshop.cli.ok(*words)
    workshop.damage("jobs/shop/**/*")
    return words


def _incompatible(workshop: Workshop) -> tuple[str, ...]:
    record = '{"type": "record", "name": "Order", "fields": [%s]}'
    first = workshop.file("a.avsc", record % '{"name": "id", "type": "string"}')
    workshop.cli.ok("schemas", "register", "orders-value", first)
    fields = '{"name": "id", "type": "string"}, {"name": "amount", "type": "int"}'
    return ("schemas", "register", "orders-value", workshop.file("b.avsc", record % fields))


def _wrong_token(workshop: Workshop) -> tuple[str, ...]:
    return ("sql", "--server", workshop.server("not the word"), "-e", "SHOW STREAMS;")


def _no_token(workshop: Workshop) -> tuple[str, ...]:
    return ("sql", "--server", workshop.server(None), "-e", "SHOW STREAMS;")


def _port_taken(workshop: Workshop) -> tuple[str, ...]:
    return ("sql", "serve", "--port", workshop.taken_port())


def _no_server(workshop: Workshop) -> tuple[str, ...]:
    (HOME / "log").mkdir(parents=True)
    url = f"http://127.0.0.1:{workshop.free_port()}"
    return ("sql", "--server", url, "-e", "SHOW STREAMS;")


def _no_registry(workshop: Workshop) -> tuple[str, ...]:
    url = f"http://127.0.0.1:{workshop.free_port()}"
    return ("schemas", "list", "--url", url)


def _no_savepoint(workshop: Workshop) -> tuple[str, ...]:
    workshop.topic()
    workshop.cli.ok("jobs", "submit", workshop.program(), "--paused")
    return ("jobs", "restore", "shop", "kept/monday")


FAILING = """
class Longest:
    def init(self):
        return 0

    def add(self, longest, user):
        return max(longest, user)

    def merge(self, one, other):
        return max(one, other)

    def retract(self, longest, user):
        return longest

    def result(self, longest):
        return longest

longest = ps.aggregate(Longest(), "user", gives="int64")
clicks.group_by("user").agg(longest=longest).to("longest")
"""

QUIET = ("--no-pages", "--no-jobs")

MISTAKES = (
    Mistake("a topic misspelt", on_topic("topics describe click"), "TOPIC_MISSING"),
    Mistake("a topic that is not there", on_topic("consume nothing"), "TOPIC_MISSING"),
    Mistake("a topic that is there already", on_topic("topics create clicks"), "TOPIC_EXISTS"),
    Mistake("a name that is a path", typed("topics create ../x"), "TOPIC_NAME"),
    Mistake("no partitions", typed("topics create x --partitions 0"), "--partitions", 2),
    Mistake("partitions in words", typed("topics create x --partitions two"), "--partitions", 2),
    Mistake(
        "a type misspelt",
        lambda _: ("topics", "create", "x", "--schema", "a sting"),
        "SCHEMA_TEXT",
    ),
    Mistake("a command misspelt", typed("topcs list"), "Did you mean 'topics'", 2),
    Mistake("a part of a command misspelt", typed("topics creat x"), "Did you mean 'create'", 2),
    Mistake("an option misspelt", typed("topics create x --partition 1"), "--partition", 2),
    Mistake("an option without its value", typed("topics list --home"), "FLAG_VALUE", 2),
    Mistake("a file that is not there", typed("run gone.py"), "PROGRAM_FILE", 2),
    Mistake("a file without a program", program("", head="a = 1\n"), "PROGRAM_MISSING", 2),
    Mistake("a bracket left open", program("app = (\n", head=""), "PROGRAM_FILE", 2),
    Mistake("a name misspelt in Python", program("ps.Ap('x')\n"), "(line 4)", 2),
    Mistake("a module that is not there", program("", head="import pensock\n"), "pensock", 2),
    Mistake(
        "a column misspelt",
        program('clicks.group_by("usr").agg(t=ps.sum("n")).to("t")\n'),
        "COLUMN_MISSING",
    ),
    Mistake(
        "a sum of text",
        program('clicks.group_by("user").agg(t=ps.sum("user")).to("t")\n'),
        "(shop.py:4)",
    ),
    Mistake(
        "a unit of time that is none",
        program('clicks.window(ps.tumbling("1 parsec")).agg(t=ps.sum("n")).to("t")\n'),
        "DURATION_FORMAT",
    ),
    Mistake(
        "a window that does not move",
        program('clicks.window(ps.hopping("1m", "0s")).agg(t=ps.sum("n")).to("t")\n'),
        "WINDOW_SIZE",
    ),
    Mistake(
        "the program of another name",
        lambda workshop: ("explain", f"{workshop.program()}:ap"),
        "PROGRAM_MISSING",
        2,
    ),
    Mistake("a function that fails", program(FAILING, "run --here --bounded"), "AGGREGATE_FAILED"),
    Mistake(
        "a program without its topic",
        lambda workshop: ("run", workshop.program(), "--here", "--bounded"),
        "TOPIC_MISSING",
    ),
    Mistake("a topic with other columns", _other_columns, "INPUT_SCHEMA"),
    Mistake("a job that is not there", typed("jobs show nobody"), "JOB_MISSING"),
    Mistake("a job of another program", _other_program, "JOB_CHANGED"),
    Mistake("a second host", _second_host, "HOST_RUNNING"),
    Mistake("no host", typed("host status"), "HOST_MISSING"),
    Mistake("a savepoint that is not there", _no_savepoint, "SAVEPOINT"),
    Mistake("SQL that is none", sql("SELEC * FROM orders;"), "SQL_SYNTAX"),
    Mistake("SQL that ends too early", sql("SELECT * FROM orders WHERE;"), "SQL_SYNTAX"),
    Mistake("no log yet", typed("consume clicks"), "LOG_MISSING"),
    Mistake("a column misspelt in SQL", sql("SELECT amout FROM orders;"), "SQL_COLUMN_MISSING"),
    Mistake("a source misspelt in SQL", sql("SELECT * FROM order_s;"), "SQL_SOURCE_MISSING"),
    Mistake("a function misspelt in SQL", sql("SELECT UCAES(item) FROM orders;"), "SQL_FUNCTION"),
    Mistake(
        "a value of another type in SQL", sql("INSERT INTO orders VALUES ('a', 'b', 'c');"), "SQL_"
    ),
    Mistake(
        "a stream of a topic that is not there",
        sql("CREATE STREAM s (a INT) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');"),
        "SQL_",
    ),
    Mistake("a file of SQL that is not there", typed("sql -f gone.sql"), "gone.sql"),
    Mistake("TOML that is none", configured("home = \n"), "penstock.toml"),
    Mistake("a setting misspelt", configured('hom = "x"\n'), "hom"),
    Mistake("a setting of another kind", configured("home = 7\n"), "home"),
    Mistake(
        "a setting of a job misspelt",
        configured("[jobs.shop]\nrestart = 3\n", "jobs submit shop.py"),
        "restart",
    ),
    Mistake("a home that is a file", _home_is_a_file, "notes.txt"),
    Mistake("a home of something else", _home_of_another, "NOT_A_LOG"),
    Mistake("a full disk", _full_disk, "DISK_FULL", stdin=b'{"user":"eve","n":3}\n'),
    Mistake("no Java", _no_java, "JAVA_MISSING", alone=True),
    Mistake("an old Java", _old_java, "JAVA_TOO_OLD", alone=True),
    Mistake("records that were damaged", _damaged_records, "CORRUPT"),
    Mistake("a checkpoint that was damaged", _damaged_checkpoint, "SNAPSHOT_BROKEN"),
    Mistake("a row that is no JSON", on_topic("produce clicks"), "line 1", stdin=b"ann,1\n"),
    Mistake(
        "a row of another type",
        on_topic("produce clicks"),
        "line 1",
        stdin=b'{"user":"ann","n":"one"}\n',
    ),
    Mistake(
        "an offset that is not there",
        on_topic("consume clicks --from 99 --no-wait"),
        "OFFSET_RANGE",
    ),
    Mistake("a time that is none", on_topic("consume clicks --from yesterday"), "PLACE_FORMAT", 2),
    Mistake("a group that is not there", on_topic("groups describe readers"), "GROUP_"),
    Mistake("a subject that is not there", on_topic("schemas show orders-value"), "["),
    Mistake("a schema that breaks readers", _incompatible, "SCHEMA_INCOMPATIBLE"),
    Mistake("a registry out of reach", _no_registry, "REGISTRY_"),
    Mistake("a server out of reach", _no_server, "SQL_SERVER"),
    Mistake("a server with another token", _wrong_token, "does not know the token"),
    Mistake("a server whose token is not here", _no_token, "does not know the token"),
    Mistake("a port that is taken", _port_taken, "PORT_TAKEN"),
    Mistake(
        "a second server",
        lambda workshop: ("serve", "--port", workshop.taken_port(), *QUIET),
        "PORT_TAKEN",
    ),
    Mistake(
        "a server for all without a token",
        lambda _: ("serve", "--host", "0.0.0.0", "--port", "0", *QUIET),
        "SERVER_OPEN",
    ),
    Mistake("a query that is none", lambda _: ("query", "SELEC 1"), "QUERY_SYNTAX"),
    Mistake(
        "a query of a column that is not there",
        lambda workshop: asked(workshop, "SELECT nope FROM clicks"),
        "QUERY_WRONG",
    ),
    Mistake(
        "a query of a table that is not there",
        lambda workshop: asked(workshop, "SELECT * FROM nothing"),
        "QUERY_TABLE_MISSING",
    ),
    Mistake(
        "a query that changes something",
        lambda workshop: asked(workshop, "DROP TABLE clicks"),
        "QUERY_STATEMENT",
    ),
    Mistake("a project that is not there", typed("dev nowhere"), "PROJECT_DIRECTORY", 2),
    Mistake("dead letters that are not there", on_topic("dlq show seen.dead"), "["),
    Mistake(
        "an alert on nothing",
        configured('[alerts.a]\ntable = "t"\nwhen = "n >"\n', "alerts test a"),
        "TOPIC_MISSING",
    ),
)
"""What people do wrong."""

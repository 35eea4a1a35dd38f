from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import SqlError
from penstock.log.open import open_log
from penstock.sql.answer import Told
from penstock.sql.records import records_of
from tests.sql.kit import ORDERS, answers, opened, rows, told

OLD = (
    "CREATE TABLE users (userid VARCHAR, age INT)"
    " WITH (KAFKA_TOPIC='users', VALUE_FORMAT='{}', KEY = 'userid', PARTITIONS=1);"
)


def test_the_column_that_key_names_is_the_key_of_a_table(tmp_path: Path) -> None:
    with opened(tmp_path) as session:
        told(session, OLD.format("JSON"))
        assert rows(session, "DESCRIBE users;")[0] == ("USERID", "STRING", "primary key")


def test_a_stream_whose_key_is_not_selected_has_none_and_says_so(tmp_path: Path) -> None:
    with opened(tmp_path, here=True) as session:
        told(session, ORDERS)
        (made,) = answers(session, "CREATE STREAM items AS SELECT item FROM orders;")
        assert isinstance(made, Told)
        assert made.notes[0] == "the key is not selected: the records of the result have none"
        told(session, "INSERT INTO orders VALUES ('a', 'x', 1);")
        assert rows(session, "SELECT * FROM items;") == [("x",)]
        with pytest.raises(SqlError, match="SQL_COLUMN_MISSING"):
            told(session, "CREATE STREAM none AS SELECT nothing FROM orders;")


@pytest.mark.parametrize("name", ["JSON", "DELIMITED"])
def test_the_value_of_a_table_with_an_old_key_holds_the_key_as_well(
    tmp_path: Path, name: str
) -> None:
    with opened(tmp_path) as session:
        told(session, OLD.format(name))
        told(session, "INSERT INTO users VALUES ('u', 7);")
        with open_log(tmp_path) as log:
            (record,) = records_of(log, "users")
        wanted = {"JSON": b'{"USERID":"u","AGE":7}', "DELIMITED": b"u,7"}
        assert (record["_key"], record["value"]) == (b"u", wanted[name])
        assert rows(session, "SELECT * FROM users;") == [("u", 7)]

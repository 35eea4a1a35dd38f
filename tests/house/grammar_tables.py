"""Make the tables of the SQL grammar anew: `.venv/bin/python -m tests.house.grammar_tables`."""

from __future__ import annotations

from penstock.front.sql.parse_grammar import build_grammar
from penstock.front.sql.parse_tables import TABLES, packed_tables


def main() -> None:
    """Write the file that is shipped."""
    TABLES.write_bytes(packed_tables(build_grammar()))


if __name__ == "__main__":
    main()

"""Files that statements name: what columns they have."""

from __future__ import annotations

from pathlib import Path

from penstock.errors import PenstockError, SqlError
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_query import FileSource
from penstock.schema.schema import Schema


class NamedFiles:
    """Looks at files of this machine."""

    def columns(self, file: FileSource, text: SourceText) -> Schema:
        """Give the columns of the first file that a path or pattern names, as it tells them."""
        from penstock.log.file_topics import columns_of_files  # noqa: PLC0415  # Arrow
        from penstock.schema.arrow import from_arrow  # noqa: PLC0415  # Arrow

        try:
            return from_arrow(columns_of_files(file.path))
        except PenstockError as error:
            raise SqlError(
                "SQL_FILE",
                text.shown(error.fact, file.span),
                hint=error.hint or "Name another file.",
            ) from error

    def path(self, file: FileSource) -> str:
        """Give the whole path, so that a query finds its files wherever it runs."""
        return str(Path(file.path).absolute())

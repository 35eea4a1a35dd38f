"""The format `penstock-program`: all inputs of a program as packets.

Spark asks for it in several processes of which only some read or plan, so what they need is
loaded by those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource
from typing_extensions import override

if TYPE_CHECKING:
    from penstock.log.port import Log
    from penstock.spark.program_source import ProgramReader

PACKETS_DDL = "slot int, blob binary"


class ProgramFormat(DataSource):
    """What `spark.run` reads from."""

    @classmethod
    @override
    def name(cls) -> str:
        return "penstock-program"

    @staticmethod
    def log_of(home: str) -> Log:
        """Open the log; tests put a failing one in its place."""
        from penstock.spark.handle import worker_log  # noqa: PLC0415

        return worker_log(home)

    @override
    def schema(self) -> str:
        return PACKETS_DDL

    @override
    def streamReader(self, schema: object) -> ProgramReader:
        from penstock.spark.program_options import ProgramOptions  # noqa: PLC0415
        from penstock.spark.program_source import ProgramReader  # noqa: PLC0415

        return ProgramReader(ProgramOptions.from_texts(self.options), self.log_of)

"""What a program reads: the topics of a log, and files beside them."""

from __future__ import annotations

import pyarrow as pa

from penstock.kernel.port import WEIGHT
from penstock.log.file_topics import FileTopic, with_files
from penstock.log.port import Log
from penstock.model.physical import Physical
from penstock.model.source import Stream
from penstock.schema.arrow import to_arrow


def input_log(log: Log, physical: Physical) -> Log:
    """Give the log as the scans of a program read it."""
    streams = (scan.stream for scan in physical.scans)
    return with_files(log, [file_topic(stream) for stream in streams if stream.files is not None])


def file_topic(stream: Stream) -> FileTopic:
    """Give the files of a source."""
    assert stream.files is not None
    schema = to_arrow(stream.columns)
    if stream.changelog and WEIGHT not in schema.names:
        schema = schema.append(pa.field(WEIGHT, pa.int32()))
    return FileTopic(stream.topic, stream.files, schema)

"""Where a program of streams and tables begins."""

from __future__ import annotations

from penstock.front.streams.node import Codec, Flow, Topic
from penstock.front.streams.program import Program
from penstock.front.streams.serde import Serde, Serdes
from penstock.front.streams.stream import KStream, KTable
from penstock.front.streams.topology import Topology, topology
from penstock.model.site import user_site


class KStreamBuilder:
    """Reads topics; `key_serde` and `value_serde` are those of topics that say no others."""

    def __init__(self, *, key_serde: Serde | None = None, value_serde: Serde | None = None) -> None:
        codec = Codec(key_serde or Serdes.string(), value_serde or Serdes.string())
        self._program = Program(codec)

    def stream(
        self, topic: str, *, key_serde: Serde | None = None, value_serde: Serde | None = None
    ) -> KStream:
        """Read the records of a topic."""
        codec = self._program.codec.changed(key_serde, value_serde)
        return KStream(self._program, Flow(Topic(topic, codec, site=user_site()), codec))

    def table(
        self,
        topic: str,
        *,
        key_serde: Serde | None = None,
        value_serde: Serde | None = None,
    ) -> KTable:
        """Read a topic as a table: the last record of each key, which none deletes.

        It can be asked by the name of the topic.
        """
        codec = self._program.codec.changed(key_serde, value_serde)
        node = Topic(topic, codec, table=True, site=user_site())
        if all(item.name != topic for item in self._program.tables):
            self._program.tables.append(node)
        return KTable(self._program, Flow(node, codec, changelog=True))

    def topology(self, application: str, *, cut: bool = True) -> Topology:
        """Give the plans of the program for an application; see `front.streams.topology`."""
        return topology(application, self._program.written, self._program.tables, cut=cut)

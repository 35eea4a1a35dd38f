"""Topologies of spouts and bolts, as Storm has them, in any Python program.

Each tuple of a spout is followed with everything that comes of it; what is not done in time is
given back to its spout. A topology runs in this process, without Spark.
"""

from __future__ import annotations

from penstock.front.topology.builder import TopologyBuilder
from penstock.inline.topology.log_bolt import LogBolt
from penstock.inline.topology.log_spout import LogSpout
from penstock.inline.topology.run import TopologyRun, quiet, run_topology
from penstock.model.topology import Topology
from penstock.model.topology_settings import Config
from penstock.model.topology_work import (
    BasicBolt,
    Bolt,
    BoltCollector,
    CustomGrouping,
    OutputDeclarer,
    Spout,
    SpoutCollector,
    TaskContext,
    Tuple,
)

__all__ = [
    "BasicBolt",
    "Bolt",
    "BoltCollector",
    "Config",
    "CustomGrouping",
    "LogBolt",
    "LogSpout",
    "OutputDeclarer",
    "Spout",
    "SpoutCollector",
    "TaskContext",
    "Topology",
    "TopologyBuilder",
    "TopologyRun",
    "Tuple",
    "quiet",
    "run_topology",
]

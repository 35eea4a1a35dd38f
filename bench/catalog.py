"""Which benches there are, and where their results are kept."""

from __future__ import annotations

from pathlib import Path

NAMES = (
    "append",
    "read",
    "produce",
    "volume",
    "opening",
    "memory",
    "wake",
    "clients",
    "subscribers",
    "lookup",
    "codecs",
    "formats",
    "spark_read",
    "windowed",
    "state_size",
    "endurance",
    "state_place",
    "joins",
    "functions",
    "modes",
    "recovery",
    "sql_records",
    "many_jobs",
    "back_pressure",
    "guarantees",
    "latency",
    "kafka",
    "realtime",
    "scaling",
    "nexmark",
    "smoke",
)
HOMES = {"nexmark": "bench.nexmark.run", "smoke": "bench.nexmark.smoke"}
"""Where a bench is that has no module of its own name."""
ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"

"""What buckets remember, as files: Spark's store keeps only which of them count.

A state of some size would cross from Python to the JVM and back in every batch, be compressed,
written twice and fill the heap. So it is written where it is made, as files that are read where
they lie, and Spark's store holds a short manifest. It is versioned with the batch: one that is run
again finds the manifest of the batch before, whose files are still there.

A version is a base and the changes since: a small batch writes what it changed. Files of a version
that no batch can ask for any more are removed by the next one; those of an attempt that failed
have its own name and go with them.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa

from penstock.kernel.codec import decode, encode
from penstock.kernel.port import State
from penstock.errors import StateError
from penstock.spark.state_patch import patched, state_patch

_INLINE_BYTES = 64 * 1024
_MOST_PATCHES = 16
_CACHE_BYTES = 256 * 1024 * 1024

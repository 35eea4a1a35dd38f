"""Programs to make jobs of."""

from __future__ import annotations

import penstock as ps
from penstock.model.physical import Physical


def a_program(name: str = "shop", *, above: int = 1) -> Physical:
    """Counts rows by key; with another bound it is another program."""
    app = ps.App(name)
    views = app.stream("views", schema={"user": "string", "v": "int64", "at": "timestamp"})
    views.filter(ps.col("v") > above).group_by("user").agg(rows=ps.count()).to("counted")
    views.filter(ps.col("v") < 0).to("odd", late="odd-late")
    return app.physical()

"""The parameters that many operations have, described once."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

LARGEST = 2**63 - 1
"""Of a number in a database."""
MAX_OFFSET = 2**31 - 1

SourceName = Annotated[
    str,
    Path(
        description="`name`, or `name@version` where there are several",
        min_length=1,
        max_length=129,
        examples=["docs"],
    ),
]
RunId = Annotated[int, Path(description="The number of a run", ge=1, le=LARGEST, examples=[1])]
HandoffId = Annotated[int, Path(description="The number of a handoff", ge=1, le=LARGEST, examples=[1])]
DocumentId = Annotated[
    int, Path(description="The number of a document's version", ge=1, le=LARGEST, examples=[1])
]
Limit = Annotated[int, Query(description="At most so many", ge=1, le=1000)]
Offset = Annotated[int, Query(description="Leave out the first so many", ge=0, le=MAX_OFFSET)]

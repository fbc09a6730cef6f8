"""Settings in, a running system out: the only room that picks adapters."""

from rowen.wiring.ports import open_ports
from rowen.wiring.searching import answer_searches, searching_elsewhere
from rowen.wiring.stores import (
    is_postgres,
    open_check,
    open_copy,
    open_rescue,
    open_schema,
    open_store,
    store_name,
    store_path,
)

__all__ = [
    "answer_searches",
    "is_postgres",
    "open_check",
    "open_copy",
    "open_ports",
    "open_rescue",
    "open_schema",
    "open_store",
    "searching_elsewhere",
    "store_name",
    "store_path",
]

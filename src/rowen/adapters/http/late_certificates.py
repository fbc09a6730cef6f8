"""The authorities that this machine trusts, read when the first connection needs them.

aiohttp makes two contexts for TLS when it is imported, one of which checks nothing, and both read the
certificates of some 140 authorities. That takes a third of the time of a refresh of a small site, and as long
where the site speaks no TLS.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Late(ssl.SSLContext):
    """Reads the authorities when it is first used, and is an ordinary context from then on."""

    def wrap_bio(self, *args: Any, **kwargs: Any) -> ssl.SSLObject:
        return self._ordinary().wrap_bio(*args, **kwargs)

    def wrap_socket(self, *args: Any, **kwargs: Any) -> ssl.SSLSocket:
        return self._ordinary().wrap_socket(*args, **kwargs)

    def _ordinary(self) -> ssl.SSLContext:
        context: Any = self
        context.__class__ = ssl.SSLContext
        context.set_default_verify_paths()
        ordinary: ssl.SSLContext = context
        return ordinary


@contextmanager
def read_when_used() -> Iterator[None]:
    """For all contexts that are made meanwhile, by whomever: they trust the same authorities as others."""

    def put_off(context: ssl.SSLContext) -> None:
        context.__class__ = _Late

    ssl.SSLContext.set_default_verify_paths = put_off  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        # It is inherited, so that of the base is seen again.
        del ssl.SSLContext.set_default_verify_paths

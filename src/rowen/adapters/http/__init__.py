"""The `Fetcher` port on aiohttp. `open_fetcher` is the way in."""

from rowen.adapters.http.late_certificates import read_when_used

with read_when_used():
    from rowen.adapters.http.fetcher import open_fetcher

__all__ = ["open_fetcher"]

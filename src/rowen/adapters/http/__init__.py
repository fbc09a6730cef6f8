"""The `Fetcher` port on aiohttp. `open_fetcher` is the way in."""

from rowen.adapters.http.fetcher import open_fetcher

__all__ = ["open_fetcher"]

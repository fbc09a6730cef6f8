"""The floor: Rowen's HTTP client, told every address, with the validators of the last run. Nothing else."""

from __future__ import annotations

import asyncio
import hashlib
import json

import aiohttp
from common import addresses, arguments, said

CONCURRENCY = 3


async def main() -> None:
    options = arguments()
    state = options.state / "pages.json"
    known = json.loads(state.read_text()) if state.exists() else {}
    waiting = iter(addresses(options.address, options.folder))
    seen = {}
    connector = aiohttp.TCPConnector(limit_per_host=CONCURRENCY)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:

        async def ask() -> None:
            for url in waiting:
                headers = {"If-None-Match": known[url][0]} if url in known else {}
                async with session.get(url, headers=headers) as response:
                    body = await response.read()
                    if response.status == 304:
                        seen[url] = known[url]
                    else:
                        seen[url] = [response.headers["ETag"], hashlib.sha256(body).hexdigest()]

        await asyncio.gather(*(ask() for _ in range(CONCURRENCY)))
    state.write_text(json.dumps(seen))
    said(pages=len(seen))


asyncio.run(main())

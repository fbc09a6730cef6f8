"""Crawlee: a crawler that follows links, into its dataset on disk. It has no conditional requests."""

from __future__ import annotations

import asyncio
import logging

from common import arguments, said
from crawlee import ConcurrencySettings
from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import FileSystemStorageClient


async def main() -> None:
    options = arguments()
    crawler = ParselCrawler(
        configuration=Configuration(storage_dir=str(options.state), purge_on_start=True),
        storage_client=FileSystemStorageClient(),
        concurrency_settings=ConcurrencySettings(min_concurrency=1, desired_concurrency=3, max_concurrency=3),
        respect_robots_txt_file=True,
        configure_logging=False,
    )
    logging.getLogger("crawlee").setLevel(logging.WARNING)

    @crawler.router.default_handler
    async def page(context: ParselCrawlingContext) -> None:
        text = context.selector.xpath("string(//body)").get()
        title = context.selector.css("title::text").get()
        await context.push_data({"url": context.request.url, "title": title, "text": text})
        await context.enqueue_links(strategy="same-origin")

    done = await crawler.run([options.address])
    said(pages=done.requests_finished)


asyncio.run(main())

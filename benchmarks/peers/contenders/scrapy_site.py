"""Scrapy: a spider that follows links, with the HTTP cache by RFC 2616, into a feed of JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from common import arguments, said
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

OPTIONS = arguments()


class Site(CrawlSpider):
    name = "site"
    allowed_domains = (urlsplit(OPTIONS.address).hostname,)
    start_urls = (OPTIONS.address,)
    rules = (Rule(LinkExtractor(allow=r"(\.html|/)$"), callback="page", follow=True),)

    def parse_start_url(self, response: Any, **_: Any) -> Any:
        return self.page(response)

    def page(self, response: Any) -> Iterator[dict[str, str]]:
        text = response.xpath("string(//body)").get()
        yield {"url": response.url, "title": response.css("title::text").get(""), "text": text}


process = CrawlerProcess(
    {
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy",
        "HTTPCACHE_DIR": str(OPTIONS.state / "httpcache"),
        "FEEDS": {str(OPTIONS.state / "pages.jsonl"): {"format": "jsonlines", "overwrite": True}},
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 3,
        "DOWNLOAD_DELAY": 0,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "WARNING",
    }
)
crawler = process.create_crawler(Site)
process.crawl(crawler)
process.start()
said(pages=crawler.stats.get_value("item_scraped_count", 0))

"""No trick of an address leads to what is private, when nobody typed the address here.

Real sockets: a server stands on the loopback address and must not be asked. Where a test needs somebody
public, 127.0.0.2 plays that part.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from rowen.adapters.http import open_fetcher
from rowen.adapters.http.fetcher import HttpFetcher
from rowen.core.safety import addresses
from rowen.core.safety.addresses import Address
from rowen.errors import AddressRefused, HostUnknown, PermanentError, TransientError
from rowen.ports.fetcher import FetcherOptions, Request
from tests.support.names import Names
from tests.support.site import Site

pytestmark = pytest.mark.anyio

PUBLIC = "127.0.0.2"


@pytest.fixture
def private() -> Iterator[Site]:
    """Whoever gets here has got too far."""
    with Site({"/": "secret", "/latest/meta-data/": "secret"}) as site:
        yield site
        assert site.requests == []


@pytest.fixture
async def fetcher() -> AsyncIterator[HttpFetcher]:
    async with open_fetcher(FetcherOptions(typed_location=None)) as opened:
        yield opened


@pytest.fixture
def one_public_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_public(address: Address) -> bool:
        return str(address) == PUBLIC or addresses.is_public(address)

    monkeypatch.setattr("rowen.adapters.http.fetcher.is_public", is_public)


SPELLINGS = [
    # loopback
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "0X7F.1",
    "0177.0.0.1",
    "017700000001",
    "2130706433",
    "127.000.000.001",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
    "①②⑦.0.0.1",
    "127。0。0。1",
    "localhost",
    "LOCALHOST",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    # unspecified, which many systems take for loopback
    "0.0.0.0",
    "0",
    "0x0",
    "[::]",
    # IPv4 inside IPv6
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:0001]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::1]",
    "[2001:0:7f00:1::]",
    # private, shared and link-local networks, and where clouds keep their secrets
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "168.63.129.16",
    "192.0.0.192",
    "[fd00:ec2::254]",
    "[fc00::1]",
    "[fd12:3456:789a::1]",
    "[fe80::1]",
    "[fec0::1]",
    # multicast, broadcast, reserved, documentation, benchmarks
    "224.0.0.1",
    "239.255.255.250",
    "255.255.255.255",
    "240.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "[ff02::1]",
    "[ff05::1:3]",
    "[100::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[5f00::1]",
]


@pytest.mark.parametrize("host", SPELLINGS)
async def test_no_spelling_of_a_private_address_is_asked(
    fetcher: HttpFetcher, private: Site, host: str
) -> None:
    with pytest.raises(AddressRefused, match="not a public address"):
        await fetcher.fetch(Request(f"http://{host}:{private.port}/"))


@pytest.mark.parametrize(
    "url",
    [
        "http://user:pw@127.0.0.1:{port}/",
        "http://public.example@127.0.0.1:{port}/",
        "http://127.0.0.1:{port}\\@public.example/",
        "http://127.0.0.1:{port}#@public.example/",
        "http:\\\\127.0.0.1:{port}/",
        "http:/127.0.0.1:{port}/",
        "HTTP://127.0.0.1:{port}/",
        "http://127.0.0.1\t:{port}/",
        "https://127.0.0.1:{port}/",
    ],
)
async def test_no_way_of_writing_the_rest_of_an_address_helps(
    fetcher: HttpFetcher, private: Site, url: str
) -> None:
    with pytest.raises(PermanentError):
        await fetcher.fetch(Request(url.format(port=private.port)))


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:6379/_PING", "unix:/run/x.sock", "//x"],
)
async def test_no_other_scheme_is_spoken(fetcher: HttpFetcher, url: str) -> None:
    with pytest.raises(PermanentError):
        await fetcher.fetch(Request(url))


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd00::1"],
)
async def test_a_name_that_leads_to_a_private_address_leads_nowhere(
    fetcher: HttpFetcher, private: Site, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    names = Names({"inside.example": [[address]]}).put_in_place(monkeypatch)
    with pytest.raises(AddressRefused):
        await fetcher.fetch(Request(f"http://inside.example:{private.port}/"))
    assert names.asked


@pytest.mark.usefixtures("one_public_address")
async def test_a_name_that_leads_elsewhere_the_second_time_does_not_lead_inside(
    private: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site({"/": "hello"}, host=PUBLIC, port=private.port) as public:
        names = Names({"rebind.example": [[PUBLIC], ["127.0.0.1"]]}).put_in_place(monkeypatch)
        url = f"http://rebind.example:{private.port}/"
        async with open_fetcher(FetcherOptions(typed_location=None)) as first:
            assert (await first.fetch(Request(url))).body == b"hello"
        async with open_fetcher(FetcherOptions(typed_location=None)) as second:
            for _ in range(3):
                with pytest.raises(AddressRefused):
                    await second.fetch(Request(url))
        assert len(names.asked) >= 2
        assert len(public.requests) == 1


@pytest.mark.usefixtures("one_public_address")
async def test_a_name_that_changes_between_the_look_and_the_leap_does_not_lead_inside(
    private: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever looked first and connected by name afterwards would be told the truth and then the lie.
    answers = [[PUBLIC], ["127.0.0.1"]] * 10
    Names({"rebind.example": answers}).put_in_place(monkeypatch)
    with Site({"/": "hello"}, host=PUBLIC, port=private.port) as public:
        url = f"http://rebind.example:{private.port}/"
        outcomes = []
        for _ in range(10):
            async with open_fetcher(FetcherOptions(typed_location=None)) as fetcher:
                try:
                    outcomes.append((await fetcher.fetch(Request(url))).body)
                except AddressRefused:
                    outcomes.append(b"refused")
        assert set(outcomes) == {b"hello", b"refused"}
        assert len(public.requests) == outcomes.count(b"hello")


@pytest.mark.usefixtures("one_public_address")
async def test_a_private_address_behind_a_dead_public_one_is_not_tried(
    fetcher: HttpFetcher, private: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    Names({"both.example": [[PUBLIC, "127.0.0.1"]]}).put_in_place(monkeypatch)
    with pytest.raises((AddressRefused, TransientError)):
        await fetcher.fetch(Request(f"http://both.example:{private.port}/"))


@pytest.mark.usefixtures("one_public_address")
async def test_a_redirect_is_answered_and_its_target_judged_like_any_address(
    fetcher: HttpFetcher, private: Site
) -> None:
    target = f"{private.url}/latest/meta-data/"
    with Site(host=PUBLIC) as public:
        public.set("/", redirect=target)
        answer = await fetcher.fetch(Request(public.url + "/"))
        assert (answer.status, answer.headers["location"]) == (302, target)
        with pytest.raises(AddressRefused):
            await fetcher.fetch(Request(answer.headers["location"]))


async def test_an_unknown_name_is_unknown_and_not_refused(
    fetcher: HttpFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    Names({}).put_in_place(monkeypatch)
    with pytest.raises(HostUnknown):
        await fetcher.fetch(Request("http://nobody.example/"))


async def test_the_operator_can_lift_it() -> None:
    with Site({"/": "hello"}) as site:
        options = FetcherOptions(typed_location=None, allow_private=True)
        async with open_fetcher(options) as fetcher:
            assert (await fetcher.fetch(Request(site.url + "/"))).body == b"hello"

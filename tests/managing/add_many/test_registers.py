"""Registers of portals that others keep, each in its own words."""

from __future__ import annotations

import pytest

from rowen.errors import ConfigError
from rowen.managing.add_many.registers import is_register, parse
from rowen.managing.add_many.rules import Entry

CKAN_INSTANCES = """[
  {"id": "data_gv_at", "title": "data.gv.at", "url": "http://data.gv.at", "url-api": "http://data.gv.at/katalog",
   "facets": [{"key": "Region", "value": "Europe"}]},
  {"id": "dados_gov_br", "title": "dados.gov.br", "url": "http://dados.gov.br", "facets": []},
  {"id": "twice", "title": "the same", "url": "http://dados.gov.br", "facets": []},
  {"id": "nowhere", "title": "no address", "facets": []}
]"""
RE3DATA = """re3data.orgIdentifier,repositoryName,repositoryURL,apiType,api
r3d1,"PANGAEA, Data Publisher",https://www.pangaea.de/,OAI-PMH,https://ws.pangaea.de/oai/provider
r3d2,Harvard Dataverse,https://dataverse.harvard.edu,REST;OAI-PMH,https://dataverse.harvard.edu/api;https://dataverse.harvard.edu/oai
r3d3,Some archive,https://archive.example,FTP,ftp://archive.example
r3d4,Some archive,https://other.example,,
"""


def test_a_list_of_ckan_instances_is_of_ckan_by_the_address_of_its_api() -> None:
    assert is_register(CKAN_INSTANCES)
    assert parse(CKAN_INSTANCES, file="instances.json") == [
        Entry(name="data_gv_at", url="http://data.gv.at/katalog", type="ckan"),
        Entry(name="dados_gov_br", url="http://dados.gov.br/", type="ckan"),
    ]


def test_a_table_like_that_of_re3data_is_taken_by_the_interface_that_is_known() -> None:
    assert is_register(RE3DATA)
    assert parse(RE3DATA, file="re3data.csv") == [
        Entry(name="PANGAEA-Data-Publisher", url="https://ws.pangaea.de/oai/provider", type="oai_pmh"),
        Entry(name="Harvard-Dataverse", url="https://dataverse.harvard.edu/oai", type="oai_pmh"),
        # Its interface is of no family: its site is asked.
        Entry(name="Some-archive", url="https://other.example/", type=""),
    ]


def test_lists_of_domains_of_addresses_and_of_software_are_read() -> None:
    domains = '{"results": [{"domain": "data.city.example", "count": 12}]}'
    city = Entry(name="data.city.example", url="https://data.city.example/", type="socrata")
    assert parse(domains, file="d") == [city]
    assert parse('["https://data.town.example"]', file="d")[0].type == ""
    table = "name;url;software\nOne;https://one.example;DKAN\nTwo;https://two.example;Home-grown\n"
    assert [(one.name, one.type) for one in parse(table, file="t.csv")] == [("One", "dkan"), ("Two", "")]


@pytest.mark.parametrize(
    "text",
    [
        "# name, url\n[[portals]]\n",
        "",
        "[[portals]]\nname = 'a'\nurl = 'https://a.example'\n",
        "just words\n",
    ],
)
def test_what_people_write_is_no_register(text: str) -> None:
    assert not is_register(text)


@pytest.mark.parametrize("text", ["[]", "{}", "[1, 2]", '[{"title": "x"}]', "name,url\nA,\n", "[{"])
def test_a_register_without_portals_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        parse(text, file="r")

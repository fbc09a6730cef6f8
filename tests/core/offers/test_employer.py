"""Names and websites as offers write them, and what of a company can be recognised again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowen.core.offers.employer import company_name, domain_of, employer, registrable

FORMS = [
    "S.L.",
    "SL",
    "S. L.",
    "s.l.u.",
    "S.A.",
    "S/A",
    "GmbH",
    "Inc.",
    "Ltd",
    "LLC",
    "SARL",
    "B.V.",
    "S.p.A.",
]
LETTERS = "abz ABZ.,&/'’-éüßİŞﬁΣς²Ⅳ株式ооО\u0301\u0345"


@pytest.mark.parametrize("form", FORMS)
def test_legal_forms_do_not_count(form: str) -> None:
    assert company_name(f"Acmé  Ibérica, {form}") == "acme iberica"


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Müller & Söhne GmbH & Co. KG", "muller sohne"),
        ("SARL Dupont", "dupont"),
        ("Plan B S.L.", "plan b"),
        ("Plan B S. L.", "plan b"),
        ("A.B.C. Servicios Sociedad Limitada", "abc servicios"),
        ("Kowalski Sp. z o.o.", "kowalski"),
        ("McDonald’s Corp.", "mcdonalds"),
        ("ООО Ромашка", "ромашка"),
        ("Hotel Balneario Spa", "hotel balneario spa"),
        ("Ferrari SpA", "ferrari"),
        ("SAS Institute", "sas institute"),
        ("AG", "ag"),
        ("S.L.", "sl"),
        ("... !", ""),
    ],
)
def test_names_have_one_spelling(written: str, plain: str) -> None:
    assert company_name(written) == plain


@given(st.text() | st.text(alphabet=LETTERS) | st.lists(st.sampled_from([*FORMS, "Acme", "b"])).map(" ".join))
def test_a_name_that_was_made_plain_stays_as_it_is(name: str) -> None:
    assert company_name(company_name(name)) == company_name(name)


@given(st.text(alphabet="abelé .,&/'-"))
def test_case_does_not_count(name: str) -> None:
    assert company_name(name.upper()) == company_name(name)


@pytest.mark.parametrize(
    ("website", "domain"),
    [
        ("https://www.acme.com/careers?x=1", "acme.com"),
        ("ACME.com", "acme.com"),
        ("http://jobs.acme.co.uk:8080/", "acme.co.uk"),
        ("https://acme.com.es", "acme.com.es"),
        ("https://co.uk", "co.uk"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://www.linkedin.com/company/acme", None),
        ("https://acme.github.io", None),
        ("https://facebook.com/acme", None),
        ("https://boards.greenhouse.io/acme", None),
        ("https://sites.google.com/acme", None),
        ("https://about.google.com/", "google.com"),
        ("http://127.0.0.1/", None),
        ("http://[::1]/", None),
        ("http://intranet/", None),
        ("javascript:alert(1)", None),
        ("not a website", None),
        ("", None),
    ],
)
def test_a_website_is_known_by_what_was_registered(website: str, domain: str | None) -> None:
    assert domain_of(website) == domain


@given(st.text())
def test_any_text_may_stand_where_a_website_should(website: str) -> None:
    domain = domain_of(website)
    assert domain is None or (domain_of(domain) == domain and registrable(domain) == domain)


def test_keys_come_the_strongest_first() -> None:
    found = employer(
        provider="infojobs", company_id="7", name=" Acme  S.L.", website="www.acme.com", boards=()
    )
    assert found is not None
    assert found.keys == ("id:infojobs:7", "domain:acme.com", "name:acme")
    assert (found.name, found.website) == ("Acme S.L.", "https://www.acme.com/")


def test_the_boards_own_address_is_nobodys_website() -> None:
    found = employer(
        provider="p",
        company_id=None,
        name="Acme",
        website="https://jobs.example/acme",
        boards={"jobs.example"},
    )
    assert found is not None
    assert found.keys == ("name:acme",)
    assert found.website is None


def test_behind_a_confidential_name_stands_nobody() -> None:
    assert employer(provider="p", company_id=None, name="Confidencial", website=None, boards=()) is None
    assert employer(provider="p", company_id=None, name="S.L. ", website=None, boards=()) is not None
    found = employer(provider="p", company_id="9", name="Empresa confidencial", website=None, boards=())
    assert found is not None
    assert found.keys == ("id:p:9",)


def test_a_company_without_a_name_is_called_something() -> None:
    by_domain = employer(provider="p", company_id="9", name=None, website="acme.com", boards=())
    by_id = employer(provider="p", company_id="9", name=None, website=None, boards=())
    assert by_domain is not None
    assert by_id is not None
    assert (by_domain.name, by_id.name) == ("acme.com", "p 9")

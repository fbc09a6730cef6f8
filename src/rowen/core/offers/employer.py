"""The company that an offer names: what of it can be recognised again.

Three kinds of keys, the stronger first: the id a board gave it, the domain of its website, its name without
accents, punctuation and legal form. Which companies these keys lead to is decided in `company`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from rowen.core.web.urls import host_of, normalise
from rowen.patterns import pattern
from rowen.records import dataclass

ID, DOMAIN, NAME = "id:", "domain:", "name:"
"""How keys begin."""

# fmt: off
_LEGAL_FORMS = frozenset((
    # Spanish, Portuguese, Catalan
    "sl", "slu", "sll", "slp", "slne", "sa", "sau", "sad", "sal", "sc", "scp", "sccl", "scoop", "cb", "aie",
    "ute", "lda", "ltda", "eireli", "unipessoal",
    # French, Italian, Belgian
    "sarl", "sas", "sasu", "eurl", "snc", "sca", "scs", "srl", "srls", "sprl", "asbl", "vzw",
    # German, Austrian, Swiss, Dutch
    "gmbh", "ggmbh", "mbh", "ag", "kg", "kgaa", "ohg", "ug", "gbr", "ev", "eg", "se", "bv", "nv", "cv",
    "vof",
    # English
    "inc", "incorporated", "corp", "corporation", "co", "company", "ltd", "limited", "llc", "llp", "lp",
    "plc", "pllc", "pty", "pvt", "pte", "cic",
    # Nordic, Baltic, central and eastern European, Asian
    "ab", "oy", "oyj", "as", "asa", "aps", "ehf", "hf", "uab", "sia", "ou", "sro", "doo", "dd", "kft",
    "zrt", "nyrt", "eood", "ood", "ead", "ooo", "zao", "oao", "pao", "ооо", "зао", "оао", "пао", "ао",
    "тоо", "sdn", "bhd", "kk", "gk",
))
_LEGAL_PHRASES = tuple(tuple(phrase.split()) for phrase in (
    "sociedad limitada", "sociedad limitada unipersonal", "sociedad limitada laboral", "sociedad anonima",
    "sociedad anonima unipersonal", "sociedad cooperativa", "sociedad civil", "s coop", "s coop and",
    "s coop mad", "s en c", "sp z oo", "sp z o o", "gesellschaft mit beschrankter haftung",
    "private limited",
))
_LEGAL_BEFORE = frozenset(("sarl", "sasu", "eurl", "ооо", "зао", "оао", "пао", "ао", "тоо"))
# Different companies hide behind each of these names.
_ANONYMOUS = frozenset((
    "anonima", "anonimo", "anonymous", "company confidential", "confidencial", "confidential",
    "confidential company", "confidentiel", "empresa anonima", "empresa confidencial", "importante empresa",
    "n a", "na", "no disponible", "none", "not disclosed", "null", "undisclosed", "unknown", "vertraulich",
))
# Hosts that many companies share: such a domain identifies none of them.
_SHARED = frozenset((
    "about.me", "apps.apple.com", "behance.net", "bit.ly", "blogspot.com", "canva.site", "carrd.co",
    "crunchbase.com", "docs.google.com", "drive.google.com", "facebook.com", "fb.com", "firebaseapp.com",
    "forms.gle", "github.com", "github.io", "gitlab.com", "gitlab.io", "glassdoor.com", "glassdoor.es",
    "goo.gl", "google.site", "herokuapp.com", "instagram.com", "linkedin.com", "linktr.ee", "lnkd.in",
    "maps.google.com", "medium.com", "meetup.com", "myshopify.com", "netlify.app", "notion.site",
    "notion.so", "odoo.com", "pages.dev", "pinterest.com", "play.google.com", "sites.google.com",
    "squarespace.com", "substack.com", "t.me", "tiktok.com", "tinyurl.com", "tumblr.com", "twitter.com",
    "vercel.app", "vimeo.com", "wa.me", "web.app", "webflow.io", "weebly.com", "wellfound.com",
    "wikipedia.org", "wixsite.com", "wordpress.com", "x.com", "xing.com", "youtu.be", "youtube.com",
    # boards and what applicants are tracked with
    "applytojob.com", "ashbyhq.com", "bamboohr.com", "breezy.hr", "greenhouse.io", "icims.com",
    "indeed.com", "infoempleo.com", "infojobs.com.br", "infojobs.it", "infojobs.net", "jobs.personio.com",
    "jobs.personio.de", "jobvite.com", "join.com", "lever.co", "monster.com", "myworkdayjobs.com",
    "personio.com", "personio.de", "recruitee.com", "smartrecruiters.com", "stepstone.de", "taleo.net",
    "teamtailor.com", "tecnoempleo.com", "workable.com",
))
# Below a country, these are kinds of registrants, not names: `acme.co.uk`, `acme.com.br`, `acme.or.jp`.
_SECOND_LEVEL = frozenset((
    "ac", "co", "com", "edu", "go", "gob", "gouv", "gov", "gub", "govt", "ind", "info", "ltd", "me", "mil",
    "ne", "net", "nhs", "nom", "or", "org", "plc", "sch",
))
# fmt: on

_WORD = pattern(r"[^\W_]+")
_WORD_OF_LETTERS = pattern(r"(?<![^\W_])[^\W\d_]+(?![^\W_])")
_NOT_ASCII = pattern(r"[^\x00-\x7f]+")
_APOSTROPHES = pattern("['’`´]")
_DOTTED = pattern(r"(?<!\w)(?:\w\.){1,6}\w(?!\w)")
# Without its dots it is also what hotels have.
_SOCIETA_PER_AZIONI = pattern(r"\b(?:S\. ?p\. ?A\b|SpA\b)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Employer:
    """A company as one offer names it, with its keys, the strongest first."""

    name: str
    website: str | None
    keys: tuple[str, ...]


def employer(
    *, provider: str, company_id: str | None, name: str | None, website: str | None, boards: Collection[str]
) -> Employer | None:
    """None when nothing here can be recognised again. `boards` are the domains that show the offer."""
    domain = domain_of(website) if website else None
    if domain in boards:
        domain = None
    plain = company_name(name) if name else ""
    keys = []
    if company_id:
        keys.append(f"{ID}{provider}:{company_id}")
    if domain:
        keys.append(f"{DOMAIN}{domain}")
    if plain and plain not in _ANONYMOUS:
        keys.append(f"{NAME}{plain}")
    if not keys:
        return None
    return Employer(
        name=" ".join((name or "").split()) or domain or f"{provider} {company_id}",
        website=_address(website) if website and domain else None,
        keys=tuple(keys),
    )


def plain_words(text: str, *, digits: bool = True) -> list[str]:
    """Letters and digits only, without case and accents; or only the words that have no digits in them."""
    return (_WORD if digits else _WORD_OF_LETTERS).findall(_plain(text))


def company_name(name: str) -> str:
    """One spelling for the ways in which a name is written; what comes out goes in again unchanged."""
    undotted = _DOTTED.sub(lambda match: match[0].replace(".", ""), _SOCIETA_PER_AZIONI.sub(" ", name))
    words = plain_words(_APOSTROPHES.sub("", undotted))
    while True:
        shorter = _without_legal_form(words)
        # A name that is nothing but a legal form is a name.
        if not shorter or shorter == words:
            return " ".join(words)
        words = shorter


def domain_of(website: str) -> str | None:
    """The registered part of a host; None when many companies share it."""
    host = host_of(_address(website) or "").removesuffix(".").removeprefix("www.")
    labels = host.split(".")
    if len(labels) < 2 or not all(labels) or labels[-1].isdigit() or host.endswith("]"):
        return None
    domain = registrable(host)
    if any(host == shared or host.endswith(f".{shared}") for shared in _SHARED):
        return None
    return domain


def registrable(host: str) -> str:
    """`jobs.acme.co.uk` to `acme.co.uk`: two labels, or three below a country that has such a level."""
    labels = host.split(".")
    below_country = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    return ".".join(labels[-3 if below_country else -2 :])


def _address(website: str) -> str | None:
    website = website.strip()
    return normalise(website if "://" in website else f"https://{website}")


def _without_legal_form(words: list[str]) -> list[str]:
    if words and words[0] in _LEGAL_BEFORE:
        return words[1:]
    for phrase in _LEGAL_PHRASES:
        if tuple(words[-len(phrase) :]) == phrase:
            return words[: -len(phrase)]
    if words and words[-1] in _LEGAL_FORMS:
        return words[:-1]
    # `Acme S. L.` and `Acme S/A`: letters that stand alone at the end, as many as make a form.
    alone = 0
    while alone < min(5, len(words)) and len(words[-1 - alone]) == 1:
        alone += 1
    for length in range(alone, 1, -1):
        if "".join(words[-length:]) in _LEGAL_FORMS:
            return words[:-length]
    return words


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Twice: folding the case of some letters brings accents back.
    for _ in range(2):
        text = _NOT_ASCII.sub(_without_marks, unicodedata.normalize("NFKD", text)).casefold()
    return text


def _without_marks(match: re.Match[str]) -> str:
    return "".join(c for c in match[0] if not unicodedata.combining(c))

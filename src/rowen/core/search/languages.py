"""Languages of documents, sections and questions, as searches filter by them and hits say them.

A section of a document in several languages has its language in its anchor (`lang=de`): a link leads to it,
and no store needs a column for it. Tags are BCP 47 in lower case, with the short code where there is one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rowen.patterns import pattern

MARK = "lang="
"""Begins the anchor of a section that is in one language of several."""
MAX_CHARS = 35

_TAG = pattern(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*")
_SHORT = {
    "alb": "sq", "ara": "ar", "baq": "eu", "bos": "bs", "bul": "bg", "cat": "ca", "ces": "cs", "chi": "zh",
    "cze": "cs", "cym": "cy", "dan": "da", "deu": "de", "dut": "nl", "ell": "el", "eng": "en", "est": "et",
    "eus": "eu", "fin": "fi", "fra": "fr", "fre": "fr", "ger": "de", "gle": "ga", "glg": "gl", "gre": "el",
    "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "ice": "is", "ind": "id", "isl": "is", "ita": "it",
    "jpn": "ja", "kat": "ka", "kor": "ko", "lav": "lv", "lit": "lt", "ltz": "lb", "mac": "mk", "mkd": "mk",
    "mlt": "mt", "nld": "nl", "nno": "nn", "nob": "nb", "nor": "no", "pol": "pl", "por": "pt", "roh": "rm",
    "ron": "ro", "rum": "ro", "rus": "ru", "slk": "sk", "slo": "sk", "slv": "sl", "spa": "es", "sqi": "sq",
    "srp": "sr", "swe": "sv", "tur": "tr", "ukr": "uk", "wel": "cy", "zho": "zh",
}  # fmt: skip
"""Codes of three letters that have one of two."""


def tag_of(text: Any) -> str:
    """A language out of `de`, `pt_BR`, `DEU` or an address of a vocabulary; empty for what is none."""
    if not text or not isinstance(text, str):
        return ""
    last = text.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2].lower().replace("_", "-")
    if len(last) > MAX_CHARS or not _TAG.fullmatch(last):
        return ""
    first, dash, rest = last.partition("-")
    return _SHORT.get(first, first) + dash + rest


def heading_mark(language: str) -> str:
    """What stands behind a heading whose section is in this language."""
    return f"{{#{MARK}{language}}}"


def of_anchor(anchor: str | None) -> str | None:
    """The language of a section, if its anchor has one."""
    return anchor[len(MARK) :] or None if anchor and anchor.startswith(MARK) else None


def is_in(language: str, wanted: str) -> bool:
    """`de-ch` is in `de`, not the other way round."""
    return language == wanted or language.startswith(f"{wanted}-")


def said_of(languages: Any, language: Any, lang: Any) -> str | None:
    """The one language of a document, from its metadata; None where there are several or none is known."""
    if isinstance(languages, list):
        return str(languages[0]) if len(languages) == 1 else None
    return tag_of(language) or tag_of(lang) or None


class Translated(NamedTuple):
    language: str
    """As its reference says it; empty when it says none."""
    page: str
    """The reference without the language: the same for all translations of a page."""


CODES = (
    "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "es", "et", "eu", "fa",
    "fi", "fil", "fr", "ga", "gl", "gu", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "ka", "kk",
    "kn", "ko", "lt", "lv", "mk", "ml", "mn", "mr", "ms", "nb", "ne", "nl", "nn", "no", "pa", "pl", "pt",
    "ro", "ru", "sk", "sl", "sq", "sr", "sv", "sw", "ta", "te", "th", "tl", "tr", "uk", "ur", "uz", "vi",
    "zh",
)  # fmt: skip
"""Languages that documentation is translated into."""
_KNOWN = frozenset(CODES)
_FOLDER = pattern(r"[a-z]{2,3}(?:[-_](?:[A-Za-z]{2}|[A-Z][a-z]{3}|[a-z]{4}|419))?")
_IN_NAME = pattern(
    r"(.+?)([._-])([a-z]{2}(?:[-_](?:[A-Za-z]{2}|[Hh]an[st]|[Ll]atn|[Cc]yrl))?)"
    r"\.(md|mdx|markdown|rst|txt|adoc|html?)"
)
_ALSO_WORDS = frozenset((
    "ar", "az", "be", "bg", "bs", "ca", "cs", "da", "el", "es", "et", "eu", "fi", "ga", "gl", "he",
    "hi", "hr", "id", "is", "it", "kn", "lt", "lv", "mk", "ml", "mr", "ms", "nb", "ne", "nl", "nn",
    "no", "pa", "pl", "pt", "ro", "sk", "sl", "sq", "sr", "sv", "sw", "ta", "te", "th", "tl", "tr",
    "uk", "ur", "vi",
))  # fmt: skip
"""Codes that are words and abbreviations as well: `user-id.md` and `certs_ca.md` are no translations."""
_ONE_OF_A_KIND = pattern(r"(?:[A-Z][A-Z_-]+|readme|index|_index)")
"""Names of files whose ending hardly tells anything but a language: `README_it.md`."""
_INDEXES = frozenset(("", "index", "_index", "readme", "__init__"))
_DOCUSAURUS = pattern(r"i18n/docusaurus-plugin-content-(docs|blog|pages)(?:-[\w-]+)?/(?:current/)?")


def of_reference(reference: str) -> Translated:
    """The language that a folder (`docs/de/a.md`) or the name of a file (`a.de.md`) says."""
    folders, slash, name = reference.rpartition("/")
    if _may_end_in_code(name) and (found := _IN_NAME.fullmatch(name)):
        language = _code(found[3])
        if language and _ends_in_language(found[1], found[2], language):
            return Translated(language, f"{folders}{slash}{found[1]}.{found[4]}")
    parts = folders.split("/")
    for at, part in enumerate(parts):
        if (language := _code(part)) and _FOLDER.fullmatch(part):
            page = "/".join((*parts[:at], *parts[at + 1 :], name))
            # Docusaurus keeps the original elsewhere.
            return Translated(language, _DOCUSAURUS.sub(r"\1/", page))
    return Translated("", reference)


def page_of(reference: str, translated: Translated) -> str:
    """The same for all translations of a page, as far as that shows that there are any.

    Each folder has an index: `it/README.md` beside `README.md` may be about computers.
    """
    folders, _, name = reference.rpartition("/")
    if name.partition(".")[0].lower() not in _INDEXES:
        return translated.page
    without = translated.page.rpartition("/")[0]
    is_of_its_folder = without != folders and without == folders.rpartition("/")[0]
    return reference if is_of_its_folder else translated.page


def _ends_in_language(name: str, mark: str, language: str) -> bool:
    return mark == "." or language not in _ALSO_WORDS or _ONE_OF_A_KIND.fullmatch(name) is not None


def _may_end_in_code(name: str) -> bool:
    """Hardly any name does, and this is known without its pattern."""
    *pieces, _ = name.replace("_", "-").replace(".", "-").split("-")
    return any(_code(piece) for piece in pieces[-2:])


def _code(written: str) -> str:
    first = written.lower().replace("_", "-").partition("-")[0]
    first = _SHORT.get(first, first)
    return first if first in _KNOWN else ""


_SCRIPTS = (
    ("ja", pattern(r"[\u3040-\u30ff]")),
    ("ko", pattern(r"[\u1100-\u11ff\uac00-\ud7af]")),
    ("zh", pattern(r"[\u4e00-\u9fff]")),
    ("uk", pattern(r"[іїєґІЇЄҐ]")),
    ("ru", pattern(r"[\u0400-\u04ff]")),
    ("fa", pattern(r"[پچژگ]")),
    ("ar", pattern(r"[\u0600-\u06ff]")),
    ("hi", pattern(r"[\u0900-\u097f]")),
    ("bn", pattern(r"[\u0980-\u09ff]")),
    ("th", pattern(r"[\u0e00-\u0e7f]")),
    ("he", pattern(r"[\u0590-\u05ff]")),
    ("el", pattern(r"[\u0370-\u03ff]")),
    ("vi", pattern(r"[ăđơưĂĐƠƯ\u1ea0-\u1ef9]")),
)
"""Letters that tell a language; the first one that fits counts."""
_WORD = pattern(r"[^\W\d_]+")
_SMALL_WORDS = {
    "en": "the of to in how is are a an for and what do does i my with on can when which why where from",
    "de": "der die das und wie ich ein eine einen mit für ist kann nicht den dem zu auf wird werden warum",
    "fr": "le la les des un une comment est je dans pour avec sur que du et pourquoi ou quel quelle faire",
    "es": "el los las una cómo como qué para con por un en es del se cuál dónde puedo hacer",
    "pt": "os uma como para com não em um o do da que por fazer onde qual é dos das",
    "it": "il lo gli una come per con di che è nel della quale dove posso fare un",
    "nl": "het een hoe ik met voor van zijn wat kan niet waarom welke op",
    "pl": "jak się nie na do jest dla czy co gdzie dlaczego w z",
    "id": "bagaimana cara untuk dengan yang dan apa saya pada dari",
    "tr": "nasıl bir ve için ile nedir ne bu neden nerede",
    "sv": "hur jag en ett och med för är inte det den vad kan",
}
_SHORTEST_ALONE = 4
"""Letters of a small word that tells a language by itself: `os`, `del` and `z` stand in any question."""
_ALSO_ENGLISH = frozenset(("comment", "come", "cara", "dove", "fare", "para", "pour"))
_WORDS = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}


def of_question(text: str) -> str:
    """The language of a question, by its letters or its small words; empty when neither tells."""
    # None of these letters is in ASCII.
    for language, letters in () if text.isascii() else _SCRIPTS:
        if letters.search(text):
            return language
    words = {word.lower() for word in _WORD.findall(text)}
    counts = sorted(((len(words & known), language) for language, known in _WORDS.items()), reverse=True)
    (most, language), (next_most, _) = counts[:2]
    if most <= next_most:
        return ""
    return language if most > 1 or language == "en" or _tells_alone(words & _WORDS[language]) else ""


def _tells_alone(words: set[str]) -> bool:
    return any(
        not word.isascii() or (len(word) >= _SHORTEST_ALONE and word not in _ALSO_ENGLISH) for word in words
    )

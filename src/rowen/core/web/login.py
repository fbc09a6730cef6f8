"""Login pages: by their address, and by what they hold.

Both are guesses, made where the other reading would lose text: a page that was there and now asks for a
password has not changed its text.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from rowen.patterns import pattern

FEW_WORDS = 80
"""A page with a password field and more words than this is about something else."""
_HOSTS = frozenset(("login", "signin", "sso", "auth", "oauth", "idp", "accounts", "account", "id"))
_SEGMENTS = pattern(
    r"/(?:log[-_]?in|log[-_]?on|sign[-_]?in|sso|saml2?|oauth2?|authorize|openid-connect|cas|wp-login\.php)(?:[/.]|$)",
    re.IGNORECASE,
)
_PASSWORD = re.compile(rb"<input\b[^>]*\btype\s*=\s*[\"']?password\b", re.IGNORECASE)


def is_login_address(url: str) -> bool:
    """`https://sso.example.org/...` or `https://docs.example.org/users/sign_in?next=...`."""
    parts = urlsplit(url)
    return (parts.hostname or "").partition(".")[0] in _HOSTS or _SEGMENTS.search(parts.path) is not None


def is_login_page(body: bytes, text: str) -> bool:
    """Is a password what a page is about? `text` is its content as Markdown."""
    # No more words are counted than are needed to see that there are many.
    return len(text.split(None, FEW_WORDS)) < FEW_WORDS and _PASSWORD.search(body) is not None

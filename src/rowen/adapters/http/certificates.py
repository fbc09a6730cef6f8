"""Certificates of servers: whom to trust, and why one is refused."""

from __future__ import annotations

import ssl

from rowen.errors import CertificateRefused, ConfigError

EXPIRED, NOT_YET_VALID = 10, 9
"""Numbers of OpenSSL, `X509_V_ERR_...`."""
_OTHER_HOST = frozenset({62, 64})
_UNKNOWN_ISSUER = frozenset({18, 19, 20, 21})
_TRUST = (
    "if you trust it, write it or its authority to a PEM file and give its path: `--set ca_file=/path/ca.pem`"
    " with `rowen add`"
)


def trusting(ca_file: str) -> ssl.SSLContext:
    """The authorities that this machine knows, and those of a file. Raises `ConfigError`."""
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(ca_file)
    except ssl.SSLError as exc:
        raise ConfigError(
            f"setting `ca_file`: `{ca_file}` holds no certificate", hint="it must be a PEM file"
        ) from exc
    except OSError as exc:
        raise ConfigError(f"setting `ca_file`: `{ca_file}` cannot be read: {exc.strerror}") from exc
    return context


def refused(exc: ssl.SSLCertVerificationError, url: str, host: str) -> CertificateRefused:
    """The error for a certificate that does not prove that this is the host."""
    # aiohttp's wrapping is one of these, too, and may come without the details.
    code, about = getattr(exc, "verify_code", 0), f"`{url}`: the certificate of `{host}`"
    if code == EXPIRED:
        fact, hint = "has expired", "its owner must renew it, or the clock of this machine is wrong"
    elif code == NOT_YET_VALID:
        fact, hint = "is not valid yet", "the clock of this machine is wrong, or the server's"
    elif code in _OTHER_HOST:
        fact, hint = "is for another host", "use the name that stands in the certificate"
    elif code in _UNKNOWN_ISSUER:
        fact, hint = "is self-signed, or its authority is not known to this machine", _TRUST
    else:
        fact, hint = f"is refused, {getattr(exc, 'verify_message', 'no reason is given')}", _TRUST
    return CertificateRefused(f"{about} {fact}", hint=hint, url=url, host=host, verify_code=code)

"""The authorities that a machine trusts are read when TLS is first spoken, and are the same as ever."""

from __future__ import annotations

import ssl
import subprocess
import sys

from rowen.adapters.http.late_certificates import read_when_used


def context_made_meanwhile() -> ssl.SSLContext:
    with read_when_used():
        return ssl.create_default_context()


def used(context: ssl.SSLContext) -> None:
    context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="docs.example")


def test_a_context_trusts_whom_others_trust_once_it_is_used() -> None:
    late, ordinary = context_made_meanwhile(), ssl.create_default_context()
    assert late.cert_store_stats()["x509"] == 0
    used(late)
    assert late.get_ca_certs() == ordinary.get_ca_certs()
    assert type(late) is type(ordinary)
    assert (late.verify_mode, late.check_hostname) == (ssl.CERT_REQUIRED, True)
    used(late)


def test_contexts_that_are_made_later_are_ordinary() -> None:
    context_made_meanwhile()
    assert type(ssl.create_default_context()) is ssl.SSLContext
    assert "set_default_verify_paths" not in vars(ssl.SSLContext)


def test_the_import_of_the_client_reads_no_certificate() -> None:
    program = """
import ssl
import rowen.adapters.http
from aiohttp import connector
made = (connector._SSL_CONTEXT_VERIFIED, connector._SSL_CONTEXT_UNVERIFIED)
assert [one.cert_store_stats()["x509"] for one in made] == [0, 0]
assert made[0].verify_mode is ssl.CERT_REQUIRED and made[0].check_hostname
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

"""A mail server for tests: a few commands of SMTP in a background thread, over TLS if it is asked to.

    with SmtpServer(tmp_path, users={"rowen": "secret"}) as server:
        ...
        assert server.messages[0].recipients == ["ops@example.org"]

Every command and message is kept. `answers` puts another answer in the place of the usual one.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DEADLINE_S = 120.0


@dataclass(frozen=True)
class Received:
    sender: str
    recipients: list[str]
    message: EmailMessage
    user: str | None
    encrypted: bool


class SmtpServer:
    def __init__(
        self, folder: Path, *, security: str = "starttls", users: dict[str, str] | None = None
    ) -> None:
        self.security = security
        self.users = users or {}
        self.messages: list[Received] = []
        self.commands: list[str] = []
        self.answers: dict[str, str] = {}
        """By command: what to say instead."""
        self.port = 0
        self.certificate = folder / "smtp.pem"
        _certify(self.certificate)
        self._started = threading.Event()
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(DEADLINE_S)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(DEADLINE_S)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        context = self._context() if self.security == "ssl" else None
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0, ssl=context)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        async with server:
            await self._stop.wait()

    def _context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        return context

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
            await _Conversation(self, reader, writer).hold()
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()


class _Conversation:
    def __init__(
        self, server: SmtpServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._server, self._reader, self._writer = server, reader, writer
        self._encrypted = server.security == "ssl"
        self._user: str | None = None
        self._sender = ""
        self._recipients: list[str] = []

    async def hold(self) -> None:
        await self._say("220 test ESMTP")
        while line := await self._line():
            command = line.split(" ")[0].split(":")[0].upper()
            self._server.commands.append(command)
            if command in self._server.answers:
                await self._say(self._server.answers[command])
            elif command == "QUIT":
                await self._say("221 bye")
                return
            else:
                await self._do(command, line)

    async def _do(self, command: str, line: str) -> None:
        match command:
            case "EHLO":
                offered = ["250-test"]
                if self._server.security == "starttls" and not self._encrypted:
                    offered.append("250-STARTTLS")
                if self._server.users and (self._encrypted or self._server.security == "none"):
                    offered.append("250-AUTH PLAIN")
                for one in [*offered, "250 8BITMIME"]:
                    await self._say(one)
            case "STARTTLS":
                await self._say("220 go ahead")
                await self._writer.start_tls(self._server._context())
                self._encrypted = True
            case "AUTH":
                _, user, password = base64.b64decode(line.split(" ")[2]).decode().split("\0")
                known = self._server.users.get(user) == password
                self._user = user if known else None
                await self._say("235 welcome" if known else "535 no such user")
            case "MAIL":
                if self._server.users and self._user is None:
                    await self._say("530 authentication required")
                else:
                    self._sender = _address(line)
                    await self._say("250 ok")
            case "RCPT":
                self._recipients.append(_address(line))
                await self._say("250 ok")
            case "DATA":
                await self._say("354 go on")
                await self._take(await self._reader.readuntil(b"\r\n.\r\n"))
            case _:
                await self._say("250 ok")

    async def _take(self, raw: bytes) -> None:
        message = message_from_bytes(raw[:-5].replace(b"\r\n..", b"\r\n."), policy=policy.default)
        assert isinstance(message, EmailMessage)
        received = Received(self._sender, self._recipients, message, self._user, self._encrypted)
        self._server.messages.append(received)
        await self._say("250 taken")

    async def _line(self) -> str:
        return (await self._reader.readline()).decode().strip()

    async def _say(self, line: str) -> None:
        self._writer.write(f"{line}\r\n".encode())
        await self._writer.drain()


def _address(line: str) -> str:
    return line.partition("<")[2].partition(">")[0]


def _certify(file: Path) -> None:
    """A certificate of its own for 127.0.0.1, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "rowen test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))

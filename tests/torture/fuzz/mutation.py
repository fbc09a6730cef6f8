"""Inputs that nobody would write: real ones with pieces taken out, doubled, nested, swapped and spoilt."""

from __future__ import annotations

import random
from collections.abc import Sequence

TOKENS = [
    b"\0",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\r\r\n",
    b"<",
    b">",
    b"&#x0;",
    b"&#1114112;",
    b"&amp" * 50,
    b"<!--",
    b"]]>",
    b"<![CDATA[",
    b"<script>",
    b"</table></table>",
    b"```",
    b"````\n",
    b"# " * 40,
    b"\n---\n",
    b"[x](",
    b"](y)",
    b"|" * 60,
    b"{{{{",
    b"\\",
    b'"',
    b"'",
    b"%00",
    b"%",
    b"..//",
    b"\t",
    b"9" * 400,
    b"-1e999",
    b"null",
    b"[[[[[[",
    b"}}}}",
    b"*" * 30,
    "漢字🌾\u202e".encode(),
    "\u0000\u200b\ufeff".encode(),
]
NESTED = [
    (b"<div>", b"</div>"),
    (b"<ul><li>", b"</li></ul>"),
    (b"<table><tr><td>", b""),
    (b"[", b"]"),
    (b"> ", b""),
]


def mutated(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((1, 2, 4, 8, 16))):
        at = chance.randrange(len(data) + 1)
        length = min(chance.choice((1, 4, 30, 300)), len(data) - at)
        match chance.randrange(7):
            case 0:
                del data[at : at + length]
            case 1:
                data[at:at] = data[at : at + length] * chance.choice((1, 3, 40))
            case 2:
                data[at:at] = chance.choice(TOKENS)
            case 3:
                data[at : at + length] = chance.randbytes(length)
            case 4:
                other = chance.choice(seeds)
                begin = chance.randrange(len(other) + 1)
                data[at : at + length] = other[begin : begin + chance.choice((10, 200))]
            case 5:
                begin, end = chance.choice(NESTED)
                depth = chance.choice((3, 30, 400))
                data[at:at] = begin * depth + end * chance.choice((0, depth))
            case 6:
                data[at : at + length] = bytes(reversed(data[at : at + length]))
    return bytes(data[:300_000])


def text(chance: random.Random, seeds: Sequence[bytes]) -> str:
    return mutated(chance, seeds).decode("utf-8", chance.choice(("replace", "ignore", "surrogateescape")))

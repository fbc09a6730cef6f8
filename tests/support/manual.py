"""Pages of a manual as Sphinx writes them, from the few kinds of Markdown blocks that tests use."""

from __future__ import annotations

import re
from html import escape

from tests.support.site import Page

_DEFINED = re.compile(r"## `[^`]+` \{#(?P<name>[\w.]+) \.(?P<kind>\w+)\}")


def manual(markdown: str) -> str:
    """HTML with a definition for each heading of the form `{#name .function}`, and for what follows it."""
    made: list[str] = []
    blocks = [one.strip() for one in markdown.split("\n\n") if one.strip()]
    at = 0
    while at < len(blocks):
        block, defined = blocks[at], _DEFINED.fullmatch(blocks[at])
        if defined is not None:
            signature = escape(blocks[at + 1].strip("`"))
            made.append(
                f'<dl class="py {defined["kind"]}"><dt class="sig sig-object py" id="{defined["name"]}">'
                f"<code>{signature}</code></dt><dd><p>{escape(blocks[at + 2])}</p></dd></dl>"
            )
            at += 3
            continue
        level, _, text = block.partition(" ")
        is_heading = set(level) == {"#"}
        tag = f"h{len(level)}" if is_heading else "p"
        said = escape(text if is_heading else block)
        anchor = f' id="{re.sub(r"[^a-z]+", "-", text.lower())}"' if is_heading else ""
        made.append(f"<{tag}{anchor}>{said}</{tag}>")
        at += 1
    return f"<html><body><main>{''.join(made)}</main></body></html>"


def a_manual_page(markdown: str) -> Page:
    return Page(manual(markdown), content_type="text/html")

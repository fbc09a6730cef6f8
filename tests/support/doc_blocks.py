"""Code blocks and commands of the documents, as the tests run them.

A block that needs the outside world is marked in the line above its fence, with the reason:

    <!-- outside: docs.python.org -->

Such a block is not run; its `rowen` commands are still checked against the command line.

The blocks of a guide are followed from the first to the last in one folder and one shell, as a reader does.
What a block shows below a command must be in what the command prints. A block that the reader puts into a
file names it:

    <!-- file: rowen.toml -->
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from rowen.doors.cli.starting.by_click import cli

ROOT = Path(__file__).parents[2]
_MARK = re.compile(r"<!-- (outside|file): (.+) -->")
_GUIDES = ("tutorial.md", "how-to/", "operations/", "explanation/")
_BETWEEN = "----- the next block -----"
_INLINE = re.compile(r"(?<!`)`(rowen [^`\n]+)`")


@dataclass(frozen=True)
class Block:
    file: str
    line: int
    language: str
    text: str
    outside: str | None
    """Why it is not run here."""
    put_into: str | None = None
    """The file that a reader makes of it."""

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """The lines a person types: behind `$`, with continued lines joined."""
        joined = self.text.replace("\\\n", " ")
        return [line[2:] for line in joined.splitlines() if line.startswith("$ ")]

    @property
    def shown(self) -> list[str]:
        """The lines that commands are said to print."""
        joined = self.text.replace("\\\n", " ")
        return [line for line in joined.splitlines() if line.strip() and not line.startswith("$ ")]

    @property
    def script(self) -> str:
        """What a reader does with it, for a shell."""
        if self.put_into:
            return f"cat > {shlex.quote(self.put_into)} <<'END OF FILE'\n{self.text}END OF FILE"
        return "\n".join(self.commands) if self.language == "console" else ""

    @property
    def of_guide(self) -> bool:
        return self.file.removeprefix("docs/").startswith(_GUIDES)


@dataclass(frozen=True)
class Guide:
    """A page that a reader follows from the first block to the last."""

    file: str
    blocks: list[Block]

    @property
    def script(self) -> str:
        return f"\necho '{_BETWEEN}'\n".join(block.script for block in self.blocks)

    def missing(self, printed: str) -> list[str]:
        """The lines that the page shows and the commands of that block did not print."""
        parts = [" ".join(part.split()) for part in printed.split(_BETWEEN)]
        return [
            f"{block.name}: {line}"
            for block, part in zip(self.blocks, parts, strict=True)
            if block.language == "console"
            for line in block.shown
            if " ".join(line.split()) not in part
        ]


def guides() -> list[Guide]:
    followed = [block for block in blocks() if block.of_guide and block.outside is None]
    return [
        Guide(file, [block for block in followed if block.file == file])
        for file in dict.fromkeys(block.file for block in followed)
    ]


def documents() -> list[Path]:
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md")]
    docs = [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "adr"]
    return [*found, *docs, ROOT / "examples" / "README.md", *sorted(ROOT.glob("examples/*/README.md"))]


def blocks() -> list[Block]:
    return [block for path in documents() for block in _blocks(path)]


def _blocks(path: Path) -> Iterator[Block]:
    lines = path.read_text("utf-8").splitlines()
    opened: int | None = None
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("```"):
            continue
        if opened is None:
            opened = number
            continue
        above = _MARK.search(lines[opened - 1]) if opened else None
        mark = {above[1]: above[2]} if above else {}
        yield Block(
            file=path.relative_to(ROOT).as_posix(),
            line=opened + 1,
            language=lines[opened].strip().removeprefix("```"),
            text="\n".join(lines[opened + 1 : number]) + "\n",
            outside=mark.get("outside"),
            put_into=mark.get("file"),
        )
        opened = None


def inline_commands() -> list[tuple[str, str]]:
    """Each `rowen ...` in the running text, with its document."""
    return [
        (path.relative_to(ROOT).as_posix(), text)
        for path in documents()
        for text in _INLINE.findall(path.read_text("utf-8"))
    ]


def problem_of(command: str) -> str | None:
    """What the command line would refuse of a `rowen ...` command or of a line of usage; None if nothing.

    Placeholders and optional parts (`NAME`, `[--full-sync]`) are allowed: only the names of commands and of
    options are checked.
    """
    plain = command.partition("#")[0].replace("\\|", "|").replace("...", "")
    words = shlex.split(re.sub(r"[\[\]]", " ", plain))
    while words and (words[0].endswith("rowen") or "=" in words[0]):
        words = words[1:]
    return _problem(cli, words)


def _problem(command: click.Command, words: list[str]) -> str | None:
    context = click.Context(command)
    while isinstance(command, click.Group):
        names = [word for word in words if not word.startswith("-")]
        if not names:
            break
        found = command.get_command(context, names[0]) if names[0] in command.list_commands(context) else None
        if found is None:
            return f"no command `{names[0]}`"
        words = [word for word in words if word != names[0]]
        command, context = found, click.Context(found, parent=context)
    known = {option for parameter in command.get_params(context) for option in parameter.opts}
    known |= {option for parameter in command.params for option in parameter.secondary_opts}
    for word in words:
        option = word.partition("=")[0]
        if re.fullmatch(r"--[a-z][a-z-]*", option) and option not in known:
            return f"no option `{option}`"
    return None

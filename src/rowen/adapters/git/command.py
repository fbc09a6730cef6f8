"""Starting the `git` command: without prompts, hooks or odd transports, and within a time limit.

What an address or a branch says cannot become an option or a program: options end before they begin, and only
plain transports are allowed. Failures come out as our errors.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import Mapping, Sequence

from rowen.errors import (
    ConfigError,
    ConnectionFailed,
    FetchTimeout,
    HostUnknown,
    RateLimited,
    RowenError,
    ServerFailed,
    Unfetchable,
)

PROTOCOLS = "file:git:http:https:ssh"
# Set by a git that started us (a hook, an alias); they would lead every command to another repository.
_NOT_OURS = frozenset((
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_PREFIX",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES", "GIT_TRACE",
))  # fmt: skip
_SETTINGS = (
    "protocol.ext.allow=never",
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.askPass=",
    # A redirect could lead to an address that the operator did not type.
    "http.followRedirects=false",
    "http.lowSpeedLimit=100",
    "http.lowSpeedTime=60",
    "gc.autoDetach=false",
    "advice.detachedHead=false",
    "submodule.recurse=false",
)
_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]+@")

_CAUSES: tuple[tuple[str, type[RowenError]], ...] = (
    (r"could not resolve host|name or service not known", HostUnknown),
    (r"returned error: 429", RateLimited),
    (r"returned error: 5\d\d", ServerFailed),
    (
        r"authentication failed|could not read (user|pass)|permission denied|terminal prompts disabled"
        r"|returned error: 40[13]|host key verification failed",
        Unfetchable,
    ),
    (
        r"not found|does not appear to be a git repo|does not exist|no such|not a git repository|no matching"
        r"|couldn't find remote ref|not allowed|dubious ownership|redirect|returned error: 3\d\d",
        Unfetchable,
    ),
)
_MOVED = "it answers at another address, which is not followed: give that one (often it ends in `.git`)"
_HINTS = {
    "dubious ownership": "it belongs to another user: `git config --global --add safe.directory PATH`",
    "redirect": _MOVED,
    "returned error: 30": _MOVED,
    "terminal prompts disabled": "it may be private: set up a credential helper or an SSH key for git",
    "permission denied": "it may be private: set up a credential helper or an SSH key for git",
    "not found": "check the address; a private repository needs a credential helper or an SSH key for git",
}


class Git:
    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        program: str = "git",
        timeout_s: float,
        protocols: str = PROTOCOLS,
        settings: Sequence[str] = (),
    ) -> None:
        """`protocols` and `settings` narrow what it may do."""
        kept = {name: value for name, value in environment.items() if name not in _NOT_OURS}
        self._settings = (*_SETTINGS, *settings)
        self._environment = {
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
            **kept,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "GIT_ALLOW_PROTOCOL": protocols,
            "GIT_OPTIONAL_LOCKS": "0",
            "LC_ALL": "C",
        }
        self._program = program
        self._timeout_s = timeout_s

    async def run(self, what: str, *arguments: str, feed: bytes = b"") -> bytes:
        """What the command printed. `what` names the repository in messages."""
        process = await self.start(*arguments)
        try:
            async with asyncio.timeout(self._timeout_s):
                out, err = await process.communicate(feed)
        except TimeoutError as exc:
            raise FetchTimeout(f"{what}: git took longer than {self._timeout_s:g} s") from exc
        finally:
            await end(process)
        if process.returncode:
            raise failure(what, err)
        return out

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        settings = [part for setting in self._settings for part in ("-c", setting)]
        try:
            return await asyncio.create_subprocess_exec(
                self._program,
                *settings,
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                # It starts helpers of its own, which have to end with it; and it finds no terminal to ask at.
                start_new_session=True,
            )
        except FileNotFoundError as exc:
            raise ConfigError(
                f"program `{self._program}`: not installed, and this kind of source needs it",
                hint="install git, or use the kind `github` for a repository at GitHub",
            ) from exc


async def end(process: asyncio.subprocess.Process) -> None:
    """Kill the process and its helpers, if they have not ended, and wait for the end."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    # Also closes the pipes, so that nothing is left for the garbage collector to complain about.
    await asyncio.shield(process.communicate())


def failure(what: str, stderr: bytes) -> RowenError:
    """The error for what git printed; unknown text counts as an outage, which deletes nothing."""
    said = _CREDENTIALS.sub("", stderr.decode("utf-8", "replace")).strip()
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    cause = next(
        (line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else ""
    )
    cause = "".join(c for c in cause.removeprefix("fatal: ") if c.isprintable())[:300] or "git failed"
    words = said.lower()
    kind = next((kind for pattern, kind in _CAUSES if re.search(pattern, words)), ConnectionFailed)
    hint = next((hint for word, hint in _HINTS.items() if word in words), None)
    return kind(f"{what}: {cause}", hint=hint)

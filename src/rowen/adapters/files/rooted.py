"""Folders for sources that may read below a few roots only. Links are followed before they are checked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

from rowen.errors import AddressRefused
from rowen.ports.folders import Folders, Scan, ScanOptions, Touched

ALLOWED = "the operator allows folders with `service.allowed_roots`"


class RootedFolders:
    def __init__(self, folders: Folders, roots: Sequence[str]) -> None:
        self._folders = folders
        self._roots = tuple(roots)

    def within(self, roots: Sequence[str]) -> Folders:
        return RootedFolders(self, roots)

    def locate(self, location: str) -> str | None:
        # The same answer for what is missing and what is not allowed: it gives nothing of the disk away.
        path = self._folders.locate(location)
        return path if path is not None and lies_below(path, self._roots) else None

    @property
    def absence(self) -> tuple[str, str | None]:
        return (
            "not there, or not below a folder that sources added by API may read",
            f"{ALLOWED}; `rowen add` on the command line takes any folder",
        )

    def uri(self, root: str, path: str) -> str:
        return self._folders.uri(root, path)

    async def watch(self, root: str) -> AsyncGenerator[Sequence[Touched]]:
        await self._check(root)
        async with aclosing(self._folders.watch(root)) as batches:
            async for batch in batches:
                yield batch

    async def scan(self, root: str, options: ScanOptions) -> Scan:
        await self._check(root)
        return await self._folders.scan(root, options)

    async def read(self, root: str, path: str, *, max_bytes: int) -> bytes:
        await self._check(root)
        return await self._folders.read(root, path, max_bytes=max_bytes)

    async def _check(self, root: str) -> None:
        # Each time: a link may have been turned elsewhere since the folder was added.
        if not await asyncio.to_thread(lies_below, root, self._roots):
            raise AddressRefused(
                f"folder `{root}`: not below a folder that sources added by API may read",
                hint=ALLOWED,
                path=root,
            )


def lies_below(path: str, roots: Sequence[str]) -> bool:
    """Is this one of the roots or below one, once all links are followed?"""
    try:
        real = Path(path).resolve(strict=True)
    except FileNotFoundError:
        # That it went is told by whoever reads it.
        real = Path(path).resolve()
    except (OSError, RuntimeError):
        # Links that lead in a circle lead nowhere; which of the two says so depends on the version of Python.
        return False
    try:
        return any(real.is_relative_to(Path(root).expanduser().resolve()) for root in roots)
    except (OSError, RuntimeError):
        return False

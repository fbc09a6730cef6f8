"""A real repository for tests, made by the `git` command in a folder of the test."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class WorkingCopy:
    def __init__(self, folder: Path, *, filters: bool = True) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        # What servers of today can do; without it a clone gets every file.
        self.git("config", "uploadpack.allowFilter", str(filters).lower())
        self.git("config", "uploadpack.allowAnySHA1InWant", "true")

    @property
    def address(self) -> str:
        return f"git+file://{self.folder}"

    def git(self, *arguments: str) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_NAME": "Somebody" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "somebody@example.org" for who in ("AUTHOR", "COMMITTER")},
        }
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, capture_output=True, check=True, text=True
        )
        return done.stdout.strip()

    def write(self, path: str, content: str | bytes) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: dict[str, str | bytes] | None = None, *, remove: tuple[str, ...] = ()) -> str:
        for path, content in (files or {}).items():
            self.write(path, content)
        for path in remove:
            (self.folder / path).unlink()
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=change")
        return self.git("rev-parse", "HEAD")

"""The child process that cuts texts into sections: `python -m rowen.adapters.split.worker`."""

from __future__ import annotations

from rowen.adapters.children.child import serve, take_pipes
from rowen.adapters.split import frames

TIMEOUT_S = 60.0
"""A batch takes a fraction of a second; a machine that is suspended or starved is another matter."""


def main() -> None:
    incoming, outgoing = take_pipes()
    serve(incoming, outgoing, frames.read_request, frames.answer, timeout_s=2 * TIMEOUT_S)


if __name__ == "__main__":
    main()

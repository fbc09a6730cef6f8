"""Regular expressions of a module, compiled when the first of their methods is asked for.

`re.compile` takes up to five milliseconds for a class of thousands of characters. A command imports some
ninety patterns and uses few of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    def pattern(text: str, flags: int = 0) -> re.Pattern[str]: ...

else:

    class pattern:  # noqa: N801  (for callers it is a function)
        def __init__(self, text: str, flags: int = 0) -> None:
            self._text = text
            self._flags = flags
            self._compiled: re.Pattern[str] | None = None

        def __getattr__(self, name: str) -> Any:
            if self._compiled is None:
                self._compiled = re.compile(self._text, self._flags)
            # The method is kept: a pattern that is in use costs what a compiled one costs.
            method = getattr(self._compiled, name)
            setattr(self, name, method)
            return method
